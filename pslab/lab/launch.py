"""Opening the course in JupyterLab."""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pslab
from pslab.errors import NotFoundError, UsageError


def course_directory() -> Path:
    """Where the course's notebooks are: within the installed package, or beside it in a working copy.

    Raises:
        NotFoundError: they are nowhere.
    """
    package = Path(pslab.__file__).parent
    for place in (package / "notebooks", package.parent / "notebooks"):
        if place.is_dir():
            return place
    raise NotFoundError(f"the course's notebooks are not in {package}", "install pslab again")


def copy_course(directory: Path) -> list[Path]:
    """Copy the notebooks that are not there yet; returns those that are there and differ, which stay as they are."""
    directory.mkdir(parents=True, exist_ok=True)
    changed = []
    for notebook in sorted(course_directory().glob("*.ipynb")):
        mine = directory / notebook.name
        if not mine.exists():
            shutil.copyfile(notebook, mine)
        elif not filecmp.cmp(notebook, mine, shallow=False):
            changed.append(mine)
    return changed


def open_course(notebook: str = "00-quickstart", *, browser: bool = True, directory: Path | None = None) -> int:
    """Copy the course to a directory of the user's, and run JupyterLab there until it ends; returns its exit status.

    Args:
        notebook: which notebook to open.
        browser: whether to open a browser.
        directory: where the copy goes; ``pslab-notebooks`` here by default.

    Raises:
        UsageError: there is no such notebook, or the directory cannot be written to.
    """
    names = [p.stem for p in sorted(course_directory().glob("*.ipynb"))]
    if notebook not in names:
        raise UsageError(f"there is no notebook {notebook!r}", f"one of: {', '.join(names)}")
    target = (directory or Path("pslab-notebooks")).expanduser().resolve()
    try:
        changed = copy_course(target)
    except OSError as error:
        raise UsageError(f"cannot write to {target}: {error.strerror}", "give another --directory") from None
    for path in changed:
        print(f"{path} is yours, and stays as it is")
    command = [sys.executable, "-m", "jupyterlab", f"--notebook-dir={target}", f"--LabApp.default_url=/lab/tree/{notebook}.ipynb"]
    if not browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # a container's only user is root, and JupyterLab would refuse
    process = subprocess.Popen(command)
    try:
        return process.wait()
    except KeyboardInterrupt:
        process.terminate()  # it has had the interrupt too, and would ask whether it is meant
        process.wait()
        return 130
