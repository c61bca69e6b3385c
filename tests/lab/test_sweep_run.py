"""Experiments on real tasks: what is measured is what a training has recorded; failures, interrupts and what becomes of the lab's own training."""

from __future__ import annotations

import dataclasses
import signal
from time import monotonic

import numpy as np
import pytest

import pslab
from pslab.errors import FailedPreconditionError, UnavailableError, UsageError
from pslab.lab import sweep_run
from pslab.lab.lab import Lab
from pslab.lab.measure import BYTES, measure, training_seconds
from pslab.lab.progress import ProgressLine
from pslab.lab.until import Until
from pslab.trace.records import step_dtype
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Async, Sync
from tests.lab.sweeps import DIGITS
from tests.train.tasks import LocalTasks

DEADLINE_S = 60.0


class LabTasks(LocalTasks):
    """What a `Lab` needs of its cluster beside."""

    room = None

    @property
    def tasks(self) -> list[str]:
        return self._names()


@pytest.fixture
def tasks():
    with LabTasks(ps=1, workers=2) as tasks:
        yield tasks


@pytest.fixture
def lab(tasks):
    lab = Lab()
    lab.cluster._cluster = tasks
    lab.data(batch_size=32)
    lab.model("logistic", learning_rate=0.5)
    yield lab
    lab._leave()


def digits_trainer(tasks, strategy: Strategy, seed: int = 0) -> Trainer:
    return Trainer(tasks, DIGITS, Model(MLP(10, ()), "logistic", "sgd", 0.5, seed), strategy, 32, seed)


def interrupt_when(text: str, monkeypatch) -> None:
    """Have the waiting thread interrupted, once, when its line has this text."""
    shown = ProgressLine.update

    def update(self, line, *bar):
        shown(self, line, *bar)
        if text in line and "stopping" not in line:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(ProgressLine, "update", update)


# One run


def test_pauses_to_measure_change_nothing_and_figures_are_those_of_the_records(tasks) -> None:
    strategy = Strategy(update=Sync())
    trainer = digits_trainer(tasks, strategy)
    found = measure(trainer, Until(steps=60, every=20), [32, 32], trainer.evaluate, lambda *_: None)
    records, tested = trainer.records(), trainer.evaluate()
    trainer.close()
    assert [point["steps"] for point in found.curve] == [0, 20, 40, 60]
    assert found.figures["outcome"] == "done"
    assert found.figures["examples"] == 32 * found.figures["worker_steps"]
    assert found.figures["worker_steps"] in (119, 120)  # the last is recorded when it is answered
    assert found.curve[-1]["bytes"] == sum(int(records[: found.figures["worker_steps"]][name].sum()) for name in BYTES)
    assert found.figures["test_loss"] == tested["loss"]
    assert found.figures["staleness_mean"] == 0
    straight = digits_trainer(tasks, strategy)
    straight.train(60)
    straight.wait(timeout=DEADLINE_S)
    assert straight.evaluate()["loss"] == pytest.approx(tested["loss"], rel=1e-6)
    straight.close()


def test_the_clock_is_the_longest_time_that_a_worker_was_at_its_steps() -> None:
    records = np.zeros(5, step_dtype())
    records["worker"] = [0, 1, 0, 1, 1]
    records["wall"] = [1.0, 0.5, 2.0, 0.5, 0.5]
    records["time"] = [1.0, 0.5, 103.0, 101.0, 101.5]  # a pause of 100 s is in no wall time
    assert training_seconds(records) == 3.0
    assert training_seconds(records[:0]) == 0.0


def test_a_run_ends_where_its_target_is_reached_first(tasks) -> None:
    trainer = digits_trainer(tasks, Strategy())
    found = measure(trainer, Until(accuracy=0.8, every=10), [32, 32], trainer.evaluate, lambda *_: None)
    trainer.close()
    assert found.figures["outcome"] == "reached"
    assert found.curve[-1]["test_accuracy"] >= 0.8 > max(point["test_accuracy"] for point in found.curve[:-1])
    assert found.figures["bytes_to_target"] == found.figures["bytes"] > 0


