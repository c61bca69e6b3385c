from __future__ import annotations

import numpy as np
import pytest

from pslab.graph.ops import normalization

X = np.sin(np.arange(2 * 3 * 4 * 5.0)).reshape(2, 3, 4, 5)
SCALE, OFFSET = np.arange(1.0, 6), np.arange(5.0)[::-1].copy()


def test_by_given_mean_and_variance(value):
    mean, variance = X.mean((0, 1, 2)), X.var((0, 1, 2))
    wanted = (X - mean) / np.sqrt(variance + 0.1)
    np.testing.assert_allclose(value(normalization.batch_normalization(X, mean, variance, None, None, 0.1)), wanted)
    np.testing.assert_allclose(value(normalization.batch_normalization(X, mean, variance, OFFSET, SCALE, 0.1)), wanted * SCALE + OFFSET)


def test_fused(value):
    y, mean, variance = value(list(normalization.fused_batch_norm(X, SCALE, OFFSET, epsilon=0.1)))
    np.testing.assert_allclose(y, (X - X.mean((0, 1, 2))) / np.sqrt(X.var((0, 1, 2)) + 0.1) * SCALE + OFFSET)
    np.testing.assert_allclose(mean, X.mean((0, 1, 2)))
    np.testing.assert_allclose(variance, X.var((0, 1, 2), ddof=1))
    y, mean, variance = value(list(normalization.fused_batch_norm(X, SCALE, OFFSET, OFFSET, SCALE, 0.1, is_training=False)))
    np.testing.assert_allclose(y, (X - OFFSET) / np.sqrt(SCALE + 0.1) * SCALE + OFFSET)
    assert (mean.tolist(), variance.tolist()) == (OFFSET.tolist(), SCALE.tolist())


@pytest.mark.parametrize("radius", [1, 2, 5])
def test_over_neighbouring_channels(value, radius):
    wanted = np.empty_like(X)
    for c in range(5):
        squares = (X[..., max(0, c - radius) : c + radius + 1] ** 2).sum(-1)
        wanted[..., c] = X[..., c] / (1.5 + 0.3 * squares) ** 0.7
    np.testing.assert_allclose(value(normalization.lrn(X, radius, 1.5, 0.3, 0.7)), wanted)
