"""Staleness, against the log: every record's is what follows from who read which version and who was applied when."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.train.apply_log import EpochLog
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.train.tasks import LocalTasks
from tests.train.test_values import BATCH, data, model


def trained(strategy: Strategy, ps: int, workers: int, steps: int):
    """The epoch's log, and its records in the order of the updates."""
    with LocalTasks(ps, workers) as tasks:
        trainer = Trainer(tasks, data("float32"), model("sgd"), strategy, BATCH)
        trainer.train(steps)
        assert trainer.wait(timeout=120).state == "done"
        trainer.stop()
        log, records = trainer.log(), trainer.records()
        trainer.close()
    return log.epochs[0], records[np.argsort(records["global_step"], kind="stable")]


def applications(order) -> list[tuple[int, int]]:
    """Of each update of a ps who made it, and how many others made since it had read: from the entries alone."""
    version, read_at, found = 0, {}, []
    for entry in order.tolist():
        if entry < 0:
            read_at[~entry] = version
        else:
            found.append((entry, version - read_at[entry]))
            version += 1
    return found


def handed_in(epoch: EpochLog, workers: int) -> dict[int, list[int]]:
    """Of each worker, how many updates the first ps had counted, as it brought a contribution, since it was answered last."""
    counted, chief, read_at, found = 0, 0, dict.fromkeys(range(workers), 0), {worker: [] for worker in range(workers)}
    for entry in epoch.orders[0].tolist():
        if entry == workers:
            chief += 1
            counted = chief // 2  # it makes an update, then it counts it
        elif entry < 0:
            read_at[~entry] = counted
        else:
            found[entry].append(counted - read_at[entry])
    return found


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize(
    "strategy", [Strategy(), Strategy("in-graph", Async()), Strategy(update=SSP(2)), Strategy("in-graph", SSP(2)), Strategy(commit_every=2)], ids=str
)
def test_every_staleness_is_that_of_the_interleaving(strategy, ps) -> None:
    epoch, records = trained(strategy, ps, workers=3, steps=200)
    commits = records[~np.isnan(records["staleness"])]
    wanted = applications(epoch.orders[0])
    assert list(zip(commits["worker"].tolist(), commits["staleness"].astype(int).tolist(), strict=True)) == wanted
    assert commits["global_step"].tolist() == list(range(1, 201))
    for order in epoch.orders:  # on each ps the same contributions, if in another order
        assert np.bincount(order[order >= 0]).tolist() == np.bincount(commits["worker"]).tolist()


@pytest.mark.parametrize("update", [KAsync(1), KAsync(2), Sync(backup=1)], ids=str)
def test_of_what_is_gathered_too(update) -> None:
    epoch, records = trained(Strategy(update=update), ps=2, workers=3, steps=150)
    for worker, wanted in handed_in(epoch, 3).items():
        found = records[records["worker"] == worker]
        found = found[np.argsort(found["step"])]["staleness"].astype(int).tolist()
        assert len(wanted) - 1 <= len(found) <= len(wanted)  # what it brought last may never have been answered
        assert found == wanted[: len(found)]


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize("workers", [2, 4])
def test_among_equal_workers_its_mean_is_how_many_others_there_are(workers, ps) -> None:
    """All updates between two of a worker's own are others': but for those after its last one, each update is between two of each other worker."""
    epoch, records = trained(Strategy(), ps, workers, steps=1500)
    stale, last = records["staleness"], [records["global_step"][records["worker"] == worker].max() for worker in range(workers)]
    assert stale.sum() == sum(last) - 1500
    assert stale.mean() == pytest.approx(workers - 1, rel=0.05)
    drawn = np.array([staleness for _, staleness in applications(epoch.orders[0])])
    np.testing.assert_array_equal(np.bincount(drawn), np.bincount(stale.astype(int)))
