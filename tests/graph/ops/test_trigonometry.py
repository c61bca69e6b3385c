from __future__ import annotations

import numpy as np
import pytest
import scipy.special

from pslab.graph.ops import trigonometry
from pslab.graph.ops.sources import constant

REFERENCES = {
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "asinh": np.arcsinh,
    "atanh": np.arctanh,
    "erf": scipy.special.erf,
}


@pytest.mark.parametrize("name", REFERENCES)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_against_references(value, name, dtype):
    x = np.linspace(-0.95, 0.95, 12).reshape(3, 4)
    found = value(getattr(trigonometry, name)(constant(x, dtype)))
    np.testing.assert_allclose(found, REFERENCES[name](x), rtol=2e-6)
    assert found.dtype == dtype


def test_acosh(value):
    x = np.linspace(1, 5, 5)
    np.testing.assert_allclose(value(trigonometry.acosh(x)), np.arccosh(x))
