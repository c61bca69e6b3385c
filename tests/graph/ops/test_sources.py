from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import GraphError, InvalidArgumentError, ShapeError
from pslab.graph.ops import sources
from pslab.runtime.task import Task
from pslab.testing.one_task import run


def test_constants_have_tensorflows_default_types(value):
    assert sources.constant(1.5).dtype.name == "float32"
    assert sources.constant([1, 2]).dtype.name == "int32"
    assert sources.constant(2**40).dtype.name == "int64"
    assert sources.constant(True).dtype.name == "bool"
    assert sources.constant("text").dtype.name == "string"
    assert sources.constant(np.float64(1)).dtype.name == "float64"
    assert sources.constant(1, "float32").dtype.name == "float32"


def test_a_constant_repeats_its_last_value_to_fill_a_shape(value):
    assert value(sources.constant([1, 2], shape=[2, 2])).tolist() == [[1, 2], [2, 2]]
    assert value(sources.constant(7.0, shape=[3])).tolist() == [7, 7, 7]
    for values, shape in (([1, 2, 3], [2]), ([], [2])):
        with pytest.raises(ShapeError, match="does not fill shape"):
            sources.constant(values, "int32", shape)


def test_a_constant_does_not_follow_the_array_it_came_from(value):
    array = np.ones(2)
    x = sources.constant(array)
    array[:] = 5
    assert value(x).tolist() == [1, 1]


def test_a_constant_does_not_lose_its_fraction(graph):
    with pytest.raises(GraphError, match="without losing its fraction"):
        sources.constant(1.5, "int32")


def test_a_placeholder_that_is_not_fed_is_named(graph):
    x = sources.placeholder("float", [None, 3], "images")
    assert (x.dtype.name, x.name) == ("float32", "images:0")
    with pytest.raises(InvalidArgumentError, match=r"placeholder 'images' \(float32, shape \(\?, 3\)\) was not fed"):
        run(Task("localhost:0"), sources.identity(x))


def test_a_placeholder_with_a_default_may_be_fed(graph):
    x = sources.placeholder_with_default([[1.0, 2.0]], [None, 2], "x")
    y = sources.identity(x)
    assert (x.name, x.shape.as_list(), y.shape.as_list()) == ("x:0", [None, 2], [None, 2])
    assert run(Task("localhost:0"), y).tolist() == [[1, 2]]
    assert run(Task("localhost:0"), y, feeds={x: np.float32([[3, 4], [5, 6]])}).tolist() == [[3, 4], [5, 6]]
    assert sources.placeholder_with_default(False, ()).dtype.name == "bool"
    with pytest.raises(ShapeError, match=r"the default has shape \(2,\), which does not fit \(3,\)"):
        sources.placeholder_with_default([1, 2], [3])


def test_a_group_is_done_when_its_members_are(graph):
    x = sources.constant(1.0)
    op = sources.group(x, [sources.no_op(), x], name="all")
    assert (op.name, op.type) == ("all", "NoOp")
    assert [c.type for c in op.control_inputs] == ["Const", "NoOp"]
    assert run(Task("localhost:0"), op) is None


def test_a_tuple_waits_for_all_of_it(graph):
    x, y = sources.constant(1.0), sources.constant(2.0)
    first, second = sources.tuple_([x, y])
    assert {t.op for t in (x, y)} <= {*first.op.control_inputs, *(t.op for t in first.op.inputs)}
    assert run(Task("localhost:0"), first, second) == (1.0, 2.0)
