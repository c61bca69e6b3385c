"""Replay in a lab: a race of real processes, once more in one."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest
from IPython.core.interactiveshell import InteractiveShell

from pslab.lab.lab import Lab
from pslab.train.apply_log import ApplyLog


def test_a_race_of_processes_is_replayed_bit_for_bit_and_the_training_is_left_alone() -> None:
    lab = Lab()
    lab.cluster.start(ps=2, workers=2, processes=True)
    try:
        lab.model("mlp", hidden=(16,), optimizer="momentum", learning_rate=0.05)
        lab.train(60, wait=True)
        found = lab.replay()
        for name, value in lab._training().parameters().items():
            np.testing.assert_array_equal(found[name], value, err_msg=name)
        assert lab.status().global_step == 60
    finally:
        lab.cluster.stop()


@pytest.fixture(scope="module")
def shell():
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "pslab")
    yield shell
    shell.user_ns["lab"].cluster.stop()


@pytest.fixture
def say(shell, capsys):
    """Run a line; what it answers, or the text that was shown of its error."""

    def run(line: str) -> str:
        capsys.readouterr()
        result = shell.run_cell(line)
        shown = capsys.readouterr()
        said = repr(result.result) if result.success and result.result is not None else shown.out + shown.err
        return re.sub(r"\x1b\[\d*[mK]|.*\r", "", said)  # without colours, and lines of progress that were written over

    return run


def test_the_verbs_of_the_log(say, shell, tmp_path) -> None:
    kept = tmp_path / "race.log"
    assert say("%pslab log").splitlines()[0] == "FailedPreconditionError: there is no cluster"
    say("%pslab cluster start --ps 2 --workers 2 --threads")
    assert say("%pslab log").splitlines() == [
        "FailedPreconditionError: nothing was trained yet",
        "  hint: lab.train(steps=500), or %pslab train --steps 500",
    ]
    say("%pslab model mlp --hidden 8")
    say("%pslab train --steps 40 --wait")
    say("%pslab mode --update sync")
    say("%pslab train --steps 10 --wait")
    told = say(f"%pslab log {kept}").splitlines()
    assert told[0] == "apply log: global steps 0 to 50, 2 ps, 2 workers, feeding"
    assert re.fullmatch(r"  between-graph async  0 – 40   worker:0 \d+, worker:1 \d+  bit for bit", told[2])
    assert re.fullmatch(r"  between-graph sync   40 – 50  all the same +bit for bit", told[3])
    assert told[4] == f"written to {kept}"

    assert say("%pslab replay -").splitlines()[0] == "replayed to step 50: the same parameters, bit for bit"
    say("%pslab train --steps 10 --wait")  # what the lab does meanwhile is not what the log is of
    assert say(f"%pslab replay {kept}").splitlines()[0] == "replayed to step 50: the same parameters, bit for bit"
    first, second = (say(f"%pslab replay {kept} --until 30") for _ in range(2))
    assert first == second
    assert first.splitlines()[0] == "replayed to step 30"
    assert first.splitlines()[2].split()[0] == "hidden_0/weights"

    shell.user_ns["other"] = replace(ApplyLog.load(kept), outcome={**ApplyLog.load(kept).outcome, "logits/biases": "0" * 16})
    shell.user_ns["other"].save(tmp_path / "other.log")
    told = say(f"%pslab replay {tmp_path / 'other.log'}").splitlines()
    assert told[0] == "replayed to step 50: 1 of 4 parameters differ"
    assert [line.split()[-1] for line in told[2:6]] == ["same", "same", "same", "differs"]


def test_what_cannot_be_replayed_is_two_lines(say, tmp_path) -> None:
    """In the lab of the test before."""
    kept = tmp_path / "race.log"
    say(f"%pslab log {kept}")
    assert say(f"%pslab replay {kept} --until 99").splitlines()[0] == "UsageError: the log is of global steps 0 to 60, found until=99"
    assert say(f"%pslab replay {tmp_path / 'none'}").splitlines()[0].startswith("NotFoundError: ")
    say("%pslab model mlp --hidden 9")
    refused = say(f"%pslab replay {kept}").splitlines()
    assert refused == [
        "UsageError: the log is of another model: variable hidden_0/weights: (64, 8) float32 in the log, (64, 9) float32 here",
        "  hint: replay it with the model that was trained",
    ]
    say("%pslab mode --update async --no-lock")
    say("%pslab train --steps 20 --wait")
    assert "cannot be replayed: updates and reads run into each other" in say("%pslab log")
    assert say("%pslab replay -").splitlines() == [
        "UnimplementedError: async, no lock cannot be replayed: updates and reads run into each other, element by element",
        "  hint: an epoch in which that is not so can be: choose another mode, and train",
    ]
