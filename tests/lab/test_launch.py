"""Opening the course: a copy of the user's own, and a JupyterLab that starts and ends with it."""

from __future__ import annotations

import importlib.util
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from pslab.errors import NotFoundError, UsageError
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


def test_a_directory_that_cannot_be_written_to_is_told(tmp_path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot write to"):
        open_course(directory=tmp_path / "file")


def test_a_port_in_use_is_told_before_anything_is_copied(tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"cannot listen on port {port}: Address already in use"):
            open_course(directory=tmp_path / "course", port=port)
    assert not (tmp_path / "course").exists()


@pytest.mark.parametrize("port", [0, -1, 65536])
def test_a_port_that_cannot_be_is_told(tmp_path, port) -> None:
    with pytest.raises(UsageError, match=f"a port is a number from 1 to 65535, found {port}"):
        open_course(directory=tmp_path, port=port)


def test_without_jupyterlab_it_says_how_to_get_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(NotFoundError, match="JupyterLab is not installed"):
        open_course(directory=tmp_path)


@pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
@pytest.mark.timeout(90)
def test_it_serves_until_it_is_asked_to_end(tmp_path, number, status) -> None:
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
        family = psutil.Process(process.pid).children(recursive=True)
        assert family
        process.send_signal(number)
        assert process.wait(30) == status
        assert not psutil.wait_procs(family, timeout=20)[1]
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        process.stdout.close()
