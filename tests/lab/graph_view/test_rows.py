"""Places in a row: in order, apart, and nowhere nearer to the wishes."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from pslab.lab.graph_view.rows import separated

WISH = st.floats(-100, 100)


@given(st.lists(st.tuples(WISH, st.floats(0.1, 5), st.floats(0, 40)), min_size=1, max_size=5))
def test_places_are_apart_and_the_nearest_to_the_wishes(rows) -> None:
    wishes, weights, apart = (list(column) for column in zip(*rows, strict=True))
    apart = apart[1:]
    found = separated(wishes, weights, apart)
    assert all(b - a >= gap - 1e-6 for a, b, gap in zip(found, found[1:], apart, strict=False))

    def far(places) -> float:
        return float(np.sum(np.array(weights) * (np.array(places) - wishes) ** 2))

    limits = [{"type": "ineq", "fun": lambda x, i=i: x[i + 1] - x[i] - apart[i]} for i in range(len(apart))]
    best = minimize(far, np.cumsum([min(wishes), *apart]), constraints=limits, method="SLSQP", options={"maxiter": 200})
    if best.success:
        assert far(found) <= best.fun + 1e-3 * (1 + best.fun)


def test_wishes_that_fit_are_granted() -> None:
    assert separated([0, 50, 90], [1, 1, 1], [20, 20]) == [0, 50, 90]
    assert separated([0, 0], [1, 1], [10]) == [-5, 5]
