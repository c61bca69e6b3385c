"""Memory before it hurts: what would not fit is refused, and testing splits by itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pslab.cluster.memory import overhead
from pslab.data.datasets import load
from pslab.errors import ResourceExhaustedError, UsageError
from pslab.graph.memory import TaskMemory
from pslab.lab.lab import Lab
from pslab.lab.memory import Room, Shortage, amount, check_training, chunk_that_fits, estimate
from pslab.train.compression import TopK
from pslab.train.model import Model
from pslab.train.models import by_name
from pslab.train.plans import evaluation_step, sketch
from pslab.train.strategy import Strategy
from pslab.train.updates import Async, Sync

MB = 1_000_000
DIGITS = load("digits")
MODES = [Strategy("between-graph", Async()), Strategy("between-graph", Sync()), Strategy("in-graph", Async()), Strategy("in-graph", Sync())]


def job(strategy: Strategy = MODES[0], workers: int = 2, hidden: tuple[int, ...] = (1000,)):
    return sketch(Model(by_name("mlp", 10, hidden), "mlp"), DIGITS, strategy, 1, workers)


def held(size: int, workers: int = 2) -> dict[str, int]:
    return dict.fromkeys([*(f"worker:{i}" for i in range(workers)), "client:0"], size)


@pytest.mark.parametrize("strategy", MODES, ids=str)
def test_each_task_is_told_in_every_mode(strategy):
    found = estimate(job(strategy), 64, held(5 * MB), 700, Room(None, None))
    parameters = 4 * (64 * 1000 + 1000 + 1000 * 10 + 10)
    assert list(found.tasks) == ["ps:0", "worker:0", "worker:1", "client:0"]
    assert parameters <= found.tasks["ps:0"].variables <= parameters + 100
    assert found.tasks["worker:0"] == found.tasks["worker:1"]
    assert found.tasks["worker:0"].total > parameters + 2 * 64 * 1000 * 4
    assert found.total("worker:0") == 5 * MB + found.tasks["worker:0"].total
    assert found.total("ps:0") == found.tasks["ps:0"].total
    *rows, end = str(found).splitlines()
    assert rows[2].split("  ")[-1].strip() == amount(found.total("worker:0"))
    assert end == "batch 64; limit of a task unknown; the largest batch that fits is 700"


@pytest.mark.parametrize("strategy", MODES, ids=str)
def test_what_error_feedback_keeps_is_counted_on_each_worker(strategy):
    parameters = 4 * (64 * 1000 + 1000 + 1000 * 10 + 10)
    plain, kept, lossy = (
        estimate(job(replace(strategy, compression=compression)), 64, held(0), 700, Room(None, None)).tasks
        for compression in (None, TopK(), TopK(error_feedback=False))
    )
    for worker in ("worker:0", "worker:1"):
        assert (plain[worker].variables, kept[worker].variables, lossy[worker].variables) == (0, parameters, 0)
        assert kept[worker].total > lossy[worker].total
    assert kept["ps:0"].variables == plain["ps:0"].variables


def test_a_batch_that_does_not_fit_is_refused_with_the_largest_that_does():
    room = Room(4 * MB, None)
    found = estimate(job(), 600, held(MB), 700, room)
    assert 0 < found.largest < 600
    with pytest.raises(ResourceExhaustedError, match=r"batches of 600 needs about \d+\.\d MB on worker:\d, but a task may take 4\.0 MB") as caught:
        check_training(found)
    assert amount(found.total("worker:0")) in caught.value.message
    assert f"batches of at most {found.largest}" in caught.value.hint
    check_training(estimate(job(), found.largest, held(MB), 700, room))
    with pytest.raises(ResourceExhaustedError, match="on worker:"):
        check_training(estimate(job(), found.largest + 1, held(MB), 700, room))


def test_each_task_is_compared_with_its_own_limit():
    """What the others take changes nothing; the one named is the one that is short of most."""
    step = {"ps:0": TaskMemory(90, 0, 0, 0), "worker:0": TaskMemory(0, 0, 0, 60), "worker:1": TaskMemory(0, 0, 0, 60)}
    assert Room(90, None).shortage(step, held(30)) is None
    assert Room(89, None).shortage(step, held(0)) == Shortage("ps:0", 90, 89)
    assert Room(89, None).shortage(step, {"worker:1": 40}) == Shortage("worker:1", 100, 89)
    many = estimate(job(workers=8), 64, held(MB, 8), 100, Room(6 * MB, None))
    assert many.shortage is None
    assert sum(many.total(task) for task in many.tasks) > 8 * MB


def test_a_ps_that_does_not_hold_the_model_is_named():
    found = estimate(job(MODES[2], hidden=(2000, 2000)), 1, held(MB), 700, Room(20 * MB, None))
    with pytest.raises(ResourceExhaustedError, match=r"needs about .* MB on ps:0, but a task may take 20.0 MB.*\n.*fewer tasks, or a smaller model"):
        check_training(found)
    assert found.largest == 0
    for batch in (0, 2.5, "a"):
        with pytest.raises(UsageError, match=f"at least 1; found {batch!r}"):
            estimate(job(), batch, {}, 700, Room(None, None))


def test_on_a_gpu_the_step_must_fit_there_and_the_data_on_the_host():
    step, data = {"worker:0": TaskMemory(0, 0, 0, 100)}, {"worker:0": 10}
    assert Room(10, 100).shortage(step, data) is None
    assert Room(10, 99).shortage(step, data) == Shortage("worker:0", 100, 99)
    assert Room(9, 100).shortage(step, data) == Shortage("worker:0", 10, 9)
    assert Room(None, None).shortage(step, {"worker:0": 10**12}) is None


def test_testing_takes_as_many_at_a_time_as_fit():
    step = evaluation_step(job())
    sizes = [chunk_that_fits(step, {}, 1024, Room(limit, None), "testing") for limit in (20 * MB, 4 * MB, 2 * MB)]
    assert sizes[0] == 1024 > sizes[1] > sizes[2] >= 1
    with pytest.raises(
        ResourceExhaustedError, match=r"testing needs about 3\d\d\.\d kB on \w+:0, but a task may take 100\.0 kB, even for one example at a time"
    ):
        chunk_that_fits(step, {}, 1024, Room(MB // 10, None), "testing")


def test_a_lab_refuses_what_does_not_fit_and_goes_on():
    lab = Lab()
    limit = overhead(3, False) + 4 * 6 * MB
    lab.cluster.start(ps=1, workers=2, processes=False, memory_limit=limit)
    try:
        lab.data(batch_size=32)
        lab.model(hidden=(16,))
        assert lab.cluster.room == Room(6 * MB, None)
        assert lab.train(4, wait=True).global_step == 4
        assert set(lab.evaluate()) == {"loss", "accuracy"}
        assert len(lab.predict(n=3)["prediction"]) == 3
        lab.data(batch_size=700)
        lab.model(hidden=(600, 200))
        assert 0 < lab.memory().largest < 700
        with pytest.raises(ResourceExhaustedError, match=r"batches of 700 needs about .* on worker:\d, but a task may take 6\.0 MB"):
            lab.train(4)
        lab.data(batch_size=lab.memory().largest)
        assert lab.train(1, wait=True).global_step == 1
        with pytest.raises(ResourceExhaustedError, match=r"predicting needs about .* on worker:0, but a task may take"):
            lab.predict(np.zeros((50_000, 64), np.float32))
    finally:
        lab.cluster.stop()
