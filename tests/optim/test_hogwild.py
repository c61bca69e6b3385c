"""Updates and reads without a lock: the same numbers, written in place, and torn reads seen."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.graph.graph import Graph
from pslab.optim.hogwild import MARKS, hogwild_update, torn_read
from pslab.optim.optimizer import AdamOptimizer, GradientDescentOptimizer, MomentumOptimizer
from pslab.runtime.task import Task
from pslab.testing.one_task import run


@pytest.mark.parametrize("make", [lambda: GradientDescentOptimizer(0.1), lambda: MomentumOptimizer(0.1, 0.9), lambda: AdamOptimizer(0.1)])
def test_one_alone_makes_the_same_updates_as_with_a_lock(make) -> None:
    found = []
    for apply in (None, hogwild_update):
        task = Task("localhost:0")
        with Graph().as_default():
            w = tf.Variable(np.array([1.0, -2.0]), name="w")
            optimizer, gradient = make(), tf.placeholder(tf.float64, [2])
            (update,) = optimizer.update([(gradient, w)], *([apply] if apply else []))
            run(task, w.initializer, *(v.initializer for v in optimizer.variables()))
            for step in range(5):
                run(task, update, feeds={gradient: np.array([step, 1.0])})
            found.append(run(task, w.value()).copy())
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12)


def test_an_update_writes_into_the_array_that_is_there() -> None:
    task = Task("localhost:0")
    with Graph().as_default():
        w = tf.Variable(np.ones(3), name="w")
        (update,) = GradientDescentOptimizer(0.5).update([(tf.constant(np.ones(3)), w)], hogwild_update)
        run(task, w.initializer)
        before = task.variables.read("w")
        run(task, update)
    assert task.variables.read("w") is before
    np.testing.assert_array_equal(before, [0.5] * 3)


def test_a_read_is_torn_if_an_update_is_under_way() -> None:
    task = Task("localhost:0")
    with Graph().as_default() as graph:
        w = tf.Variable(np.ones(3), name="w")
        (update,) = GradientDescentOptimizer(0.5).update([(tf.constant(np.ones(3)), w)], hogwild_update)
        value, torn = torn_read(w, after=graph.create_op("NoOp", (), {}, "before"))
        run(task, w.initializer)
        run(task, update)
        assert run(task, torn) == 0
        task.resource(f"{MARKS}w", dict).begun += 1  # as of an update that has begun to write
        assert run(task, torn) == 1
        copy = run(task, value)
    assert copy is not task.variables.read("w")
