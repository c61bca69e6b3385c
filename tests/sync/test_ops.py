"""The ops of synchronous training, on a task, through compiled programs."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pslab.errors import CancelledError, ShapeError
from pslab.graph.graph import Graph
from pslab.graph.ops.sources import constant, placeholder
from pslab.graph.registry import op_def
from pslab.graph.variables import Variable
from pslab.runtime.task import Task
from pslab.sync.accumulator import Accumulator
from pslab.sync.claim_ops import claims_of
from pslab.sync.ops import (
    ACCUMULATORS,
    accumulator_apply_gradient,
    accumulator_set_global_step,
    accumulator_stats,
    accumulator_take_gradient,
)
from pslab.sync.pacing_ops import step_after
from pslab.testing.one_task import run


@pytest.fixture
def graph():
    with Graph().as_default() as graph:
        yield graph


@pytest.fixture
def task():
    return Task("localhost:0")


@pytest.fixture
def pool():
    with ThreadPoolExecutor() as pool:
        yield pool


@pytest.mark.parametrize(
    ("type", "signals", "blocking"),
    [
        ("AccumulatorApplyGradient", True, False),
        ("AccumulatorTakeGradient", False, True),
        ("AccumulatorSetGlobalStep", True, False),
        ("AccumulatorStats", False, False),
        ("StepAfter", False, True),
        ("ClockTick", True, False),
        ("ClockRead", False, True),
        ("LedgerApply", False, False),
        ("LedgerRead", False, False),
    ],
)
def test_who_waits_and_who_wakes(type, signals, blocking):
    definition = op_def(type)
    assert definition.stateful
    assert (definition.signals, definition.blocking) == (signals, blocking)


def test_apply_take_and_stats(graph, task):
    gradient, step = placeholder("float32", [2]), placeholder("int64", [])
    handed_in = [accumulator_apply_gradient("w", gradient, step, worker) for worker in range(2)]
    take = accumulator_take_gradient("w", 2, "float32", [2])
    stats = accumulator_stats("w")
    assert (take.dtype.name, take.shape.as_list(), stats.shape.as_list()) == ("float32", [2], [3])
    run(task, handed_in[1], feeds={gradient: [3, 5], step: 0})
    run(task, handed_in[0], feeds={gradient: [1, 1], step: 0})
    assert run(task, stats).tolist() == [2, 0, 2]
    mean = run(task, take)
    assert (mean.dtype, mean.tolist()) == (np.float32, [2, 3])
    run(task, handed_in[0], feeds={gradient: [9, 9], step: 0})
    found = run(task, stats)
    assert (found.dtype, found.tolist()) == (np.int64, [2, 1, 0])


def test_set_global_step_makes_gradients_stale(graph, task):
    run(task, accumulator_set_global_step("w", 5))
    for step in (4, 5):
        run(task, accumulator_apply_gradient("w", constant([1.0]), step, 0))
    assert run(task, accumulator_stats("w")).tolist() == [1, 1, 1]
    assert run(task, accumulator_stats("another")).tolist() == [0, 0, 0]


def test_take_waits_for_the_last_gradient(graph, task, pool):
    take = accumulator_take_gradient("w", 3, "float32", [1])
    mean = pool.submit(run, task, take)
    for worker in range(3):
        assert not mean.done()
        run(task, accumulator_apply_gradient("w", constant([float(worker)]), 0, worker))
    assert mean.result(timeout=30).tolist() == [1.0]


def test_dropped_resources_tell_what_was_in_flight(graph, task, pool):
    run(task, accumulator_apply_gradient("run1/w", constant([1.0]), 0, 0))
    run(task, accumulator_apply_gradient("run2/w", constant([1.0]), 0, 0))
    waiting = pool.submit(run, task, accumulator_take_gradient("run1/w", 2, "float32", [1]))
    (accumulator,) = task.drop_resources(f"{ACCUMULATORS}run1/")
    assert isinstance(accumulator, Accumulator)
    assert accumulator.pending() == 1
    for worker in range(2):  # who waits, waits for the accumulator that is made anew
        run(task, accumulator_apply_gradient("run1/w", constant([5.0]), 0, worker))
    assert waiting.result(timeout=30).tolist() == [5.0]


def test_a_synchronous_round_of_threads(graph, task):
    """Three workers and a chief: every worker computes each step once, goes on after its update, and the mean has one gradient of each."""
    workers, steps = 3, 20
    global_step = Variable(constant(0, "int64"), name="global_step")
    gradient, step = placeholder("float64", []), placeholder("int64", [])
    hand_in = [accumulator_apply_gradient("w", gradient, step, k) for k in range(workers)]
    wait = step_after(global_step, step, "0")
    take = accumulator_take_gradient("w", workers, "float64", [])
    with graph.control_dependencies([take]):
        count = global_step.assign_add(1)
    run(task, global_step.initializer)
    with task.monitor:
        claims_of(task).begin("0", 0)
    seen = [[] for _ in range(workers)]

    def work(k):
        now = 0
        for _ in range(steps):
            seen[k].append(now)
            run(task, hand_in[k], feeds={gradient: 10.0 * now + k, step: now})
            now = int(run(task, wait, feeds={step: now}))

    threads = [threading.Thread(target=work, args=[k], daemon=True) for k in range(workers)]
    for thread in threads:
        thread.start()
    means = [float(run(task, take, count)[0]) for _ in range(steps)]
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert seen == [list(range(steps))] * workers
    assert means == [10.0 * t + 1 for t in range(steps)]
    assert run(task, accumulator_stats("w")).tolist() == [workers * steps, 0, 0]


def test_who_waits_for_an_update_of_an_epoch_that_is_over_is_told_so_unless_it_was_made(graph, task):
    global_step = Variable(constant(1, "int64"), name="global_step")
    made, never = (step_after(global_step, constant(step, "int64"), "0") for step in (0, 1))
    run(task, global_step.initializer)
    with task.monitor:
        claims_of(task).begin("0", 1)
        claims_of(task).end()
    assert run(task, made) == 1
    with pytest.raises(CancelledError):
        run(task, never)


def test_bad_steps_and_gradients_are_refused_when_built(graph):
    gradient = constant([1.0])
    for step in (constant(1), constant([1], "int64"), constant(1.0)):
        with pytest.raises(ShapeError, match="a step must be an int64 scalar, but Const"):
            accumulator_apply_gradient("w", gradient, step, 0)
    with pytest.raises(ShapeError, match="floating, not int32"):
        accumulator_apply_gradient("w", constant([1]), 0, 0)
    with pytest.raises(ShapeError, match="at least 1 gradient, not 0"):
        accumulator_take_gradient("w", 0, "float32", [1])
