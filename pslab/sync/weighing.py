"""The mean of contributions that do not all weigh the same."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def weighted_mean(weights: Sequence[int], contributions: Sequence[Any]) -> Any:
    """Σ w·c / Σ w, added up in the order given, as a new array. Where all weigh the same it is Σ c / n, bit for bit.

    If each contribution is the mean gradient of as many examples as it weighs, this is the mean gradient of all examples together.

    Args:
        weights: a positive number per contribution.
        contributions: arrays of one shape and floating dtype, at least one.
    """
    if len(set(weights)) == 1:
        weights = [1] * len(weights)
    number = contributions[0].dtype.type
    total = contributions[0].copy()
    total *= number(weights[0])
    for weight, contribution in zip(weights[1:], contributions[1:], strict=True):
        total += contribution if weight == 1 else contribution * number(weight)
    total /= number(sum(weights))
    return total
