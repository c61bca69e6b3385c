"""Decaying learning rates against TensorFlow's documented formulas."""

from __future__ import annotations

import math

import numpy as np
import pytest

from pslab.errors import GraphError
from pslab.graph.graph import Graph
from pslab.graph.ops.sources import placeholder
from pslab.graph.variables import Variable
from pslab.optim.decay import cosine_decay, exponential_decay, inverse_time_decay, natural_exp_decay, piecewise_constant, polynomial_decay
from pslab.optim.global_step import create_global_step
from pslab.optim.optimizer import GradientDescentOptimizer
from pslab.runtime.task import Task
from pslab.testing.one_task import run


def values(build, steps):
    with Graph().as_default():
        step = placeholder("int64", [])
        rate = build(step)
        assert (rate.dtype.name, rate.shape.as_list()) == ("float32", [])
        found = [run(Task("localhost:0"), rate, feeds={step: s}) for s in steps]
    assert {type(f) for f in found} == {np.ndarray}
    return [float(f) for f in found]


def test_exponential():
    steps = [0, 1, 99, 100, 250]
    smooth = values(lambda s: exponential_decay(0.1, s, 100, 0.96), steps)
    assert smooth == pytest.approx([0.1 * 0.96 ** (s / 100) for s in steps], rel=1e-6)
    stairs = values(lambda s: exponential_decay(0.1, s, 100, 0.96, staircase=True), steps)
    assert stairs == pytest.approx([0.1, 0.1, 0.1, 0.096, 0.1 * 0.96**2], rel=1e-6)


def test_natural_exponential_and_inverse_time():
    steps = [0, 1, 99, 250]
    found = values(lambda s: natural_exp_decay(0.1, s, 100, 0.5), steps)
    assert found == pytest.approx([0.1 * math.exp(-0.5 * s / 100) for s in steps], rel=1e-6)
    found = values(lambda s: inverse_time_decay(0.1, s, 100, 0.5), steps)
    assert found == pytest.approx([0.1 / (1 + 0.5 * s / 100) for s in steps], rel=1e-6)
    assert values(lambda s: natural_exp_decay(0.1, s, 100, 0.5, True), [99, 199]) == pytest.approx([0.1, 0.1 * math.exp(-0.5)], rel=1e-6)
    assert values(lambda s: inverse_time_decay(0.1, s, 100, 0.5, True), [99, 199]) == pytest.approx([0.1, 0.1 / 1.5], rel=1e-6)


def test_cosine():
    steps = [0, 50, 100, 150]
    assert values(lambda s: cosine_decay(0.1, s, 100), steps) == pytest.approx([0.1, 0.05, 0, 0], rel=1e-6, abs=1e-9)
    assert values(lambda s: cosine_decay(0.1, s, 100, alpha=0.2), steps) == pytest.approx([0.1, 0.06, 0.02, 0.02], rel=1e-6)


def test_polynomial():
    steps = [0, 50, 100, 150]
    assert values(lambda s: polynomial_decay(0.1, s, 100, 0.02), steps) == pytest.approx([0.1, 0.06, 0.02, 0.02], rel=1e-6)
    assert values(lambda s: polynomial_decay(1.0, s, 100, 0.0, power=0.5), steps) == pytest.approx([1, math.sqrt(0.5), 0, 0], rel=1e-6)
    cycled = values(lambda s: polynomial_decay(1.0, s, 100, 0.0, cycle=True), [0, 100, 150, 200, 201])
    assert cycled == pytest.approx([1, 0, 0.25, 0, 99 / 300], rel=1e-6)


def test_piecewise_constant():
    found = values(lambda s: piecewise_constant(s, [10, 20], [1.0, 0.5, 0.25]), [0, 10, 11, 20, 21])
    assert found == [1.0, 1.0, 0.5, 0.5, 0.25]


def test_a_decaying_rate_trains_and_stays_beside_the_global_step():
    task = Task("localhost:0")
    with Graph().as_default() as graph:
        step = create_global_step()
        with graph.device("/job:ps/task:1"):
            other = Variable(np.int64(0), trainable=False, name="other")
        assert exponential_decay(1.0, other, 1, 0.5).device == other.op.device
        w = Variable(np.zeros(2, "float32"), name="w")
        gradient = placeholder("float32", [2])
        train_op = GradientDescentOptimizer(exponential_decay(1.0, step, 1, 0.5)).apply_gradients([(gradient, w)], step)
        run(task, w.initializer), run(task, step.initializer)
        for _ in range(3):
            run(task, train_op, feeds={gradient: [1.0, 2.0]})
        assert run(task, w).tolist() == [-1.75, -3.5]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda s: exponential_decay(0.1, None, 100, 0.9), "needs a global step"),
        (lambda s: exponential_decay(0.1, s, 0, 0.9), "decay_steps must be positive, not 0"),
        (lambda s: inverse_time_decay(0.1, s, 0, 0.9), "decay_steps must be positive, not 0"),
        (lambda s: cosine_decay(0.1, s, 0), "decay_steps must be positive, not 0"),
        (lambda s: polynomial_decay(0.1, s, -1), "decay_steps must be positive, not -1"),
        (lambda s: piecewise_constant(s, [1, 2], [0.1, 0.2]), "2 boundaries need 3 values, not 2"),
        (lambda s: piecewise_constant(s, [2, 2], [1.0, 2.0, 3.0]), "boundaries must grow"),
    ],
)
def test_what_cannot_be_meant(build, says):
    with Graph().as_default(), pytest.raises(GraphError, match=says):
        build(placeholder("int64", []))
