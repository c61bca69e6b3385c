from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from pslab.graph.ops import activations, nn
from pslab.graph.ops.sources import constant

X = np.linspace(-4, 8, 12).reshape(3, 4)


@pytest.mark.parametrize(
    ("function", "reference"),
    [
        (activations.relu, lambda x: np.maximum(x, 0)),
        (activations.relu6, lambda x: np.clip(x, 0, 6)),
        (activations.sigmoid, scipy.special.expit),
        (activations.tanh, np.tanh),
        (activations.softplus, lambda x: np.log1p(np.exp(x))),
        (activations.elu, lambda x: np.where(x > 0, x, np.exp(x) - 1)),
        (activations.selu, lambda x: 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1))),
        (activations.softsign, lambda x: x / (1 + np.abs(x))),
        (activations.log_sigmoid, lambda x: np.log(scipy.special.expit(x))),
        (activations.leaky_relu, lambda x: np.where(x > 0, x, 0.2 * x)),
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_against_references(value, function, reference, dtype):
    found = value(function(constant(X, dtype)))
    np.testing.assert_allclose(found, reference(X), rtol=1e-5, atol=1e-7)
    assert found.dtype == np.dtype(dtype)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_extreme_inputs_overflow_nowhere(value, dtype):
    x = constant([-1e4, 0, 1e4], dtype)
    assert value(activations.sigmoid(x)).round(4).tolist() == [0, 0.5, 1]
    assert value(nn.softmax(x)).tolist() == [0, 0, 1]
    assert value(nn.log_softmax(x)).tolist() == [-2e4, -1e4, 0]
    assert value(activations.elu(x)).tolist() == [-1, 0, 1e4]
    assert value(activations.softplus(x)).astype("float64").round(2).tolist() == pytest.approx([0, 0.69, 1e4])


def test_nan_stays_nan(value):
    for function in (activations.relu, activations.sigmoid, activations.tanh, activations.softplus):
        assert np.isnan(value(function([np.nan, 1.0]))).tolist() == [True, False]