def test_a_run_ends_when_its_seconds_are_over(tasks) -> None:
    trainer = digits_trainer(tasks, Strategy())
    found = measure(trainer, Until(seconds=0.3, steps=10**6, every=10**6), [32, 32], trainer.evaluate, lambda *_: None)
    trainer.close()
    assert found.figures["outcome"] == "done"
    assert found.figures["seconds"] >= 0.3
    assert 0 < found.figures["steps"] < 10**6


def test_commits_every_few_steps_are_measured_as_often(tasks) -> None:
    trainer = digits_trainer(tasks, Strategy(commit_every=4))
    found = measure(trainer, Until(steps=10, every=20), [32, 32], trainer.evaluate, lambda *_: None)
    trainer.close()
    assert [point["steps"] for point in found.curve] == [0, 5, 10]
    assert found.figures["worker_steps"] >= 40


# All runs


def test_a_grid_is_run_with_every_seed_and_seeds_differ(lab) -> None:
    sweep = lab.sweep({"update": [Sync(), Async()]}, steps=20, seeds=2)
    assert sweep.missing == []
    assert list(zip(sweep.table["update"], sweep.table["seed"], strict=True)) == [("sync", 0), ("async", 0), ("sync", 1), ("async", 1)]
    assert sweep.table["outcome"].tolist() == ["done"] * 4
    begins = sweep.curves[sweep.curves["steps"] == 0].set_index(["update", "seed"])["test_loss"]
    assert begins["sync", 0] == begins["async", 0] != begins["sync", 1]
    assert lab.strategy == Strategy()
    again = lab.sweep({"update": [Sync()]}, steps=20, seeds=2)
    np.testing.assert_allclose(again.table["test_loss"], sweep.table[sweep.table["update"] == "sync"]["test_loss"], rtol=1e-6)


def test_a_run_that_fails_is_recorded_and_the_next_begins(lab, monkeypatch) -> None:
    sweep = lab.sweep({"learning_rate": [1e38, 0.5]}, steps=50, seeds=1)
    assert sweep.table["outcome"].tolist() == ["failed", "done"]
    assert "worker:" in sweep.table["message"][0]
    calls = []

    def lost(*arguments):
        calls.append(arguments)
        if len(calls) == 1:
            raise UnavailableError("ps:0 was lost")
        if len(calls) == 2:
            raise ZeroDivisionError("of a model")
        return measure(*arguments)

    monkeypatch.setattr(sweep_run, "measure", lost)
    sweep = lab.sweep({"learning_rate": [0.1, 0.2, 0.5]}, steps=20, seeds=1)
    assert sweep.table["message"].tolist() == ["ps:0 was lost", "ZeroDivisionError: of a model", ""]
    assert sweep.table["outcome"].tolist() == ["failed", "failed", "done"]


def test_numbers_of_tasks_can_be_swept_and_are_as_before_in_the_end(lab, tasks) -> None:
    sweep = lab.sweep({"workers": [1, 3]}, steps=20, seeds=1)
    assert sweep.table["outcome"].tolist() == ["done", "done"]
    assert (tasks.ps, tasks.workers) == (1, 2)
    assert lab.train(10, wait=True).state == "done"


def test_the_lab_s_own_training_is_as_it_was(lab) -> None:
    lab.mode(update=Sync())
    lab.train(30, wait=True)
    tested, records = lab.evaluate(), lab.metrics()
    lab.sweep({"hidden": [8, 16], "model": ["mlp"], "optimizer": ["adam"]}, steps=20, seeds=1)
    assert lab.evaluate() == tested
    assert lab.status().global_step == 30
    assert (lab.strategy.update, lab.cluster.workers) == (Sync(), 2)
    assert lab.metrics()["loss"].tolist() == records["loss"].tolist()
    lab.train(10, wait=True)
    assert lab.status().global_step == 40
    assert len(lab.metrics()) - len(records) in (19, 20, 21)


