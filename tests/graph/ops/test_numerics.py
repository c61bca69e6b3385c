from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import InvalidArgumentError
from pslab.graph.gradients import gradients
from pslab.graph.ops import numerics
from pslab.graph.ops.sources import placeholder

BAD = np.array([1.0, np.nan, np.inf, -np.inf], "f")


def test_kinds_of_numbers(value):
    assert value(numerics.is_nan(BAD)).tolist() == [False, True, False, False]
    assert value(numerics.is_inf(BAD)).tolist() == [False, False, True, True]
    assert value(numerics.is_finite(BAD)).tolist() == [True, False, False, False]


def test_finite_values_pass(value):
    assert value(numerics.check_numerics([1.0, 2.0], "x")).tolist() == [1, 2]


def test_others_are_reported_with_the_message(value):
    with pytest.raises(InvalidArgumentError, match=r"the loss : Tensor had NaN values \(3 of 4 are not finite\)"):
        value(numerics.check_numerics(BAD, "the loss"))
    with pytest.raises(InvalidArgumentError, match="the loss : Tensor had Inf values"):
        value(numerics.check_numerics(BAD[2:], "the loss"))


def test_gradients_are_checked_too(value):
    x = placeholder("float32", [1])
    [g] = gradients(numerics.check_numerics(x, "weights") * np.float32(np.inf), x)
    with pytest.raises(InvalidArgumentError, match="weights, gradient : Tensor had Inf"):
        value(g, {x: np.ones(1, "f")})
