"""Complete programs in TensorFlow 1's own words, run as they stand."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
LIMIT_S = 120
"""Seconds that a program may take on a slow machine."""


def run(program: str, *arguments: str, ps: int = 1, workers: int = 2, where: Path) -> str:
    """Run a program in an empty folder under ``pslab run --tensorflow``; what all its tasks printed."""
    command = [sys.executable, "-m", "pslab.cli", "run", "--tensorflow", "--ps", str(ps), "--workers", str(workers), str(HERE / program), *arguments]
    done = subprocess.run(command, cwd=where, env={**os.environ, "NO_COLOR": "1"}, capture_output=True, text=True, timeout=LIMIT_S, check=False)
    printed = done.stdout + done.stderr
    assert done.returncode == 0, printed
    return printed


def accuracies(printed: str) -> dict[str, float]:
    """The accuracy that each task printed."""
    return {task: float(value) for task, value in re.findall(r"(worker:\d+)\W.*test accuracy (\d\.\d+)", printed)}


@pytest.mark.parametrize(
    ("program", "workers", "least"),
    [
        ("supervisor.py", 2, 0.88),
        ("sync_backup.py", 3, 0.93),
        ("in_graph.py", 2, 0.85),
        ("cnn.py", 2, 0.75),
        ("lstm.py", 2, 0.75),
        ("downpour.py", 2, 0.97),
    ],
)
def test_reaches_its_accuracy(program: str, workers: int, least: float, tmp_path: Path) -> None:
    """Each threshold is below what TensorFlow itself reached with the program on the same data."""
    assert accuracies(run(program, workers=workers, where=tmp_path))["worker:0"] >= least


def test_hooks_summaries_and_checkpoints_on_two_ps(tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    printed = run("monitored.py", f"--log_dir={logs}", ps=2, where=tmp_path)
    assert accuracies(printed)["worker:0"] >= 0.95
    assert re.search(r"worker:0\W.*checkpoint model.ckpt-\d+", printed)
    assert any("tfevents" in name for name in os.listdir(logs))


def test_each_worker_reads_its_own_files_to_their_end(tmp_path: Path) -> None:
    printed = run("files.py", f"--data_dir={tmp_path}", where=tmp_path)
    assert min(accuracies(printed).values()) >= 0.95
    assert len(re.findall(r"worker:\d\W.*300 steps: the files are read", printed)) == 2
    assert re.search(r"ps:0\W.*ps:0 has heard of all workers", printed)
