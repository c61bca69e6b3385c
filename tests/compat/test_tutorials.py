"""Programs in the manner of tutorials of 2016 to 2018, in one process, with what TensorFlow itself printed for them on the same data."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

TUTORIALS = Path(__file__).parent / "tutorials"
ALIASED = (
    "import runpy, sys; from pslab.compat import alias; alias.install(); sys.argv = sys.argv[1:]; runpy.run_path(sys.argv[0], run_name='__main__')"
)


def run(program: str, where: Path) -> list[str]:
    """The lines that a program prints in an empty folder."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)}
    command = [sys.executable, "-c", ALIASED, str(TUTORIALS / program)]
    done = subprocess.run(command, cwd=where, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_softmax_regression_with_summaries(tmp_path: Path) -> None:
    """It draws no random numbers, so all digits are TensorFlow's."""
    (line,) = run("softmax.py", tmp_path)
    accuracy, loss = (float(number) for number in re.findall(r"\d\.\d+", line))
    assert abs(accuracy - 0.9582) < 0.003
    assert abs(loss - 0.1371) < 0.0003
    (events,) = (tmp_path / "logs" / "train").iterdir()
    assert "tfevents" in events.name


def test_a_convolutional_network(tmp_path: Path) -> None:
    *variables, rate, probabilities, accuracy = run("convnet.py", tmp_path)
    assert variables == [
        "conv1/kernel:0 [5, 5, 1, 8]",
        "conv1/bias:0 [8]",
        "conv2d/kernel:0 [5, 5, 8, 16]",
        "conv2d/bias:0 [16]",
        "dense/kernel:0 [784, 64]",
        "dense/bias:0 [64]",
        "dense_1/kernel:0 [64, 10]",
        "dense_1/bias:0 [10]",
    ]
    assert (rate, probabilities) == ("rate 0.00162 after 120", "probabilities (2, 10)")
    assert float(accuracy.removeprefix("accuracy ")) > 0.92  # TensorFlow: 0.9638


def test_averages_checkpoints_and_what_is_restored(tmp_path: Path) -> None:
    assert run("saver.py", tmp_path) == [
        "model.ckpt-5 w 6.5 average 2.814410 5",
        "['model.ckpt-4', 'model.ckpt-5']",
        "restored 2.814410",
        "['global_step', 'layer1/b', 'layer1/w', 'layer1/w/ExponentialMovingAverage']",
        "no other",
    ]
