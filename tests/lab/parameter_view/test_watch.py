"""What is told of the paths and of the surface, on real trainings, against closed forms."""

from __future__ import annotations

import json
from dataclasses import replace
from time import monotonic
from types import SimpleNamespace

import numpy as np
import pytest

import pslab as tf
from pslab.data.datasets import Dataset
from pslab.lab.parameter_view.budget import Budget
from pslab.lab.parameter_view.follow import ROUNDS, SHARE
from pslab.lab.parameter_view.surface import GRID
from pslab.lab.parameter_view.watch import BEAT_S, COLUMNS, LATEST, LATEST_ROUNDS, ParameterWatch
from pslab.lab.parameter_view.window import ticks_of
from pslab.train.commits import Differences, Elastic
from pslab.train.distances import PS
from pslab.train.landscape import Glimpse
from pslab.train.model import Model
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.trajectories import Directions, Trajectories, flat
from pslab.train.updates import RingAllReduce, Sync
from tests.train.tasks import LocalTasks

RNG = np.random.default_rng(0)
X = RNG.standard_normal((64, 5))
DATA = Dataset("plane", X, X @ np.arange(1.0, 6.0)[:, None] + RNG.standard_normal((64, 1)), X[:8], X[:8] @ np.ones((5, 1)))


def regression(x, y):
    w = tf.Variable(np.zeros((5, 1)), name="w")
    return tf.reduce_mean(tf.square(tf.subtract(tf.matmul(x, w), y))), {}


def wide(x, y):
    w = tf.Variable(np.zeros((1, 2)), name="w")
    return tf.reduce_mean(tf.square(tf.subtract(tf.multiply(w, x), y))), {}


class Clocked:
    """A watch over a training, whose clock goes as it is told."""

    def __init__(self, trainer: Trainer, strategy: Strategy) -> None:
        self.lab = SimpleNamespace(trainer=trainer, strategy=strategy)
        self.now = 0.0
        self.watch = ParameterWatch(self.lab, self.now)
        self.watch._follower._budget = Budget(1.0, 600.0, self.now)  # what looking may cost is another test's

    def look(self) -> bool:
        """Look after a second, when the trainer has seen what has happened and the replicas have their answers."""
        self.lab.trainer.status()
        if not self.lab.strategy.resident:
            self.lab.trainer.replicas()
        self.now += 1.0
        return self.watch.look(self.now)

    def told(self) -> dict:
        return self.watch.next(self.now)[0]


@pytest.fixture
def start():
    with LocalTasks(ps=1, workers=2) as tasks:
        trainers = []

        def make(strategy: Strategy, rate: float = 0.02) -> Clocked:
            trainers.append(Trainer(tasks, DATA, Model(regression, learning_rate=rate), strategy, 4))
            return Clocked(trainers[-1], strategy)

        yield make
        for trainer in trainers:
            trainer.close()


def column(rows, name: str):
    return rows[:, COLUMNS.index(name)]


def test_the_paths_are_projections_of_the_parameters(start) -> None:
    clocked = start(Strategy(update=Sync()))
    trainer, watch = clocked.lab.trainer, clocked.watch
    watch.choose(Directions.RANDOM, seed=5)
    thetas = []
    for _ in range(4):
        trainer.step()
        thetas.append(trainer.parameters()["w"].ravel())
        assert clocked.look()
    rows = watch.picture.trails[PS]
    drawn = np.random.default_rng(5).standard_normal((2, 5))
    first = drawn[0] / np.linalg.norm(drawn[0])
    second = drawn[1] - (drawn[1] @ first) * first
    second /= np.linalg.norm(second)
    expected = np.array([[(theta - thetas[0]) @ first, (theta - thetas[0]) @ second] for theta in thetas])
    np.testing.assert_allclose(rows[:, :2], expected, atol=1e-6)
    assert column(rows, "step").tolist() == [1, 2, 3, 4]
    records = trainer.records()
    for worker in (0, 1):
        mine = watch.picture.trails[f"worker:{worker}"]
        for step, loss in zip(column(mine, "step")[-3:], column(mine, "loss")[-3:], strict=True):
            known = records[(records["worker"] == worker) & (records["global_step"] == step)]["loss"]
            assert loss == pytest.approx(known[0], rel=1e-6)


