"""The fields of a record."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import UsageError
from pslab.trace.records import step_dtype


def test_metrics_have_fields_of_their_own():
    dtype = step_dtype(["accuracy", "loss"])
    assert {dtype[f] for f in ("loss", "metric_accuracy", "metric_loss")} == {np.dtype("f8")}
    assert len(dtype) == len(step_dtype()) + 2


def test_docstring_lists_every_field():
    for field in step_dtype().names:
        assert f"    {field} " in step_dtype.__doc__


def test_a_metric_that_comes_twice_is_refused():
    with pytest.raises(UsageError, match="twice: a, b, a"):
        step_dtype(["a", "b", "a"])
