"""Opening the course: a copy of the user's own, and a JupyterLab that starts and ends with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from pslab.errors import UsageError
from pslab.lab.launch import copy_course, open_course

ROOT = Path(__file__).parents[2]


def test_a_copy_that_was_changed_is_never_overwritten(tmp_path) -> None:
    assert copy_course(tmp_path) == []
    mine = tmp_path / "00-quickstart.ipynb"
    mine.write_text("my own notes")
    assert copy_course(tmp_path) == [mine]
    assert mine.read_text() == "my own notes"


def test_a_notebook_that_is_not_there_is_told(tmp_path) -> None:
    with pytest.raises(UsageError, match="no notebook '99-nothing'") as caught:
        open_course("99-nothing", browser=False, directory=tmp_path)
    assert "00-quickstart" in caught.value.hint


@pytest.mark.timeout(90)
def test_it_serves_until_it_is_interrupted(tmp_path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pslab.cli", "lab", "--no-browser", "--directory", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    try:
        said = []
        for line in process.stdout:
            said.append(line)
            if "/lab/tree/00-quickstart.ipynb?token=" in line:
                break
        assert "/lab/tree/00-quickstart.ipynb?token=" in said[-1], "".join(said)
        os.killpg(process.pid, signal.SIGINT)
        assert process.wait(30) == 130
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
