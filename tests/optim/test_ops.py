"""The apply ops: what they check when they are built, and what they do to the store."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from pslab.errors import FailedPreconditionError, InvalidArgumentError, ShapeError
from pslab.graph.graph import Graph
from pslab.graph.ops.sources import placeholder
from pslab.graph.registry import op_def
from pslab.graph.variables import Variable
from pslab.optim import rules
from pslab.optim.ops import apply_update
from pslab.runtime.task import Task
from pslab.testing.one_task import program, run


@pytest.fixture
def graph():
    with Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("type", ["ApplyGradientDescent", "ApplyMomentum", "ApplyAdagrad", "ApplyRMSProp", "ApplyAdam"])
def test_is_a_stateful_op_that_signals(type):
    assert op_def(type).stateful
    assert op_def(type).signals


@pytest.mark.parametrize(
    "rule",
    [
        rules.GradientDescent(0.1),
        rules.Momentum(0.1, 0.9, use_nesterov=True),
        rules.Adagrad(0.1),
        rules.RMSProp(0.1, momentum=0.5, centered=True),
        rules.Adam(0.1),
    ],
    ids=lambda r: type(r).__name__,
)
def test_equals_the_pure_rule(graph, rule):
    task = Task("localhost:0")
    with graph.device("/job:localhost/task:0"):
        w = Variable(np.zeros((2, 3)), name="w")
    slots = [Variable(np.zeros(()), trainable=False, name=f"w/{s.name}") for s in rule.slots()]
    gradient = placeholder("float64", [2, 3])
    updated = apply_update(rule, w, slots, gradient, "update")
    assert updated.op.device == w.op.device
    assert updated.shape == (2, 3)

    rng = np.random.default_rng(0)
    parameter, values = rng.normal(size=(2, 3)), ()
    values = rules.init(rule, np, parameter)
    task.variables.assign("w", parameter)
    for slot, value in zip(slots, values, strict=True):
        task.variables.assign(slot.op.name, value)
    for _ in range(3):
        g = rng.normal(size=(2, 3))
        parameter, values = rule.update(np, parameter, values, g)
        np.testing.assert_array_equal(run(task, updated, feeds={gradient: g}), parameter)
    np.testing.assert_array_equal(task.variables.read("w"), parameter)
    for slot, value in zip(slots, values, strict=True):
        np.testing.assert_array_equal(task.variables.read(slot.op.name), value)


def test_a_reader_keeps_what_it_read(graph):
    task = Task("localhost:0")
    w = Variable(np.ones(3), name="w")
    gradient = placeholder("float64", [3])
    updated = apply_update(rules.GradientDescent(1.0), w, [], gradient)
    run(task, w.initializer)
    before = run(task, w)
    run(task, updated, feeds={gradient: np.ones(3)})
    assert before.tolist() == [1, 1, 1]
    assert run(task, w).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    ("dtype", "shape", "says"),
    [("float32", [3], "float64, its gradient float32"), ("float64", [4], r"shape \(3,\), its gradient \(4,\)"), ("float64", [1, 3], "shape")],
)
def test_a_gradient_that_does_not_fit_is_refused_when_built(graph, dtype, shape, says):
    w = Variable(np.ones(3), name="layer/w")
    with pytest.raises(ShapeError, match=says) as caught:
        apply_update(rules.GradientDescent(0.1), w, [], placeholder(dtype, shape))
    assert "'layer/w'" in str(caught.value)


@pytest.mark.parametrize(("dtype", "shape"), [("float32", []), ("float64", [2])])
def test_a_hyper_parameter_that_does_not_fit_is_refused_when_built(graph, dtype, shape):
    w = Variable(np.ones(3), name="w")
    rate = placeholder(dtype, shape, name="rate")
    with pytest.raises(ShapeError, match="hyper-parameter must be a float64 scalar, but rate"):
        apply_update(rules.GradientDescent(rate), w, [], placeholder("float64", [3]))


@pytest.mark.parametrize("shape", [(1,), (2, 3), (4,), ()])
def test_a_gradient_that_does_not_fit_is_refused_when_run(graph, shape):
    task = Task("localhost:0")
    w = Variable(np.ones(3), name="w")
    gradient = placeholder("float64", None)
    updated = apply_update(rules.GradientDescent(0.1), w, [], gradient, "step")
    run(task, w.initializer)
    with pytest.raises(InvalidArgumentError, match="'w' has shape") as caught:
        run(task, updated, feeds={gradient: np.ones(shape)})
    assert caught.value.op == "step"
    assert run(task, w).tolist() == [1, 1, 1]


def test_an_uninitialised_slot_leaves_the_variable_alone(graph):
    task = Task("localhost:0")
    w, slot = Variable(np.ones(3), name="w"), Variable(np.zeros(3), name="w/Momentum")
    gradient = placeholder("float64", [3])
    updated = apply_update(rules.Momentum(0.1, 0.9), w, [slot], gradient)
    run(task, w.initializer)
    with pytest.raises(FailedPreconditionError, match="'w/Momentum'"):
        run(task, updated, feeds={gradient: np.ones(3)})
    assert run(task, w).tolist() == [1, 1, 1]


def test_updates_of_many_threads_are_all_applied(graph):
    task = Task("localhost:0")
    w, slot = Variable(np.zeros(50), name="w"), Variable(np.zeros(50), name="w/Momentum")
    gradient = placeholder("float64", [50])
    updated = apply_update(rules.Momentum(1.0, 1.0), w, [slot], gradient)
    run(task, w.initializer), run(task, slot.initializer)
    compiled = program(task, [updated.op], [gradient])

    def push():
        for _ in range(200):
            with pytest.raises(StopIteration):
                next(compiled.start([np.ones(50)]))

    threads = [threading.Thread(target=push) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
        assert not thread.is_alive()
    assert run(task, slot).tolist() == [800.0] * 50
    assert run(task, w).tolist() == [-800 * 801 / 2] * 50
