"""The graph: names, scopes, devices and control dependencies, by TensorFlow 1's tf.Graph."""

from __future__ import annotations

import pytest

import pslab as tf
from pslab import errors


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_names_are_made_unique_and_found(graph) -> None:
    with tf.name_scope("layer"):
        first, second = tf.constant(1, name="c"), tf.constant(2, name="c")
    with tf.name_scope("layer"):
        third = tf.constant(3, name="c")
    assert [t.op.name for t in (first, second, third)] == ["layer/c", "layer/c_1", "layer_1/c"]
    assert graph.get_operation_by_name("layer/c_1") is second.op
    assert graph.get_tensor_by_name("layer_1/c:0") is third
    with pytest.raises(errors.NotFoundError, match="did you mean 'layer/c'"):
        graph.get_operation_by_name("layer/d")
    with pytest.raises(errors.GraphError, match="is not a tensor's name"):
        graph.get_tensor_by_name("layer/c")


def test_a_scope_is_entered_again_and_left() -> None:
    with tf.name_scope("a") as scope, tf.name_scope("b"):
        pass
    with tf.name_scope(scope):
        again = tf.constant(1, name="c")
    with tf.name_scope("x"), tf.name_scope(None):
        top = tf.constant(1, name="c")
    assert (again.op.name, top.op.name) == ("a/c", "c")


def test_inner_device_blocks_win_and_functions_decide() -> None:
    with tf.device("/job:worker/task:1"), tf.device("/gpu:0"):
        inner = tf.constant(1)
    with tf.device("/job:worker"), tf.device(None):
        outside = tf.constant(1)
    with tf.device(lambda op: "/job:ps/task:3" if op.type == "Const" else ""):
        chosen = tf.constant(1)
        left = tf.identity(chosen)
    assert inner.device == "/job:worker/task:1/device:GPU:0"
    assert outside.device == ""
    assert (chosen.device, left.device) == ("/job:ps/task:3", "")


def test_control_dependencies_nest_and_are_cleared() -> None:
    a, b = tf.constant(1), tf.constant(2)
    with tf.control_dependencies([a]), tf.control_dependencies([b]):
        both = tf.constant(3)
        with tf.control_dependencies(None):
            none = tf.constant(4)
    assert set(both.op.control_inputs) == {a.op, b.op}
    assert none.op.control_inputs == ()


def test_an_assignment_under_control_dependencies_happens_before() -> None:
    v = tf.Variable(0.0)
    with tf.control_dependencies([v.assign_add(1.0)]):
        after = v.read_value()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert [session.run(after) for _ in range(3)] == [1, 2, 3]


def test_a_shape_error_names_op_scope_and_both_shapes() -> None:
    a, b = tf.zeros([2, 3]), tf.zeros([2, 3])
    with tf.name_scope("layer"), pytest.raises(errors.ShapeError) as caught:
        tf.matmul(a, b, name="product")
    text = str(caught.value)
    for part in ("MatMul op 'product' in scope 'layer'", "(2, 3) has 3 columns, (2, 3) has 2 rows", "test_graph.py"):
        assert part in text


def test_a_finalized_graph_takes_no_more(graph) -> None:
    graph.finalize()
    with pytest.raises(errors.GraphError, match="finalized"):
        tf.constant(1)


def test_graphs_do_not_mix() -> None:
    a = tf.constant(1)
    with tf.Graph().as_default(), pytest.raises(errors.GraphError, match="belongs to another graph"):
        tf.control_dependencies([a]).__enter__()


def test_the_default_graph_is_reset_outside_of_blocks_only() -> None:
    with pytest.raises(errors.GraphError, match="as_default"):
        tf.reset_default_graph()
