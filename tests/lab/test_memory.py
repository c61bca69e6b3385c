"""Memory before it hurts: what would not fit is refused, and testing splits by itself."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.cluster.memory import overhead
from pslab.data.datasets import load
from pslab.errors import ResourceExhaustedError, UsageError
from pslab.graph.memory import TaskMemory
from pslab.lab.lab import Lab
from pslab.lab.memory import Room, amount, check_training, chunk_that_fits, estimate
from pslab.train.model import Model
from pslab.train.models import by_name
from pslab.train.plans import evaluation_step, sketch
from pslab.train.strategy import Async, Strategy, Sync

MB = 1_000_000
DIGITS = load("digits")
MODES = [Strategy("between-graph", Async()), Strategy("between-graph", Sync()), Strategy("in-graph", Async()), Strategy("in-graph", Sync())]


def job(strategy: Strategy = MODES[0], workers: int = 2, hidden: tuple[int, ...] = (1000,)):
    return sketch(Model(by_name("mlp", 10, hidden), "mlp"), DIGITS, strategy, 1, workers)


@pytest.mark.parametrize("strategy", MODES, ids=str)
def test_each_task_is_told_in_every_mode(strategy):
    found = estimate(job(strategy), 64, 5 * MB, 700, Room(None, None))
    parameters = 4 * (64 * 1000 + 1000 + 1000 * 10 + 10)
    assert list(found.tasks) == ["ps:0", "worker:0", "worker:1", "client:0"]
    assert parameters <= found.tasks["ps:0"].variables <= parameters + 100
    assert found.tasks["worker:0"] == found.tasks["worker:1"]
    assert found.tasks["worker:0"].total > parameters + 2 * 64 * 1000 * 4
    assert found.total == 5 * MB + sum(t.total for t in found.tasks.values())
    assert f"batch 64: {amount(found.total)} with 5.0 MB of data; limit unknown; the largest batch that fits is 700" in str(found)


def test_a_batch_that_does_not_fit_is_refused_with_the_largest_that_does():
    room = Room(8 * MB, None)
    found = estimate(job(), 600, MB, 700, room)
    assert 0 < found.largest < 600
    with pytest.raises(
        ResourceExhaustedError, match=r"batches of 600 needs about .* MB, of these .* MB on worker:\d, but there are 8\.0 MB"
    ) as caught:
        check_training(found)
    assert f"batches of at most {found.largest}" in caught.value.hint
    check_training(estimate(job(), found.largest, MB, 700, room))
    assert room.holds(estimate(job(), found.largest, 0, 700, room).tasks, MB)
    assert not room.holds(estimate(job(), found.largest + 1, 0, 700, room).tasks, MB)


def test_a_model_that_does_not_fit_at_all():
    found = estimate(job(hidden=(2000, 2000)), 1, MB, 700, Room(8 * MB, None))
    with pytest.raises(ResourceExhaustedError, match="fewer workers, or a smaller model"):
        check_training(found)
    with pytest.raises(UsageError, match="at least 1"):
        estimate(job(), 0, 0, 700, Room(None, None))


def test_on_a_gpu_the_step_must_fit_there_and_the_data_on_the_host():
    step = {"worker:0": TaskMemory(0, 0, 0, 100)}
    assert Room(10, 100).holds(step, 10)
    assert not Room(10, 99).holds(step, 10)
    assert not Room(9, 100).holds(step, 10)
    assert Room(None, None).holds(step, 10**12)


def test_testing_takes_as_many_at_a_time_as_fit():
    step = evaluation_step(job())
    sizes = [chunk_that_fits(step, 0, 1024, Room(limit, None), "testing") for limit in (20 * MB, 4 * MB, 2 * MB)]
    assert sizes[0] == 1024 > sizes[1] > sizes[2] >= 1
    with pytest.raises(ResourceExhaustedError, match=r"testing needs about 6\d\d\.\d kB even for one example at a time, but there are 100\.0 kB"):
        chunk_that_fits(step, 0, 1024, Room(MB // 10, None), "testing")


def test_a_lab_refuses_what_does_not_fit_and_goes_on():
    lab = Lab()
    limit = overhead(3, False) + 12 * MB
    lab.cluster.start(ps=1, workers=2, processes=False, memory_limit=limit)
    try:
        lab.data(batch_size=32)
        lab.model(hidden=(16,))
        assert lab.cluster.room == Room(12 * MB, None)
        assert lab.train(4, wait=True).global_step == 4
        assert set(lab.evaluate()) == {"loss", "accuracy"}
        assert len(lab.predict(n=3)["prediction"]) == 3
        lab.data(batch_size=700)
        lab.model(hidden=(600, 200))
        assert 0 < lab.memory().largest < 700
        with pytest.raises(ResourceExhaustedError, match=r"batches of 700 needs about .* but there are 12\.0 MB"):
            lab.train(4)
        lab.data(batch_size=lab.memory().largest)
        assert lab.train(1, wait=True).global_step == 1
        with pytest.raises(ResourceExhaustedError, match="predicting needs about"):
            lab.predict(np.zeros((50_000, 64), np.float32))
    finally:
        lab.cluster.stop()
