"""Which plane is chosen, and how long it stays; and how much of it is seen."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.lab.parameter_view.planes import FITTED, Planes
from pslab.lab.parameter_view.window import FLATTEST, Window, ticks_of, window_for
from pslab.train.trajectories import Directions, Path


def path(name: str, points) -> Path:
    points = np.asarray(points, float)
    return Path(name, np.arange(len(points)), points, np.zeros(len(points), bool))


def test_by_pca_it_is_that_of_the_singular_vectors() -> None:
    points = np.random.default_rng(0).standard_normal((30, 20)) * np.r_[9, 5, np.full(18, 0.1)]
    planes = Planes(Directions.PCA, 0)
    assert planes.fit([path("ps", points)])
    expected = np.linalg.svd(points - points[-1])[2][:2]
    np.testing.assert_allclose(np.abs(planes.plane.directions @ expected.T), np.eye(2), atol=1e-9)
    np.testing.assert_allclose(np.abs(planes.plane.project(points)), np.abs((points - points[-1]) @ expected.T), atol=1e-9)


def test_it_stands_still_while_it_is_nearly_the_best_and_is_another_where_it_is_not() -> None:
    rng = np.random.default_rng(1)
    planes = Planes(Directions.PCA, 0)
    along = rng.standard_normal((20, 12)) * np.r_[5, 3, np.full(10, 0.01)]
    planes.fit([path("ps", along)])
    before = planes.plane.directions
    assert not planes.fit([path("ps", along * 1.1)])
    assert planes.plane.directions is before
    away = np.concatenate([along, along[:, ::-1] * 9])
    assert planes.fit([path("ps", away)])
    np.testing.assert_allclose(planes.plane.directions @ planes.plane.directions.T, np.eye(2), atol=1e-9)
    assert sum(planes.plane.shares) > 0.9


def test_what_went_to_the_right_does_so_in_the_next_plane_too() -> None:
    planes = Planes(Directions.PCA, 0)
    line = np.outer(np.linspace(1, 0, 9), [4.0, 1, 0, 0])
    planes.fit([path("ps", line)])
    before = planes.plane.directions
    assert planes.fit([path("ps", line), path("worker:0", np.outer(np.linspace(1, -1, 9), [-1.0, 0, 9, 0]))])
    assert (np.sum(planes.plane.directions * before, axis=1) >= 0).all()


def test_random_directions_are_orthonormal_stay_for_good_and_are_those_of_the_seed() -> None:
    points = np.random.default_rng(2).standard_normal((5, 40))
    one, again, other = (Planes(Directions.RANDOM, seed) for seed in (7, 7, 8))
    assert one.fit([path("ps", points[:1])]), "from the first point on"
    for planes in (again, other):
        planes.fit([path("ps", points)])
    np.testing.assert_allclose(one.plane.directions @ one.plane.directions.T, np.eye(2), atol=1e-12)
    np.testing.assert_array_equal(one.plane.directions, again.plane.directions)
    assert not np.allclose(one.plane.directions, other.plane.directions)
    before = one.plane
    assert not one.fit([path("ps", points * 100)])
    assert one.plane.directions is before.directions
    np.testing.assert_array_equal(one.plane.origin, points[0])


def test_of_many_points_some_are_fitted_and_the_last_is_among_them() -> None:
    points = np.random.default_rng(3).standard_normal((5 * FITTED, 3))
    planes = Planes(Directions.PCA, 0)
    planes.fit([path("ps", points)])
    np.testing.assert_array_equal(planes.plane.origin, points[-1])


def test_where_nobody_knows_the_ps_the_plane_goes_through_the_middle_of_the_replicas() -> None:
    planes = Planes(Directions.PCA, 0)
    planes.fit([path("worker:0", [[0, 0, 0], [2, 0, 0]]), path("worker:1", [[0, 0, 0], [0, 4, 0]])])
    np.testing.assert_allclose(planes.plane.origin, [1, 2, 0])


def test_a_window_has_all_points_stays_while_they_fit_and_grows_and_shrinks_with_them() -> None:
    rng = np.random.default_rng(4)
    points = rng.uniform(-1, 1, (50, 2))
    first = window_for(points, None)
    assert first.left < points[:, 0].min()
    assert first.top > points[:, 1].max()
    assert window_for(points * 0.9, first) is first
    assert window_for(np.concatenate([points, [[first.right, 0]]]), first).right > first.right
    small = window_for(points * 0.1, first)
    assert small.right - small.left < 0.2 * (first.right - first.left)


@pytest.mark.parametrize("points", [[[2.0, 3.0]], [[0.0, 0.0], [6.0, 0.0]]])
def test_points_on_a_line_or_on_one_spot_have_a_window_too(points) -> None:
    window = window_for(np.array(points), None)
    wide, high = window.right - window.left, window.top - window.bottom
    assert 0 < wide <= FLATTEST * high * 1.001
    assert high > 0
    xs, ys = ticks_of(Window(0, 2, 4, 8), 3)
    assert (xs.tolist(), ys.tolist()) == ([0, 1, 2], [4, 6, 8])
