"""Data that end, from a notebook: the learner is told who is out of them, and what to do."""

from __future__ import annotations

import pytest
from IPython.core.interactiveshell import InteractiveShell

from pslab.errors import FailedPreconditionError, UsageError
from pslab.lab.display import show_status
from pslab.lab.lab import Lab
from pslab.train.strategy import Replication
from pslab.train.updates import Async, Sync


@pytest.fixture
def lab():
    lab = Lab()
    yield lab
    lab.cluster.stop()


@pytest.fixture
def say(capsys):
    """Run a line of %pslab in a shell; what it shows."""
    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "pslab")

    def run(line: str) -> str:
        capsys.readouterr()
        shell.run_cell(f"%pslab {line}")
        shown = capsys.readouterr()
        return shown.out + shown.err

    yield run
    shell.user_ns["lab"].cluster.stop()


def test_a_cluster_of_processes_trains_until_its_data_end(say) -> None:
    """1438 examples: 0.7 of them are 1007, of which batches of 100 are 11 a pass, or 21 in two; 0.3 are 431, or 9."""
    say("data digits --batch 100 --shares 0.7 0.3 --passes 2")
    say("model --hidden 8")
    say("mode --update sync")
    assert "cluster of 3 tasks" in say("cluster start --ps 1 --workers 2")
    partly = say("train --steps 15 --wait")
    assert "done: mlp on digits" in partly
    assert "out of data: worker:1 after 9 steps (862 examples); worker:0 has batches of 100, 0.7 of the examples" in partly
    said = say("train --steps 100 --wait")
    assert "out of data: mlp on digits, between-graph sync, step 21 of 115" in said
    assert "global step 21; out of data: worker:0 after 21 steps (2014 examples), worker:1 after 9 steps (862 examples)" in said
    for loop in ("worker:0", "worker:1", "chief"):
        assert any(line.split()[:4] == [loop, "out", "of", "data"] for line in said.splitlines())
    refused = say("train --steps 1")
    assert "global step 21; out of data: worker:0" in refused
    assert "lab.data(passes=…) with more passes, or lab.reset(), begins the data anew" in refused
    assert "shares has 2 numbers, but there are 3 workers" in say("cluster scale --workers 3")
    assert "accuracy" in say("evaluate")
    say("data digits --batch 100")
    assert "done: mlp on digits" in say("train --steps 3 --wait")


@pytest.mark.parametrize("replication", list(Replication))
@pytest.mark.parametrize("update", [Sync(), Async()])
def test_status_tells_who_is_out(lab, replication, update) -> None:
    lab.data(batch_size=[100, 300], shares=[0.5, 0.5], passes=1)
    lab.model(hidden=(4,))
    lab.mode(replication=replication, update=update)
    lab.cluster.start(ps=1, workers=2, processes=False)
    status = lab.train(1000, wait=True)
    assert status.state == "out of data"
    assert status.out_of_data == ("worker:0 after 8 steps (719 examples)", "worker:1 after 3 steps (719 examples)")
    assert status.divided == {"worker:0": "batches of 100, 0.5 of the examples", "worker:1": "batches of 300, 0.5 of the examples"}
    shown = repr(show_status(status))
    assert "worker:1 after 3 steps" in shown
    assert "worker:1 has batches of 300" in shown
    assert {loop.state for loop in status.workers} == {"out of data"}
    with pytest.raises(FailedPreconditionError, match="begins the data anew"):
        lab.train(1)
    lab.plot()
    lab.reset()
    assert lab.train(2, wait=True).state == "done"


def test_files_have_no_passes(lab) -> None:
    with pytest.raises(UsageError, match="files are read again and again"):
        lab.data(reading="files", passes=2)


def test_an_experiment_ends_with_its_data(lab) -> None:
    lab.data(batch_size=100, passes=1)
    lab.model(hidden=(4,))
    lab.mode(update=Sync())
    lab.cluster.start(ps=1, workers=2, processes=False)
    sweep = lab.sweep({"passes": [1, 2]}, steps=40, every=5, accuracy=0.999, seeds=1)
    assert list(sweep.table["outcome"]) == ["not reached", "not reached"]
    assert list(sweep.table["steps"]) == [8, 15]
    assert list(sweep.table["examples"]) == [1438, 2876]
    assert all("out of data: worker:0" in message for message in sweep.table["message"])
