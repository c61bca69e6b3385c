"""The gradient check itself: it passes what is right and finds what is wrong."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.graph.graph import Graph
from pslab.graph.ops.random import random_normal
from pslab.graph.ops.sources import constant, placeholder, stop_gradient
from pslab.runtime.task import Task
from pslab.testing.gradcheck import check_gradients, evaluate


def test_a_right_gradient_passes():
    graph = check_gradients(lambda x, y: x * y + y, np.array([1.0, 2.0]), np.array([[3.0], [4.0]]))
    assert {"Mul", "SumToShape"} <= {op.type for op in graph.operations}


def test_a_wrong_gradient_is_found():
    with pytest.raises(AssertionError, match=r"the gradient of input_0:0 at \[\d\] is .*, finite differences give"):
        check_gradients(lambda x: x * stop_gradient(x), np.array([1.0, 2.0]))


def test_a_missing_gradient_is_found():
    with pytest.raises(AssertionError, match="input_0:0"):
        check_gradients(stop_gradient, np.array([1.0, 2.0]))


def test_values_may_replace_any_tensor():
    with Graph().as_default():
        x = placeholder("float32", [])
        y = x + 1.0
        assert evaluate([y * 2.0], {y: np.float32(10)}) == [20]


def test_an_op_runs_once_and_state_goes_on():
    with Graph().as_default():
        x = random_normal([3], seed=1)
        task = Task("localhost:0")
        first, again = evaluate([x, x + constant(0.0)], state=task)
        np.testing.assert_array_equal(first, again)
        assert (evaluate([x], state=task)[0] != first).all()
        np.testing.assert_array_equal(evaluate([x])[0], first)
