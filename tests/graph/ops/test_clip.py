from __future__ import annotations

import numpy as np
import pytest

from pslab.graph.gradients import gradients
from pslab.graph.ops import clip
from pslab.graph.ops.sources import constant


def test_by_value(value):
    assert value(clip.clip_by_value([-5.0, 0.5, 5.0], -1.0, 1.0)).tolist() == [-1, 0.5, 1]
    assert value(clip.clip_by_value([-5, 5], 0, 3)).tolist() == [0, 3]


def test_the_gradient_of_a_clipped_value_is_zero(value):
    x = constant([-5.0, 0.5, 5.0])
    assert value(gradients(clip.clip_by_value(x, -1.0, 1.0), x)[0]).tolist() == [0, 1, 0]


def test_by_norm(value):
    np.testing.assert_allclose(value(clip.clip_by_norm([3.0, 4.0], 1.0)), [0.6, 0.8], rtol=1e-6)
    np.testing.assert_allclose(value(clip.clip_by_norm([3.0, 4.0], 10.0)), [3, 4], rtol=1e-6)
    np.testing.assert_allclose(value(clip.clip_by_norm([0.0, 0.0], 1.0)), [0, 0])
    np.testing.assert_allclose(value(clip.clip_by_norm([[3.0, 4.0], [0.3, 0.4]], 1.0, axes=1)), [[0.6, 0.8], [0.3, 0.4]], rtol=1e-6)


def test_a_zero_vector_has_a_gradient(value):
    x = constant([0.0, 0.0])
    assert value(gradients(clip.clip_by_norm(x, 1.0), x)[0]).tolist() == [1, 1]


def test_global_norm(value):
    assert value(clip.global_norm([[3.0], None, [[4.0]]])) == pytest.approx(5)


def test_by_global_norm(value):
    clipped, norm = clip.clip_by_global_norm([constant([3.0]), None, constant([[4.0]])], 1.0)
    assert clipped[1] is None
    assert value(norm) == pytest.approx(5)
    np.testing.assert_allclose(value(clipped[0]), [0.6], rtol=1e-6)
    np.testing.assert_allclose(value(clipped[2]), [[0.8]], rtol=1e-6)
    untouched, _ = clip.clip_by_global_norm([constant([3.0])], 10.0, use_norm=constant(3.0))
    assert value(untouched[0]) == 3
