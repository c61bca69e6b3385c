from __future__ import annotations

import operator

import numpy as np
import pytest

from pslab.graph.ops.math import add
from pslab.graph.ops.sources import constant, placeholder
from pslab.graph.variables import Variable

X, Y = np.array([[7.0, -2.0], [1.0, 3.0]]), np.array([[2.0, 3.0], [4.0, 3.0]])
ARITHMETIC = [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.matmul]
COMPARISONS = [operator.lt, operator.le, operator.gt, operator.ge]


@pytest.mark.parametrize("function", [*ARITHMETIC, *COMPARISONS])
def test_between_tensors_and_arrays(value, function):
    for x, y in ((constant(X), constant(Y)), (constant(X), Y), (X, constant(Y))):
        np.testing.assert_allclose(value(function(x, y)), function(X, Y))


@pytest.mark.parametrize("function", [*ARITHMETIC[:-1], *COMPARISONS])
def test_with_numbers(value, function):
    np.testing.assert_allclose(value(function(constant(X), 2)), function(X, 2))
    np.testing.assert_allclose(value(function(2.0, constant(Y))), function(2.0, Y))


def test_powers(value):
    np.testing.assert_allclose(value(constant(Y) ** 2), Y**2)
    np.testing.assert_allclose(value(2 ** constant(Y)), 2**Y)


def test_of_one_tensor(value):
    np.testing.assert_array_equal(value(-constant(X)), -X)
    np.testing.assert_array_equal(value(abs(constant(X))), abs(X))
    np.testing.assert_array_equal(value(~constant(X > 0)), X <= 0)


def test_logic(value):
    a, b = np.array([True, True, False]), np.array([True, False, False])
    for function in (operator.and_, operator.or_, operator.xor):
        np.testing.assert_array_equal(value(function(constant(a), b)), function(a, b))
        np.testing.assert_array_equal(value(function(a.tolist(), constant(b))), function(a, b))


def test_equality_is_identity(graph):
    x, y = constant(1.0), constant(1.0)
    assert x == x
    assert x != y
    assert len({x, y}) == 2


def test_variables_too(graph, value):
    v = Variable(X, name="v")
    feeds = {v.value(): X}
    for function in (*ARITHMETIC, *COMPARISONS):
        np.testing.assert_allclose(value(function(v, Y), feeds), function(X, Y))
        fed = placeholder("float64", [2, 2])
        np.testing.assert_allclose(value(function(fed, v), {v.value(): X, fed: Y}), function(Y, X))
    np.testing.assert_allclose(value(1.0 - v, feeds), 1 - X)
    np.testing.assert_allclose(value(v[0], feeds), X[0])
    np.testing.assert_allclose(value(-v, feeds), -X)


def test_an_operators_op_is_named_after_the_operator_as_in_tensorflow() -> None:
    x, flag = placeholder("float32", [3, 3]), placeholder("bool", [3])
    built = [x + x, 1.0 + x, x - x, x * x, x / x, x // x, x % x, x**x, x @ x, x < x, -x, flag & flag, flag | flag, ~flag, x[0]]
    names = "add add_1 sub mul truediv floordiv mod pow matmul Less Neg and or LogicalNot strided_slice"
    assert [t.op.name for t in built] == names.split()


def test_names_that_differ_in_case_alone_are_one_name() -> None:
    x = placeholder("float32", [])
    assert [t.op.name for t in (x + x, add(x, x), x + x)] == ["add", "Add_1", "add_2"]
