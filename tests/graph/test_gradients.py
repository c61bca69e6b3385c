"""Gradients: of every op against finite differences, and how they flow through a graph."""

from __future__ import annotations

import numpy as np
import pytest

import pslab
from pslab.errors import GraphError
from pslab.graph.build import apply, apply_one
from pslab.graph.gradients import gradients
from pslab.graph.graph import Graph
from pslab.graph.ops import activations, arrays, gathering, joining, losses, math, reduce
from pslab.graph.ops.sources import constant, placeholder, stop_gradient
from pslab.graph.registry import not_differentiable, op_def, registered
from pslab.graph.variables import Variable
from pslab.testing.gradcheck import check_gradients, evaluate
from tests.graph.op_cases import CASES, SECOND_ORDER, Case

TYPES = [d.type for d in registered() if d.kernel.__module__.startswith("pslab.graph.ops.")]
DIFFERENTIABLE = [t for t in TYPES if op_def(t).gradient not in (None, not_differentiable)]


@pytest.fixture
def graph():
    with Graph().as_default() as graph:
        yield graph


@pytest.mark.parametrize("type", TYPES)
def test_every_op_declares_its_gradient(type):
    assert op_def(type).gradient is not None or type in SECOND_ORDER


@pytest.mark.parametrize("type", DIFFERENTIABLE)
def test_agrees_with_finite_differences(type):
    cases = [c for c in CASES if c.type == type and any(i.dtype == np.float64 for i in c.inputs)]
    assert cases, f"op type {type} has a gradient but no case in op_cases.py"
    for case in cases:
        graph = check_gradients(case.build, *case.inputs)
        assert type in {op.type for op in graph.operations}


@pytest.mark.parametrize("case", [c for c in CASES if c.type in DIFFERENTIABLE], ids=str)
def test_has_the_dtype_and_shape_of_the_input(case: Case):
    with Graph().as_default():
        points = [placeholder("float32" if i.dtype == np.float64 else i.dtype, [None] * i.ndim) for i in case.inputs]
        built = case.build(*points)
        outputs = [t for t in (built if isinstance(built, list | tuple) else [built]) if t.dtype.is_floating]
        free = [p for p in points if p.dtype.is_floating]
        found = [(p, g) for p, g in zip(free, gradients(outputs, free), strict=True) if g is not None]
        feeds = {p: np.asarray(i, p.dtype.as_numpy_dtype) for p, i in zip(points, case.inputs, strict=True)}
        for (point, _), value in zip(found, evaluate([g for _, g in found], feeds), strict=True):
            assert value.dtype == point.dtype.as_numpy_dtype
            assert value.shape == feeds[point].shape


def test_second_derivatives():
    def slope(x):
        return gradients(reduce.reduce_sum(math.pow(activations.tanh(x), 3.0)), x)[0]

    check_gradients(slope, np.array([[0.3, -0.7], [1.1, 0.2]]), tolerance=1e-5)


def test_of_a_small_network():
    rng = np.random.default_rng(0)

    def loss(x, w, b, y):
        return reduce.reduce_mean(losses.softmax_cross_entropy_with_logits_v2(y, activations.sigmoid(x @ w + b)))

    check_gradients(loss, rng.normal(size=(5, 3)), rng.normal(size=(3, 4)), rng.normal(size=4), np.eye(4)[[0, 1, 2, 3, 0]].astype("float64"))


def test_none_where_ys_does_not_depend_on_x(graph):
    x, z = constant([1.0]), constant([2.0])
    assert gradients(x * x, [x, z])[1] is None


def test_none_through_integers_and_comparisons(graph):
    x = constant([1.0, 2.0])
    assert gradients(arrays.cast(arrays.cast(x, "int32"), "float32"), x) == [None]
    assert gradients(arrays.cast(x > 1.5, "float32"), x) == [None]
    assert gradients(reduce.argmax(x), x) == [None]


def test_none_for_integer_sources(graph):
    i = constant([1, 2])
    assert gradients(arrays.cast(i, "float32"), i) == [None]


def test_of_a_tensor_with_respect_to_itself_is_one(graph):
    x = placeholder("float32", [None])
    [g] = gradients(x, x)
    np.testing.assert_array_equal(evaluate([g], {x: np.zeros(3, "f")})[0], np.ones(3, "f"))


def test_sums_over_ys_and_over_uses(graph):
    x = constant(3.0, "float64")
    [g] = gradients([x * x, x * 2.0], x)
    assert evaluate([g])[0] == 8.0


def test_grad_ys_scale_and_none_stands_for_ones(graph):
    x = constant([1.0, 2.0])
    [g] = gradients([x * 3.0, x], x, grad_ys=[[1.0, 10.0], None])
    np.testing.assert_array_equal(evaluate([g])[0], [4.0, 31.0])