def test_a_training_that_ran_goes_on(lab) -> None:
    lab.train(10**6)
    lab.wait(step=20, timeout=DEADLINE_S)
    lab.sweep({"batch_size": [8]}, steps=20, seeds=1)
    now = lab.status()
    assert now.state == "running"
    assert lab.wait(step=now.global_step + 20, timeout=DEADLINE_S).target_step == 10**6


def test_an_interrupt_keeps_what_is_made_and_resuming_makes_the_rest(lab, monkeypatch, capsys) -> None:
    grid, until = {"learning_rate": [0.5, 1e-9]}, Until(accuracy=0.5, steps=60, every=10)
    lab.train(20, wait=True)
    tested = lab.evaluate()
    with monkeypatch.context() as patch:
        interrupt_when("run 2 of 2: learning_rate=1e-09, seed 0 — step", patch)
        begun = monotonic()
        part = lab.sweep(grid, until, seeds=1)
    assert monotonic() - begun < DEADLINE_S
    assert part.table["learning_rate"].tolist() == [0.5]
    assert (
        "interrupted; 1 of 2 runs are there; the same again with resume= and this result (%pslab sweep: --resume) goes on" in capsys.readouterr().out
    )
    assert lab.evaluate() == tested
    whole = lab.sweep(grid, until, seeds=1, resume=part)
    assert whole.table["outcome"].tolist() == ["reached", "not reached"]
    assert whole.table["seconds"][0] == part.table["seconds"][0]


def test_what_is_kept_is_not_run_again_and_other_settings_are_refused(lab, tmp_path, monkeypatch) -> None:
    with monkeypatch.context() as patch:
        interrupt_when("run 2 of", patch)
        lab.sweep({"batch_size": [8, 16]}, steps=20, seeds=2, path=tmp_path / "k")
    kept = pslab.Sweep.load(tmp_path / "k")
    assert 0 < len(kept) < 4
    whole = lab.sweep({"batch_size": [8, 16]}, steps=20, seeds=2, path=tmp_path / "k")
    assert whole.missing == []
    pslab_loaded = pslab.Sweep.load(tmp_path / "k")
    assert pslab_loaded.table["seconds"].tolist() == whole.table["seconds"].tolist()
    assert whole.table["seconds"][: len(kept)].tolist() == kept.table["seconds"].tolist()
    monkeypatch.setattr(sweep_run, "measure", None)  # nothing is to run
    assert len(lab.sweep({"batch_size": [8, 16]}, steps=20, seeds=2, path=tmp_path / "k")) == 4
    with pytest.raises(UsageError, match="was run with until=steps 20, this is until=steps 21"):
        lab.sweep({"batch_size": [8, 16]}, steps=21, seeds=2, path=tmp_path / "k")
    with pytest.raises(UsageError, match="already, and another to go on with"):
        lab.sweep({"batch_size": [8, 16]}, steps=20, seeds=2, path=tmp_path / "k", resume=kept)


def test_what_cannot_be_meant_leaves_the_lab_alone(lab) -> None:
    lab.train(10, wait=True)
    own = lab._trainer
    for wrong in ({"over": {"commit_evry": [1]}, "steps": 5}, {"over": {"batch_size": [8]}}, {"over": {"batch_size": [8]}, "acuracy": 0.5}):
        with pytest.raises(UsageError):
            lab.sweep(**wrong)
    assert lab._trainer is own
    with pytest.raises(FailedPreconditionError, match="there is no cluster"):
        Lab().sweep({"batch_size": [8]}, steps=5)


def test_a_strategy_s_fields_are_settings(lab) -> None:
    """Whatever `Strategy` has is swept by its name."""
    for field in dataclasses.fields(Strategy):
        value = getattr(lab.strategy, field.name)
        assert lab.sweep({field.name: [value]}, steps=1, seeds=1).table["outcome"].tolist() == ["done"]
