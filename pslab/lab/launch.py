"""Opening the course in JupyterLab."""

from __future__ import annotations

import filecmp
import importlib.util
import os
import shutil
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

import pslab
from pslab.errors import NotFoundError, UsageError

STOP_S = 10
"""Seconds that JupyterLab has to end its kernels."""


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


def open_course(notebook: str = "00-quickstart", *, browser: bool = True, directory: Path | None = None, port: int | None = None) -> int:
    """Copy the course to a directory of the user's, and run JupyterLab there until it ends; returns its exit status.

    Ctrl-C ends JupyterLab and returns 130; a second one ends it at once. To be called from the main thread, whose signals it takes meanwhile.

    Args:
        notebook: which notebook to open.
        browser: whether to open a browser.
        directory: where the copy goes; ``pslab-notebooks`` here by default.
        port: where it listens; by default the first that is free, from 8888 on.

    Raises:
        NotFoundError: JupyterLab is not installed.
        UsageError: there is no such notebook, the directory cannot be written to, or the port is in use.
    """
    names = [p.stem for p in sorted(course_directory().glob("*.ipynb"))]
    if notebook not in names:
        raise UsageError(f"there is no notebook {notebook!r}", f"one of: {', '.join(names)}")
    if importlib.util.find_spec("jupyterlab") is None:
        raise NotFoundError("JupyterLab is not installed", "pip install jupyterlab")
    if port is not None:
        _check_port(port)
    target = (directory or Path("pslab-notebooks")).expanduser().resolve()
    try:
        changed = copy_course(target)
    except OSError as error:
        raise UsageError(f"cannot write to {target}: {error.strerror}", "give another --directory") from None
    for path in changed:
        print(f"{path} is yours, and stays as it is")
    command = [sys.executable, "-m", "jupyterlab", f"--notebook-dir={target}", f"--LabApp.default_url=/lab/tree/{notebook}.ipynb"]
    if port is not None:
        command += [f"--port={port}", "--ServerApp.port_retries=0"]
    if not browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")  # a container's only user is root, and JupyterLab would refuse
    return _run(command)


def _check_port(port: int) -> None:
    """Raise `UsageError` if nobody can listen on it: JupyterLab would say so at the end of a long log."""
    if not 1 <= port <= 65535:
        raise UsageError(f"a port is a number from 1 to 65535, found {port}")
    try:
        socket.create_server(("127.0.0.1", port)).close()
    except OSError as error:
        raise UsageError(f"cannot listen on port {port}: {error.strerror}", "give another --port, or none") from None


def _run(command: list[str]) -> int:
    """Run a program until it ends, or until we are asked to end."""
    before = signal.signal(signal.SIGTERM, _end_by_signal)
    process = subprocess.Popen(command)
    try:
        return process.wait()
    except KeyboardInterrupt:
        return 130
    finally:
        _end(process)
        signal.signal(signal.SIGTERM, before)


def _end_by_signal(number: int, frame: object) -> NoReturn:
    raise SystemExit(128 + number)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End it if it runs. After a Ctrl-C it has had the interrupt too, and would ask whether it is meant."""
    if process.poll() is not None:
        return
    process.terminate()
    try:
        process.wait(STOP_S)
    except (KeyboardInterrupt, subprocess.TimeoutExpired):
        process.kill()
        process.wait()
