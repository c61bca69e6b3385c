"""The command line, in processes of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

ROOT = Path(__file__).parents[1]
ENVIRONMENT = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}


def pslab(*arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "pslab.cli", *arguments], cwd=cwd, env=ENVIRONMENT, capture_output=True, text=True, timeout=120, check=False
    )


def test_the_demonstration(tmp_path) -> None:
    done = pslab("demo", "--steps", "1000", "--json", "facts.json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = json.loads((tmp_path / "facts.json").read_text())
    assert [(m["replication"], m["update"]) for m in facts["modes"]] == [
        ("between-graph", "async"),
        ("between-graph", "sync"),
        ("in-graph", "async"),
        ("in-graph", "sync"),
    ]
    for mode in facts["modes"]:
        assert mode["test_accuracy"] >= 0.93
        assert mode["worker_steps_per_s"] > 0
        # the gradients of 64·128 + 128 + 128·10 + 10 parameters, in float32, and little besides
        assert 38_440 <= mode["bytes_pushed_per_step"] <= 39_500
        assert 38_440 <= mode["bytes_pulled_per_step"] <= 39_500
        assert 0 <= mode["wait_share"] <= 1
        if mode["update"] == "sync":
            assert mode["staleness_max"] == 0
    assert facts["restored_accuracy"] == facts["saved_accuracy"]
    assert Path(facts["picture"]).read_bytes().startswith(b"\x89PNG")
    assert Path(facts["checkpoint"] + ".safetensors").is_file()
    for text in ("between-graph", "in-graph", "test", facts["picture"], "the same"):
        assert text in done.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["demo", "--workers", "0"], "must be a whole number from 1 on, found '0'"),
        (["demo", "--json", "no/such/place.json"], "there is no directory"),
        (["demo", "--out", "/proc/nothing"], "cannot write to /proc/nothing"),
        (["lab", "no-such-notebook"], "there is no notebook 'no-such-notebook'"),
        (["dmeo"], "invalid choice: 'dmeo'"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_line_or_two(tmp_path, arguments, message) -> None:
    done = pslab(*arguments, cwd=tmp_path)
    assert done.returncode in (1, 2)
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_interrupt_ends_it_cleanly(tmp_path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-m", "pslab.cli", "demo", "--steps", "1000000"],
        cwd=tmp_path,
        env=ENVIRONMENT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    family: list[psutil.Process] = []
    for _ in range(600):
        family = psutil.Process(process.pid).children(recursive=True)
        if len(family) >= 4:
            break
        signal.sigtimedwait([], 0.05)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted" in errors
    assert "Traceback" not in errors
    _, alive = psutil.wait_procs(family, timeout=20)
    assert not alive


def test_run_without_a_program_asks_for_one_and_for_nothing_else(tmp_path) -> None:
    done = pslab("run", cwd=tmp_path)
    assert (done.returncode, done.stderr.splitlines()[-1]) == (2, "pslab run: error: the following arguments are required: SCRIPT")
