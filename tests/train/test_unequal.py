"""Workers with batches of their own sizes: the weighted mean is one process's gradient over all examples, and the plain mean is not."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from pslab.data.batches import Batches
from pslab.errors import UsageError
from pslab.train.commits import Differences, Elastic
from pslab.train.compression import Float16
from pslab.train.reading import Reading
from pslab.train.strategy import Replication, Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.train import reference
from tests.train.tasks import LocalTasks
from tests.train.test_values import data, model

SIZES = (12, 5, 3)


def trained(strategy: Strategy, steps: int, ps: int = 1, reading: Reading = Reading.FEEDING, **division):
    with LocalTasks(ps, 3) as tasks:
        trainer = Trainer(tasks, data("float64"), model("momentum"), strategy, SIZES, 3, reading, **division)
        initial = trainer.parameters()
        trainer.train(steps)
        status = trainer.wait(timeout=60)
        assert (status.state, status.global_step) == ("done", steps), status
        trainer.stop()  # a step is recorded when it is answered
        parameters, records = trainer.parameters(), trainer.records()
        trainer.close()
    return initial, parameters, records


def one_process(initial: reference.Parameters, steps: int) -> reference.Parameters:
    dataset = data("float64")
    return reference.train(initial, Batches(dataset.x_train, dataset.y_train, sum(SIZES), seed=3), reference.momentum(0.05), steps)[0]


def distance(one: reference.Parameters, other: reference.Parameters) -> float:
    return max(float(np.abs(one[name] - other[name]).max()) for name in reference.NAMES)


WEIGHTED = [
    Strategy(update=Sync(aggregation="weighted")),
    Strategy(update=KAsync(3, aggregation="weighted")),
    Strategy(Replication.IN_GRAPH, Sync(aggregation="weighted")),
]


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize("strategy", WEIGHTED, ids=str)
def test_the_weighted_mean_is_one_process_over_all_examples(strategy, ps):
    initial, found, _ = trained(strategy, 40, ps)
    assert distance(found, one_process(initial, 40)) < 1e-9


@pytest.mark.parametrize("replication", list(Replication))
def test_the_plain_mean_is_not(replication):
    initial, found, _ = trained(Strategy(replication, Sync()), 40)
    assert distance(found, one_process(initial, 40)) > 1e-3


def test_weighted_commits_of_several_steps_are_one_process_over_all_their_examples():
    initial, found, _ = trained(Strategy(update=Sync(aggregation="weighted"), commit_every=4), 10)
    dataset = data("float64")
    stream = Batches(dataset.x_train, dataset.y_train, sum(SIZES), seed=3)
    rounds = (tuple(np.concatenate(part) for part in zip(*itertools.islice(stream, 4), strict=True)) for _ in range(10))
    assert distance(found, reference.train(initial, rounds, reference.momentum(0.05), 10)[0]) < 1e-9


@pytest.mark.parametrize("commit", [Differences(), Elastic(0.2)], ids=str)
@pytest.mark.parametrize("every", [1, 3])
def test_what_is_no_gradient_is_weighed_too(commit, every):
    """With one ps update: Σ nᵢ·dᵢ / Σ n, of which d is known from a training of one worker alone."""
    initial, found, _ = trained(Strategy(update=Sync(aggregation="weighted"), commit_every=every, commit=commit), 1)
    plain = trained(Strategy(update=Sync(aggregation="sum"), commit_every=every, commit=commit), 1)[1]
    alone = []
    for worker in range(3):
        dataset, parameters = data("float64"), initial
        batches = Batches(dataset.x_train, dataset.y_train, SIZES, 3, worker, 3)
        parameters, _ = reference.train(parameters, batches, reference.momentum(0.05), every)
        strength = commit.alpha if isinstance(commit, Elastic) else 1.0
        alone.append({name: strength * (parameters[name] - initial[name]) for name in reference.NAMES})
    weighed = {n: initial[n] + sum(size * moved[n] for size, moved in zip(SIZES, alone, strict=True)) / sum(SIZES) for n in reference.NAMES}
    assert distance(found, weighed) < 1e-9
    assert distance(plain, {n: initial[n] + sum(moved[n] for moved in alone) for n in reference.NAMES}) < 1e-9


@pytest.mark.parametrize("strategy", WEIGHTED, ids=str)
def test_what_is_weighed_can_be_compressed(strategy):
    initial, found, _ = trained(Strategy(strategy.replication, strategy.update, compression=Float16()), 10)
    assert distance(found, one_process(initial, 10)) < 1e-2


@pytest.mark.parametrize("reading", list(Reading))
@pytest.mark.parametrize("strategy", [Strategy(), Strategy(update=SSP(1)), Strategy(Replication.IN_GRAPH, Async())], ids=str)
def test_workers_with_shares_and_sizes_of_their_own_train_in_every_reading(strategy, reading):
    _, _, records = trained(strategy, 60, reading=reading, shares=[0.5, 0.3, 0.2])
    assert set(records["worker"]) == {0, 1, 2}
    assert np.isfinite(records["loss"]).all()


@pytest.mark.parametrize("make", [Async, lambda **fields: SSP(2, **fields)])
def test_what_is_applied_by_itself_cannot_be_weighed(make):
    with pytest.raises(UsageError, match="by itself: there are no others that it could be weighed against"):
        make(aggregation="weighted")


def test_a_list_that_no_longer_fits_is_refused_before_anything_changes():
    with LocalTasks(1, 3) as tasks:
        trainer = Trainer(tasks, data("float64"), model("sgd"), Strategy(), SIZES)
        trainer.train(10)
        trainer.wait(timeout=60)
        with pytest.raises(UsageError, match="batch_size has 3 numbers, but there are 2 workers"):
            trainer.resize(lambda: tasks.scale(1, 2), 2)
        assert tasks.workers == 3
        trainer.resize(lambda: tasks.scale(2, 3), 3)
        trainer.train(10)
        assert trainer.wait(timeout=60).global_step == 20
        trainer.close()