def test_by_pca_and_at_random_it_is_the_same_training_and_the_choice_is_told(start) -> None:
    clocked = start(Strategy(update=Sync()))
    for _ in range(5):
        clocked.lab.trainer.step()
        clocked.look()
    by_pca = clocked.watch.picture
    assert clocked.told()["directions"] == "pca"
    assert sum(by_pca.view.plane.shares) > 0.95
    clocked.watch.choose(Directions.RANDOM)
    assert clocked.look()
    at_random = clocked.watch.picture
    assert clocked.told()["directions"] == "random"
    assert {name: len(rows) for name, rows in at_random.trails.items()} == {name: len(rows) for name, rows in by_pca.trails.items()}
    assert sum(at_random.view.plane.shares) < sum(by_pca.view.plane.shares)


def test_elastic_averaging_pulls_the_replicas_together_by_alpha_at_each_commit(start) -> None:
    clocked = start(Strategy(update=Sync(), commit_every=3, commit=Elastic(0.3)))
    clocked.watch.choose(Directions.RANDOM)
    for _ in range(5):
        clocked.lab.trainer.step()
        clocked.look()
    one, other = (clocked.watch.picture.trails[f"worker:{k}"].astype(float) for k in (0, 1))
    commits = np.flatnonzero(column(one, "commit"))
    assert len(commits) == 5
    np.testing.assert_array_equal(column(one, "commit"), column(other, "commit"))
    apart = np.linalg.norm(one[:, :2] - other[:, :2], axis=1)
    for commit in commits[:-1]:
        assert apart[commit + 1] == pytest.approx(0.7 * apart[commit], rel=1e-3)
        assert apart[commit] > 0.01
    at_commits, after_the_pull = clocked.watch._follower.spread
    assert after_the_pull < at_commits


def test_local_sgd_brings_all_to_the_ps_at_each_commit(start) -> None:
    clocked = start(Strategy(update=Sync(), commit_every=4, commit=Differences()))
    for _ in range(4):
        clocked.lab.trainer.step()
        clocked.look()
    trails = clocked.watch.picture.trails
    one, other = trails["worker:0"], trails["worker:1"]
    pulled = np.flatnonzero(column(one, "commit"))[:-1]
    np.testing.assert_allclose(one[pulled + 1, :2], other[pulled + 1, :2], atol=1e-6)
    np.testing.assert_allclose(one[pulled + 1, :2], trails[PS][:-1][-len(pulled) :, :2], atol=1e-6)
    assert (np.linalg.norm(one[pulled, :2] - other[pulled, :2], axis=1) > 1e-3).all()
    assert clocked.told()["spread"][1] == pytest.approx(0, abs=1e-9)
    assert clocked.watch._follower.spread[0] > 1e-3


def test_the_surface_is_the_loss_of_the_model_in_the_plane_through_the_ps(start) -> None:
    clocked = start(Strategy(update=Sync()))
    for _ in range(3):
        clocked.lab.trainer.step()
        clocked.look()
    assert clocked.watch.survey(clocked.now)
    surface, view = clocked.watch.surface, clocked.watch.picture.view
    theta = clocked.lab.trainer.parameters()["w"].ravel()
    here = view.plane.project(theta)
    xs, ys = ticks_of(surface.view.window, GRID)
    assert xs[0] < view.window.left
    assert ys[-1] > view.window.top
    for row, column_ in ((0, 0), (3, 9), (GRID - 1, 5)):
        point = theta + (np.array([xs[column_], ys[row]]) - here) @ view.plane.directions
        expected = np.mean((DATA.x_test @ point[:, None] - DATA.y_test) ** 2)
        assert surface.losses[row, column_] == pytest.approx(expected, rel=1e-6)
    assert not clocked.watch.survey(clocked.now), "it is there already"
    clocked.watch.choose(Directions.RANDOM)
    clocked.look()
    assert clocked.told()["surface"] is None, "of another plane"
    assert clocked.watch.survey(clocked.now)
    assert clocked.told()["surface"]["grid"] == GRID