def test_grad_ys_must_fit(graph):
    x = constant([1.0, 2.0])
    with pytest.raises(GraphError, match="grad_ys"):
        gradients(x, x, grad_ys=[[1.0, 2.0, 3.0]])
    with pytest.raises(GraphError, match="1 ys, but 2 grad_ys"):
        gradients(x, x, grad_ys=[x, x])


def test_intermediate_tensors_have_gradients_too(graph):
    x = constant(2.0, "float64")
    h = x * x
    assert [float(v) for v in evaluate(gradients(h * h, [h, x]))] == [8.0, 32.0]


def test_stop_gradient_and_stop_gradients(graph):
    x = constant(2.0, "float64")
    h = x * x
    assert float(evaluate(gradients(x * stop_gradient(h), x))[0]) == 4.0
    assert float(evaluate(gradients(x * h, x, stop_gradients=[h]))[0]) == 4.0
    assert gradients(stop_gradient(x), x) == [None]


def test_a_variable_sums_over_all_its_reads(graph):
    v = Variable(np.array([1.0, 2.0]), name="v")
    again = v.read_value()
    [g] = gradients(reduce.reduce_sum(v.value() * 3.0 + again * again), v)
    feeds = {v.value(): np.array([1.0, 2.0]), again: np.array([1.0, 2.0])}
    np.testing.assert_array_equal(evaluate([g], feeds)[0], [5.0, 7.0])


def test_rows_used_twice_get_both_gradients_in_a_dense_array(graph):
    table = constant(np.zeros((4, 2)))
    [g] = gradients(gathering.gather(table, [1, 1, 3]), table)
    np.testing.assert_array_equal(evaluate([g])[0], [[0, 0], [2, 2], [0, 0], [1, 1]])


def test_unused_outputs_of_an_op_count_as_zero(graph):
    x = constant(np.arange(6.0).reshape(3, 2))
    _, middle, _ = joining.unstack(x)
    np.testing.assert_array_equal(evaluate(gradients(middle, x))[0], [[0, 0], [1, 1], [0, 0]])


def test_only_the_second_output_of_an_op():
    def gradient_of_the_loss(logits, labels):
        return apply("SoftmaxCrossEntropyWithLogits", [logits, labels])[1]

    check_gradients(gradient_of_the_loss, np.array([[1.0, 2.0], [0.5, -1.0]]), np.array([[0.5, 0.5], [1.0, 0.0]]))


def test_an_op_without_a_gradient_is_named(graph):
    x = constant([1.0, 2.0])
    with pytest.raises(GraphError, match=r"'others' \(ProdOfOthers\) has no gradient"):
        gradients(apply_one("ProdOfOthers", [x], "others", axis=None), x)


def test_ops_are_named_after_the_op_they_belong_to(graph):
    x = placeholder("float32", [None, 3])
    gradients(activations.relu(x, name="hidden"), x)
    assert "gradients/hidden_grad/ReluGrad" in graph


def test_what_surely_is_not_broadcast_is_not_summed(graph):
    x, w, b = placeholder("float32", [None, 3]), placeholder("float32", [3, 4]), placeholder("float32", [4])
    gradients(activations.relu(x @ w + b), [x, w, b])
    types = [op.type for op in graph.operations]
    assert "SumToLike" not in types
    assert types.count("SumToShape") == 1


def test_gradient_ops_lie_beside_their_ops_if_that_is_asked_for() -> None:
    graph = Graph()
    with graph.as_default():
        with graph.device("/job:worker/task:0"):
            x = placeholder("float32", [2, 3])
            hidden = activations.tanh(x)
        with graph.device("/job:worker/task:1"):
            y = reduce.reduce_sum(hidden * hidden)
        before = set(graph.operations)
        gradients(y, [x], colocate_gradients_with_ops=True)
        devices = {op.type: op.device for op in graph.operations if op not in before}
        assert devices["TanhGrad"] == "/job:worker/task:0"
        assert devices["AddN"] == "/job:worker/task:1"  # what flows back to one tensor is summed where it comes from, and travels once
        before = set(graph.operations)
        gradients(y, [x])
        assert {op.device for op in graph.operations if op not in before} == {""}


def test_ops_that_compute_a_gradient_are_noted_with_the_op_it_is_of() -> None:
    x = pslab.placeholder(pslab.float32, [2, 3])
    y = pslab.nn.relu(x, name="y")
    pslab.gradients(y, [x])
    graph = pslab.get_default_graph()
    assert graph.gradient_ops == {"y": ["gradients/y_grad/ReluGrad"]}
    with graph.noting_gradient_of(y.op):
        further = pslab.ones_like(x)
    assert graph.gradient_ops["y"][-1] == further.op.name
