"""Paths in a plane, over the loss: by closed form."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.data.datasets import Dataset
from pslab.errors import UsageError
from pslab.train.commits import Differences
from pslab.train.distances import PS, ReplicaParameters
from pslab.train.model import Model
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.trajectories import Directions, Path, Plane, Trajectories, flat, shaped, ticks_around
from pslab.train.updates import Sync
from tests.train.tasks import LocalTasks

ONES = Dataset("ones", np.ones((64, 1)), np.ones((64, 1)), np.ones((4, 1)), np.ones((4, 1)))


def bowl(x, y):
    """½ a² + 2 b²."""
    a, b = (tf.Variable(np.full((1,), 1.0), name=name) for name in "ab")
    return tf.reduce_sum(tf.add(tf.multiply(0.5, tf.square(a)), tf.multiply(2.0, tf.square(b)))), {}


def path(name: str, points) -> Path:
    return Path(name, np.arange(len(points)), np.array(points, float), np.zeros(len(points), bool))


def test_parameters_become_a_vector_and_come_back() -> None:
    parameters = {"b": np.arange(3, dtype=np.float32), "a": np.ones((2, 2))}
    vector = flat(parameters)
    assert vector.tolist() == [1, 1, 1, 1, 0, 1, 2]
    back = shaped(vector, parameters)
    for name, value in parameters.items():
        np.testing.assert_array_equal(back[name], value)
        assert back[name].dtype == value.dtype


def test_by_pca_distances_in_the_plane_are_true_where_all_points_lie_in_one() -> None:
    rng = np.random.default_rng(3)
    basis = np.linalg.qr(rng.standard_normal((50, 2)))[0].T
    flat_points = rng.standard_normal((20, 2)) * [5, 1]
    points = flat_points @ basis + 7
    plane = Plane.of([path(PS, points[:12]), path("worker:0", points[12:])])
    seen = plane.project(points)
    np.testing.assert_allclose(np.linalg.norm(seen[:, None] - seen, axis=2), np.linalg.norm(points[:, None] - points, axis=2), atol=1e-9)
    np.testing.assert_allclose(seen[11], 0, atol=1e-9)
    assert sum(plane.shares) == pytest.approx(1)
    assert plane.shares[0] > plane.shares[1]


def test_random_directions_are_orthonormal_and_fixed_by_the_seed() -> None:
    paths = [path(PS, np.random.default_rng(0).standard_normal((4, 9)))]
    one, again, other = (Plane.of(paths, Directions.RANDOM, seed) for seed in (1, 1, 2))
    np.testing.assert_allclose(one.directions @ one.directions.T, np.eye(2), atol=1e-12)
    np.testing.assert_array_equal(one.directions, again.directions)
    assert not np.allclose(one.directions, other.directions)


@pytest.mark.parametrize("points", [[[1, 2, 3]] * 4, [[0, 0, 0], [1, 1, 1], [2, 2, 2]]])
def test_points_on_a_line_or_on_one_spot_have_a_plane_too(points) -> None:
    plane = Plane.of([path(PS, points)])
    np.testing.assert_allclose(plane.directions @ plane.directions.T, np.eye(2), atol=1e-9)
    assert np.isfinite(plane.project(np.array(points, float))).all()


def test_a_replica_goes_from_where_it_began_to_its_commit_and_stays_until_the_next() -> None:
    def at(value: float) -> dict[str, np.ndarray]:
        return {"w": np.array([value])}

    seen = Trajectories()
    seen.see(1, at(0.0), [ReplicaParameters("worker:0", 1, at(0.0), at(2.0))])
    seen.see(2, at(1.0), [ReplicaParameters("worker:0", 1, at(0.0), at(2.0))])
    seen.see(3, at(1.5), [ReplicaParameters("worker:0", 3, at(1.0), at(3.0))])
    server, worker = seen.paths()
    assert (server.name, server.steps.tolist(), server.points[:, 0].tolist()) == (PS, [1, 2, 3], [0, 1, 1.5])
    assert (worker.steps.tolist(), worker.points[:, 0].tolist()) == ([1, 1, 3, 3], [0, 2, 1, 3])


def test_ticks_reach_beyond_all() -> None:
    ticks = ticks_around(np.array([1.0, 3.0]), 5)
    assert (ticks[0], ticks[-1], len(ticks)) == (pytest.approx(0.6), pytest.approx(3.4), 5)
    assert ticks_around(np.array([2.0, 2.0]), 3).tolist() == [1, 2, 3]


@pytest.fixture
def start():
    with LocalTasks(ps=1, workers=2) as tasks:
        trainers = []

        def make(strategy: Strategy) -> Trainer:
            trainers.append(Trainer(tasks, ONES, Model(bowl, learning_rate=0.1), strategy, 4))
            return trainers[-1]

        yield make
        for trainer in trainers:
            trainer.close()


def test_the_loss_is_that_of_the_points_of_the_plane_and_the_paths_are_those_of_the_training(start) -> None:
    trainer = start(Strategy(update=Sync()))
    found = trainer.landscape(looks=6)
    assert trainer.status().global_step == 6
    w = np.array([1.0, 1.0])
    points = [w]
    for _ in range(6):
        w = w - 0.1 * np.array([1.0, 4.0]) * w
        points.append(w)
    steps, coordinates = found.paths[PS]
    assert steps.tolist() == [0, 1, 2, 3, 4, 5, 6]
    plane = Plane.of([path(PS, points), path("worker:0", points[:-1]), path("worker:1", points[:-1])])
    np.testing.assert_allclose(coordinates, plane.project(np.array(points)), atol=1e-9)
    assert sum(found.shares) == pytest.approx(1)
    xs, ys = np.meshgrid(found.xs, found.ys)
    a, b = np.moveaxis(plane.origin + xs[..., None] * plane.directions[0] + ys[..., None] * plane.directions[1], -1, 0)
    np.testing.assert_allclose(found.losses, 0.5 * a**2 + 2 * b**2, rtol=1e-9)
    assert trainer.parameters()["a"] == pytest.approx(w[0])


def test_a_local_replica_begins_each_round_where_the_ps_is_and_ends_at_its_commit(start) -> None:
    trainer = start(Strategy(update=Sync(), commit_every=3, commit=Differences()))
    found = trainer.landscape(looks=3)
    steps, coordinates = found.paths["worker:1"]
    _, server = found.paths[PS]
    for step in (1, 2, 3):  # data are alike, so what all bring is what each has brought
        np.testing.assert_allclose(coordinates[steps == step][-1], server[step], atol=1e-9)
    np.testing.assert_allclose(coordinates[0], server[0], atol=1e-9)


def test_one_that_runs_goes_on(start) -> None:
    trainer = start(Strategy())
    trainer.train(1_000_000)
    trainer.landscape(looks=3, every=2)
    assert trainer.status().state == "running"


def test_what_cannot_be_drawn_is_refused(start) -> None:
    with pytest.raises(UsageError, match="at least 2 looks"):
        start(Strategy()).landscape(looks=1)
