"""The optimizers: the ops they build, where, under which names; and that they train."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import GraphError, ShapeError
from pslab.graph.collections import GraphKeys
from pslab.graph.graph import Graph
from pslab.graph.ops.arrays import zeros
from pslab.graph.ops.math import add
from pslab.graph.ops.matmul import matmul
from pslab.graph.ops.sources import placeholder, stop_gradient
from pslab.graph.variables import Variable, global_variables_initializer
from pslab.optim import rules
from pslab.optim.global_step import get_or_create_global_step
from pslab.optim.optimizer import (
    AdadeltaOptimizer,
    AdagradOptimizer,
    AdamOptimizer,
    FtrlOptimizer,
    GradientDescentOptimizer,
    MomentumOptimizer,
    RMSPropOptimizer,
)
from pslab.runtime.task import Task
from pslab.testing.one_task import program, run


@pytest.fixture
def graph():
    with Graph().as_default() as graph:
        yield graph


OPTIMIZERS = {
    "GradientDescent": (lambda: GradientDescentOptimizer(0.1), rules.GradientDescent(0.1)),
    "Momentum": (lambda: MomentumOptimizer(0.1, 0.9), rules.Momentum(0.1, 0.9)),
    "Nesterov": (lambda: MomentumOptimizer(0.1, 0.9, use_nesterov=True), rules.Momentum(0.1, 0.9, True)),
    "Adagrad": (lambda: AdagradOptimizer(0.1, 0.3), rules.Adagrad(0.1, 0.3)),
    "Adadelta": (lambda: AdadeltaOptimizer(1.0, 0.9, 1e-4), rules.Adadelta(1.0, 0.9, 1e-4)),
    "Ftrl": (lambda: FtrlOptimizer(0.3, -0.7, 0.2, 0.1, 0.4, l2_shrinkage_regularization_strength=0.5), rules.Ftrl(0.3, -0.7, 0.1, 0.4, 0.5, 0.2)),
    "RMSProp": (lambda: RMSPropOptimizer(0.1, 0.8, 0.5, 1e-3), rules.RMSProp(0.1, 0.8, 0.5, 1e-3)),
    "RMSProp centered": (lambda: RMSPropOptimizer(0.1, centered=True), rules.RMSProp(0.1, centered=True)),
    "Adam": (lambda: AdamOptimizer(0.1, 0.5, 0.7, 1e-2), rules.Adam(0.1, 0.5, 0.7, 1e-2)),
}


@pytest.mark.parametrize(("make", "rule"), OPTIMIZERS.values(), ids=OPTIMIZERS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_trains_like_the_pure_rule(graph, make, rule, dtype):
    task = Task("localhost:0")
    starts = {"w": np.arange(6.0).reshape(2, 3), "b": np.asarray(2.0)}
    variables = [Variable(value.astype(dtype), name=name) for name, value in starts.items()]
    gradients = [placeholder(dtype, v.shape) for v in variables]
    step = get_or_create_global_step()
    train_op = make().apply_gradients(zip(gradients, variables, strict=True), global_step=step)
    run(task, global_variables_initializer())
    rng = np.random.default_rng(1)
    cast = rule._replace(**{f: np.asarray(v, dtype) for f, v in rule._asdict().items() if type(v) is float})
    expected = [(v.astype(dtype), rules.init(cast, np, v.astype(dtype))) for v in starts.values()]
    for _ in range(4):
        given = [rng.normal(size=v.shape.as_tuple()).astype(dtype) for v in variables]
        run(task, train_op, feeds=dict(zip(gradients, given, strict=True)))
        expected = [cast.update(np, w, slots, g) for (w, slots), g in zip(expected, given, strict=True)]
    for variable, (value, _) in zip(variables, expected, strict=True):
        found = run(task, variable)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, value)
    assert run(task, step) == 4


def test_slots_have_tensorflows_names_and_live_beside_their_variable(graph):
    with graph.device("/job:ps/task:1"):
        w = Variable(np.zeros((2, 3)), name="layer/w")
    optimizer = AdamOptimizer()
    assert optimizer.get_slot(w, "m") is None
    with graph.name_scope("anywhere"), graph.device("/job:worker/task:0"):
        train_op = optimizer.apply_gradients([(placeholder("float64", [2, 3]), w)])
    assert train_op.name == "anywhere/Adam"
    names = {name: optimizer.get_slot(w, name).op.name for name in optimizer.get_slot_names()}
    assert names == {"m": "layer/w/Adam", "v": "layer/w/Adam_1", "beta1_power": "layer/w/beta1_power", "beta2_power": "layer/w/beta2_power"}
    for slot in optimizer.variables():
        assert not slot.trainable
        assert {op.device for op in (slot.op, slot.initializer, slot.initializer.inputs[0].op)} == {w.op.device}
    assert [v.name for v in optimizer.variables()] == sorted(f"{name}:0" for name in names.values())
    assert graph.get_collection(GraphKeys.TRAINABLE_VARIABLES) == [w]
    assert optimizer.get_slot(w, "nothing") is None


@pytest.mark.parametrize(
    ("optimizer", "names"),
    [
        (GradientDescentOptimizer(0.1), {}),
        (MomentumOptimizer(0.1, 0.9), {"momentum": "w/Momentum"}),
        (AdagradOptimizer(0.1, name="Ada"), {"accumulator": "w/Ada"}),
        (AdadeltaOptimizer(), {"accum": "w/Adadelta", "accum_update": "w/Adadelta_1"}),
        (FtrlOptimizer(0.1), {"accum": "w/Ftrl", "linear": "w/Ftrl_1"}),
        (RMSPropOptimizer(0.1), {"rms": "w/RMSProp", "momentum": "w/RMSProp_1"}),
        (RMSPropOptimizer(0.1, centered=True), {"rms": "w/RMSProp", "mg": "w/RMSProp_1", "momentum": "w/RMSProp_2"}),
    ],
    ids=lambda x: x.get_name() if hasattr(x, "get_name") else "",
)
def test_slot_names(graph, optimizer, names):
    w = Variable(np.zeros(2), name="w")
    optimizer.apply_gradients([(placeholder("float64", [2]), w)])
    assert {name: optimizer.get_slot(w, name).op.name for name in optimizer.get_slot_names()} == names


def test_slots_of_a_big_variable_do_not_make_the_graph_big(graph):
    w = Variable(lambda: zeros([1000, 1000]), name="w")
    AdamOptimizer().apply_gradients([(placeholder("float32", [1000, 1000]), w)])
    assert max(op.attrs["value"].size for op in graph.operations if op.type == "Const") < 10
    task = Task("localhost:0")
    run(task, global_variables_initializer())
    assert task.variables.read("w/Adam_1").shape == (1000, 1000)


def test_slots_are_made_once(graph):
    w = Variable(np.zeros(2), name="w")
    optimizer = MomentumOptimizer(0.1, 0.9)
    gradient = placeholder("float64", [2])
    first = optimizer.apply_gradients([(gradient, w)])
    second = optimizer.apply_gradients([(gradient, w)])
    assert (first.name, second.name) == ("Momentum", "Momentum_1")
    assert len(optimizer.variables()) == 1
    assert graph.get_collection(GraphKeys.TRAIN_OP) == [first, second]


def test_everything_of_an_update_is_on_the_variables_device(graph):
    with graph.device("/job:ps/task:1"):
        w = Variable(np.zeros(2), name="w")
    with graph.device("/job:ps/task:0"):
        step = get_or_create_global_step()
    before = set(graph.operations)
    with graph.device("/job:worker/task:0"):
        gradient = placeholder("float64", [2])
        AdamOptimizer().apply_gradients([(gradient, w)], step)
    devices = {op.name: op.device for op in graph.operations if op not in before and op is not gradient.op and not op.name.startswith("w/")}
    assert devices.pop("Adam") == step.op.device
    assert devices.pop("Adam/one") == step.op.device
    assert "Adam/update_w/ApplyAdam" in devices
    assert set(devices.values()) == {w.op.device}


def test_the_updates_of_a_task_and_its_global_step_are_one_critical_section(graph):
    """So that nobody can read some variables before a push and others after it, or a step count that does not fit them."""
    variables = [Variable(np.zeros(2), name=f"w{i}") for i in range(3)]
    gradients = [placeholder("float64", [2]) for _ in variables]
    step = get_or_create_global_step()
    train_op = AdamOptimizer().apply_gradients(zip(gradients, variables, strict=True), step)
    source = program(Task("localhost:0"), [train_op], gradients).source
    assert source.count("with monitor:") == 1
    assert source.count("Apply") >= 3


def test_the_global_step_counts_after_the_updates(graph):
    w = Variable(np.zeros(2), name="w")
    step = get_or_create_global_step()
    train_op = GradientDescentOptimizer(0.1).apply_gradients([(placeholder("float64", [2]), w)], step, name="train")
    assert train_op.name == "train"
    assert train_op.type == "AssignAdd"
    assert [op.type for op in train_op.control_inputs] == ["ApplyGradientDescent"]


def test_the_learning_rate_may_be_fed(graph):
    task = Task("localhost:0")
    rate = placeholder("float64", [], name="rate")
    w = Variable(np.zeros(2), name="w")
    gradient = placeholder("float64", [2])
    train_op = GradientDescentOptimizer(rate).apply_gradients([(gradient, w)])
    run(task, w.initializer)
    for value in (1.0, 10.0):
        run(task, train_op, feeds={gradient: [1.0, 2.0], rate: value})
    assert run(task, w).tolist() == [-11, -22]


def test_the_learning_rate_takes_on_the_variables_dtype(graph):
    task = Task("localhost:0")
    rate = placeholder("float32", [], name="rate")
    pairs = [(placeholder(dtype, [2]), Variable(np.zeros(2, dtype), name=f"w_{dtype}")) for dtype in ("float32", "float64")]
    train_op = MomentumOptimizer(rate, np.float64(0.5)).apply_gradients(pairs)
    run(task, global_variables_initializer())
    run(task, train_op, feeds={rate: 0.5, **{gradient: [1.0, 2.0] for gradient, _ in pairs}})
    for _, variable in pairs:
        assert run(task, variable).tolist() == [-0.5, -1.0]


def test_pairs_without_a_gradient_are_left_out(graph):
    v, w = Variable(np.zeros(2), name="v"), Variable(np.zeros(2), name="w")
    optimizer = MomentumOptimizer(0.1, 0.9)
    optimizer.apply_gradients([(None, v), (placeholder("float64", [2]), w)])
    assert [s.name for s in optimizer.variables()] == ["w/Momentum:0"]


def test_bad_pairs(graph):
    w = Variable(np.zeros(2), name="w")
    gradient = placeholder("float64", [2])
    optimizer = GradientDescentOptimizer(0.1)
    with pytest.raises(GraphError, match="no gradients for any variable: w:0"):
        optimizer.apply_gradients([(None, w)])
    with pytest.raises(GraphError, match="the list is empty"):
        optimizer.apply_gradients([])
    with pytest.raises(GraphError, match="comes twice"):
        optimizer.apply_gradients([(gradient, w), (gradient, w)])
    with pytest.raises(GraphError, match=r"expected a pslab\.Variable to train, not Tensor"):
        optimizer.apply_gradients([(gradient, w.value())])
    with pytest.raises(ShapeError, match="its gradient"):
        optimizer.apply_gradients([(placeholder("float64", [3]), w)])


def test_bad_constructor_arguments():
    with pytest.raises(GraphError, match="positive, not 0"):
        AdagradOptimizer(0.1, initial_accumulator_value=0)
    with pytest.raises(GraphError, match="needs a name"):
        GradientDescentOptimizer(0.1, name="")


def test_compute_gradients(graph):
    task = Task("localhost:0")
    x = placeholder("float64", [None, 2])
    w = Variable(np.ones((2, 3)), name="w")
    unused = Variable(np.ones(3), name="unused")
    frozen = Variable(np.ones((2, 3)), trainable=False, name="frozen")
    loss = add(matmul(x, w), matmul(x, frozen))  # no scalar: its sum is meant
    optimizer = GradientDescentOptimizer(1.0)
    (gradient, first), (nothing, second) = optimizer.compute_gradients(loss)
    assert (first, nothing, second) == (w, None, unused)
    assert [v for _, v in optimizer.compute_gradients(loss, [frozen])] == [frozen]
    run(task, global_variables_initializer())
    batch = np.asarray([[1.0, 2.0], [3.0, 4.0]])
    np.testing.assert_array_equal(run(task, gradient, feeds={x: batch}), [[4.0] * 3, [6.0] * 3])


def test_minimize(graph):
    task = Task("localhost:0")
    x = placeholder("float64", [None, 2])
    w = Variable(np.ones((2, 1)), name="w")
    step = get_or_create_global_step()
    train_op = GradientDescentOptimizer(0.5).minimize(matmul(x, w), global_step=step)
    run(task, global_variables_initializer())
    run(task, train_op, feeds={x: [[1.0, 2.0]]})
    assert run(task, w).tolist() == [[0.5], [0.0]]
    assert run(task, step) == 1


def test_minimize_with_nothing_to_do(graph):
    x = placeholder("float64", [None, 2])
    optimizer = GradientDescentOptimizer(0.5)
    with pytest.raises(GraphError, match="no variables to train"):
        optimizer.minimize(x)
    w = Variable(np.ones((2, 1)), name="w")
    with pytest.raises(GraphError, match="depends on none of the variables w:0"):
        optimizer.minimize(stop_gradient(matmul(x, w)))
    with pytest.raises(GraphError, match="is int32; only floating"):
        optimizer.minimize(placeholder("int32", []))


def test_ftrl_refuses_strengths_that_make_no_sense():
    for arguments in ({"l1_regularization_strength": -1.0}, {"initial_accumulator_value": -0.1}, {"learning_rate_power": 0.5}):
        with pytest.raises(GraphError, match="expected no negative"):
            FtrlOptimizer(0.1, **arguments)
