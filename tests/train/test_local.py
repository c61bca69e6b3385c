"""Local updates: what copies of the parameters come to, against the same training written by hand."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from pslab.data.batches import Batches
from pslab.data.datasets import Dataset
from pslab.train.commits import Differences, Elastic, Gradients
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import Async, Sync
from tests.train import reference
from tests.train.tasks import LocalTasks

BATCH = 8
RULES: dict[str, tuple[float, Callable[[float], Callable]]] = {
    "sgd": (0.1, reference.sgd),
    "momentum": (0.05, reference.momentum),
    "adam": (0.01, reference.adam),
}
NAMES = reference.NAMES


def data() -> Dataset:
    rng = np.random.default_rng(5)
    x = rng.normal(size=(240, 6))
    y = (x[:, :2].sum(axis=1) > 0).astype(np.int64) + (x[:, 2] > 0.5)
    return Dataset("random", x[:200], y[:200], x[200:], y[200:])


def trained(strategy: Strategy, commits: int, workers: int = 2, ps: int = 1, rule: str = "sgd", batch: int = BATCH, seed: int = 7):
    """The initial parameters, those after so many commits, and the replicas as they came to the last."""
    with LocalTasks(ps, workers) as tasks:
        trainer = Trainer(tasks, data(), Model(MLP(3, [10]), optimizer=rule, learning_rate=RULES[rule][0], seed=seed), strategy, batch, data_seed=3)
        initial = trainer.parameters()
        trainer.train(commits)
        status = trainer.wait(timeout=60)
        assert (status.state, status.global_step) == ("done", commits), status
        parameters, replicas = trainer.parameters(), trainer.replicas()
        trainer.close()
    return initial, parameters, [dict(r.arrived) for r in replicas]


def shards(workers: int) -> list[Batches]:
    source = data()
    return [Batches(source.x_train, source.y_train, BATCH, 3, i, workers) for i in range(workers)]


def mean(points: list[reference.Parameters]) -> reference.Parameters:
    return {n: np.mean([p[n] for p in points], axis=0) for n in NAMES}


def assert_close(found: reference.Parameters, wanted: reference.Parameters, initial: reference.Parameters) -> None:
    for name in NAMES:
        np.testing.assert_allclose(found[name], wanted[name], rtol=0, atol=1e-9, err_msg=name)
        assert np.abs(wanted[name] - initial[name]).max() > 1e-4, "nothing was learnt"


@pytest.mark.parametrize("workers", [2, 3])
def test_local_sgd_with_one_step_is_sync(workers) -> None:
    """Not bit for bit: one takes the mean of gradients, the other that of differences between parameters, which are rounded otherwise."""
    initial, local, _ = trained(Strategy(update=Sync(), commit=Differences()), 40, workers)
    _, sync, _ = trained(Strategy(update=Sync()), 40, workers)
    assert_close(local, sync, initial)


@pytest.mark.parametrize("rule", list(RULES))
@pytest.mark.parametrize(("workers", "ps"), [(2, 1), (3, 2)])
def test_local_updates_average_replicas_which_keep_their_slots(workers, ps, rule) -> None:
    initial, parameters, replicas = trained(Strategy(update=Sync(), commit_every=8, commit=Differences()), 5, workers, ps, rule)
    rate, make = RULES[rule]
    rules, batches, wanted = [make(rate) for _ in range(workers)], shards(workers), initial
    for _ in range(5):
        arrived = [reference.train(wanted, b, step, 8)[0] for b, step in zip(batches, rules, strict=True)]
        wanted = mean(arrived)
    assert_close(parameters, wanted, initial)
    for found, own in zip(replicas, arrived, strict=True):
        assert_close(found, own, initial)


def test_accumulated_gradients_are_those_of_a_larger_batch() -> None:
    """The mean, over workers, of means over steps at the same parameters."""
    initial, parameters, _ = trained(Strategy(update=Sync(), commit_every=4, commit=Gradients()), 10, ps=2)
    batches, wanted, step = shards(2), initial, reference.sgd(0.1)
    for _ in range(10):
        parts = [next(b) for b in batches for _ in range(4)]
        x, y = (np.concatenate(arrays) for arrays in zip(*parts, strict=True))
        wanted = step(wanted, reference.loss_and_gradients(wanted, x, y)[1])
    assert_close(parameters, wanted, initial)


@pytest.mark.parametrize("update", [Sync(), Async()])
def test_elastic_averaging_without_strength_leaves_everyone_alone(update) -> None:
    workers = 2 if isinstance(update, Sync) else 1
    initial, parameters, replicas = trained(Strategy(update=update, commit_every=3, commit=Elastic(0.0)), 6, workers)
    for name in NAMES:
        np.testing.assert_array_equal(parameters[name], initial[name])
    for found, batches in zip(replicas, shards(workers), strict=True):
        assert_close(found, reference.train(initial, batches, reference.sgd(0.1), 18)[0], initial)


@pytest.mark.parametrize("aggregation", ["mean", "sum"])
@pytest.mark.parametrize("rule", ["sgd", "momentum"])
def test_elastic_averaging_pulls_both_ways(rule, aggregation) -> None:
    strategy = Strategy(update=Sync(aggregation=aggregation), commit_every=4, commit=Elastic(0.2))
    initial, parameters, replicas = trained(strategy, 8, workers=3, ps=2, rule=rule)
    rate, make = RULES[rule]
    rules, batches, centre, points = [make(rate) for _ in range(3)], shards(3), initial, [initial] * 3
    for _ in range(8):
        arrived = [reference.train(p, b, step, 4)[0] for p, b, step in zip(points, batches, rules, strict=True)]
        pulls = [{n: 0.2 * (centre[n] - p[n]) for n in NAMES} for p in arrived]
        points = [{n: p[n] + pull[n] for n in NAMES} for p, pull in zip(arrived, pulls, strict=True)]
        share = 3 if aggregation == "mean" else 1
        centre = {n: centre[n] - sum(pull[n] for pull in pulls) / share for n in NAMES}
    assert_close(parameters, centre, initial)
    for found, own in zip(replicas, arrived, strict=True):
        assert_close(found, own, initial)


def test_the_outer_step_of_diloco_is_nesterovs() -> None:
    initial, parameters, _ = trained(Strategy(update=Sync(), commit_every=5, commit=Differences(rate=0.7, momentum=0.9)), 6, ps=2, rule="adam")
    rules, batches, wanted = [reference.adam(0.01) for _ in range(2)], shards(2), initial
    velocity = {n: np.zeros_like(initial[n]) for n in NAMES}
    for _ in range(6):
        average = mean([reference.train(wanted, b, step, 5)[0] for b, step in zip(batches, rules, strict=True)])
        outer = {n: wanted[n] - average[n] for n in NAMES}
        velocity = {n: 0.9 * velocity[n] + outer[n] for n in NAMES}
        wanted = {n: wanted[n] - 0.7 * (outer[n] + 0.9 * velocity[n]) for n in NAMES}
    assert_close(parameters, wanted, initial)


def test_downpour_with_one_worker_is_sgd() -> None:
    initial, parameters, _ = trained(Strategy(update=Async(), commit_every=6, commit=Differences()), 7, workers=1)
    assert_close(parameters, reference.train(initial, shards(1)[0], reference.sgd(0.1), 42)[0], initial)


def test_own_starts_are_each_replicas_own_and_the_same_again_by_seed() -> None:
    strategy = Strategy(update=Sync(), commit_every=1, commit=Differences(own_start=True))
    _, parameters, first = trained(strategy, 1, workers=3)
    again, other = trained(strategy, 1, workers=3)[2], trained(strategy, 1, workers=3, seed=8)[2]
    weights = "hidden_0/weights"
    for i in range(3):
        for name in NAMES:
            np.testing.assert_array_equal(first[i][name], again[i][name])
        assert np.abs(first[i][weights] - other[i][weights]).max() > 0.1
        assert np.abs(first[i][weights] - first[i - 1][weights]).max() > 0.1
    for name in NAMES:
        np.testing.assert_allclose(parameters[name], mean(first)[name], rtol=0, atol=1e-12)