def test_a_surface_is_taken_anew_where_the_parameters_have_left_it_and_seldom_while_it_trains(start) -> None:
    clocked = start(Strategy(), rate=1e-5)
    trainer, watch = clocked.lab.trainer, clocked.watch
    trainer.train(10**9)
    taken = 0
    deadline = monotonic() + 60
    while len(watch.picture.trails.get(PS, ())) < 20:
        assert monotonic() < deadline
        clocked.look()
        taken += watch.survey(clocked.now)
    watch._surfaces.spend(10.0)
    watch.surface = None
    assert not watch.survey(clocked.now)
    watch.choose(Directions.RANDOM)
    clocked.look()
    assert watch.survey(clocked.now), "who chooses does not wait"
    watch.surface = None
    assert not watch.survey(clocked.now)
    trainer.pause()
    assert watch.survey(clocked.now), "at rest it costs nobody anything"
    assert taken >= 1


def test_a_hundred_thousand_looks_leave_no_more_than_is_kept_the_latest_close_together() -> None:
    seen = Trajectories(most=ROUNDS)
    for step in range(100_000):
        seen.see(step, {"w": np.array([float(step)])}, ())
    (found,) = seen.paths()
    assert len(found.steps) <= ROUNDS
    assert found.steps[0] == 0
    assert found.steps[-ROUNDS // 2 :].tolist() == list(range(100_000 - ROUNDS // 2, 100_000))
    assert (np.diff(found.steps) > 0).all()
    np.testing.assert_array_equal(found.points[:, 0], found.steps)


def test_of_a_large_model_fewer_rounds_are_kept(start, monkeypatch) -> None:
    monkeypatch.setattr("pslab.lab.parameter_view.follow.ROOM", 5 * 5 * 10)
    clocked = start(Strategy(update=Sync()))
    for _ in range(14):
        clocked.lab.trainer.step()
        clocked.look()
    assert len(clocked.watch.picture.trails[PS]) <= 10


def test_the_latest_rounds_alone_can_be_seen(start) -> None:
    clocked = start(Strategy(update=Sync()))
    for _ in range(LATEST_ROUNDS + 4):
        clocked.lab.trainer.step()
        clocked.look()
    whole = clocked.watch.picture
    clocked.watch.choose(trail=LATEST)
    clocked.look()
    latest = clocked.watch.picture
    assert len(whole.trails[PS]) == LATEST_ROUNDS + 4
    assert len(latest.trails[PS]) == LATEST_ROUNDS
    assert latest.view.window.right - latest.view.window.left < whole.view.window.right - whole.view.window.left
    clocked.watch.choose(trail="of another version")
    assert clocked.watch.trail == LATEST


def test_it_is_told_what_has_changed_and_a_new_front_end_everything(start) -> None:
    clocked = start(Strategy(update=Sync()))
    first = clocked.told()
    assert first["window"] is None
    clocked.lab.trainer.step()
    clocked.look()
    clocked.watch.survey(clocked.now)
    changes, buffers = clocked.watch.next(clocked.now)
    json.dumps(changes, allow_nan=False)
    rows = np.frombuffer(buffers[changes["trails"]["buffer"]], np.float32).reshape(-1, len(COLUMNS))
    np.testing.assert_array_equal(rows, np.concatenate(list(clocked.watch.picture.trails.values())))
    assert changes["trails"]["names"] == ["worker:0", "worker:1", PS]
    assert "mode" not in changes
    assert clocked.watch.next(clocked.now) is None
    assert clocked.watch.next(clocked.now + BEAT_S) == ({}, [])
    clocked.watch.begin_anew()
    assert set(clocked.told()) == set(first)


def test_who_stands_still_is_not_looked_at_and_after_a_reset_all_is_forgotten(start) -> None:
    clocked = start(Strategy(update=Sync()))
    trainer, watch = clocked.lab.trainer, clocked.watch
    for _ in range(3):
        trainer.step()
        clocked.look()
    clocked.now += 100
    assert not watch.look(clocked.now)
    trainer.reset()
    clocked.now += 100
    assert watch.look(clocked.now)
    assert {name: column(rows, "step").tolist() for name, rows in watch.picture.trails.items()} == {PS: [0]}
    clocked.lab.trainer = None
    assert watch.look(clocked.now + 1)
    assert watch.picture.trails == {}
    assert watch.picture.view is None


def test_where_parameters_live_on_the_workers_the_ps_is_seen_at_rest_only(start) -> None:
    clocked = start(Strategy(update=RingAllReduce()))
    trainer, watch = clocked.lab.trainer, clocked.watch
    trainer.train(10**9)
    trainer.wait(5)
    clocked.look()
    assert watch.picture.trails == {}
    trainer.pause()
    assert clocked.look()
    rows = watch.picture.trails[PS]
    step = trainer.status().global_step
    assert column(rows, "step").tolist() == [step]
    np.testing.assert_allclose(watch.picture.view.base, flat(trainer.parameters()), rtol=1e-6)
    assert clocked.told()["resident"] is True


def test_another_model_begins_in_a_plane_of_its_own(start) -> None:
    clocked = start(Strategy(update=Sync()))
    clocked.lab.trainer.step()
    clocked.look()
    assert clocked.watch.picture.view.base.shape == (5,)
    with LocalTasks(ps=1, workers=2) as tasks:
        other = Trainer(tasks, Dataset("ones", *(np.ones((8, 2)),) * 4), Model(wide), Strategy(update=Sync()), 4)
        other.step()
        clocked.lab.trainer = other
        assert clocked.look()
        assert clocked.watch.picture.view.base.shape == (2,)
        assert column(clocked.watch.picture.trails[PS], "step").tolist() == [1]
        other.close()


def test_how_far_apart_they_are_is_told_of_one_round_of_all(start) -> None:
    clocked = start(Strategy(update=Sync(), commit_every=2, commit=Differences()))
    follower = clocked.watch._follower
    clocked.lab.trainer.step()
    clocked.look()
    before = follower.spread
    replicas = clocked.lab.trainer.replicas()
    both = np.array([replica.arrived["w"].ravel() for replica in replicas])
    assert before[0] == pytest.approx(np.linalg.norm(both[0] - both[1]) / 2, rel=1e-9)
    apart = [replicas[0], replace(replicas[1], global_step=replicas[1].global_step + 1, arrived={"w": np.full((5, 1), 99.0)})]
    follower._take(clocked.lab.trainer, Glimpse(1, None, apart))
    assert follower.spread == before


def test_who_chooses_while_a_surface_is_taken_has_the_one_that_was_chosen(start, monkeypatch) -> None:
    clocked = start(Strategy(), rate=1e-5)
    trainer, watch = clocked.lab.trainer, clocked.watch
    trainer.train(10**9)
    deadline = monotonic() + 60
    while len(watch.picture.trails.get(PS, ())) < 4:
        assert monotonic() < deadline
        clocked.look()
    watch._surfaces.spend(100.0)
    rows, take = [], trainer.surface

    def surface(*asked):
        if not rows:
            watch.choose(Directions.RANDOM)  # a click
            assert not watch.survey(clocked.now), "the picture is not drawn yet"
            clocked.look()
        rows.append(asked)
        return take(*asked)

    monkeypatch.setattr(trainer, "surface", surface)
    assert not watch.survey(clocked.now), "given up: it is of another plane"
    assert len(rows) == 1
    assert watch.survey(clocked.now)
    assert watch.surface.view.plane.directions is watch.picture.view.plane.directions


def test_while_it_trains_looks_are_rationed_and_where_it_has_come_to_rest_is_seen_all_the_same(start) -> None:
    clocked = start(Strategy(), rate=1e-5)
    trainer, watch = clocked.lab.trainer, clocked.watch
    watch._follower._budget = Budget(SHARE, 0.25, clocked.now)
    trainer.train(10**9)
    trainer.wait(5)
    watch._follower._budget.spend(100.0)
    clocked.look()  # sees that there is a training, and no more
    assert not clocked.look()
    assert watch.picture.trails == {}
    trainer.pause()
    assert clocked.look()
    assert column(watch.picture.trails[PS], "step").tolist() == [trainer.status().global_step]
