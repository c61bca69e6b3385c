"""Replay: a run that raced, once more, bit for bit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pslab
from pslab.data.division import Division
from pslab.errors import DataLossError, UnimplementedError
from pslab.runtime.transport.network import Link, Network
from pslab.train.apply_log import ApplyLog, EpochLog
from pslab.train.fingerprint import fingerprint
from pslab.train.model import Model
from pslab.train.reading import Reading
from pslab.train.rehearsal import replay
from pslab.train.strategy import Strategy
from pslab.train.trainer import Trainer
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.train.replays import again, run, same
from tests.train.tasks import LocalTasks
from tests.train.test_consistency import quadratic
from tests.train.test_stepping import ONES
from tests.train.test_values import BATCH, data, model

RACES = [
    Strategy(),
    Strategy(update=SSP(1)),
    Strategy(update=Async(compensation=0.1, by_staleness=True)),
    Strategy(commit_every=3, commit=pslab.Differences()),
    Strategy(commit_every=2, commit=pslab.Elastic()),
    Strategy(update=KAsync(1)),
    Strategy(update=KAsync(2, aggregation="sum")),
    Strategy(update=Sync(backup=1)),
    Strategy(update=KAsync(2), commit_every=2, commit=pslab.Elastic()),
    Strategy("in-graph", Async()),
    Strategy("in-graph", SSP(1)),
]


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize("strategy", RACES, ids=str)
def test_a_race_is_replayed_bit_for_bit(strategy, ps) -> None:
    log, ends = run([strategy], ps, workers=3)
    same(again(log), ends[-1])


@pytest.mark.parametrize("rule", ["sgd", "adam"])
def test_a_change_of_mode_in_the_middle_and_any_step_of_it(rule) -> None:
    log, ends = run([Strategy(), Strategy(update=Sync()), Strategy(update=SSP(2))], ps=2, workers=2, trained=model(rule), steps=30)
    same(again(log, model(rule)), ends[2])
    same(again(log, model(rule), until=30), ends[0])
    same(again(log, model(rule), until=60), ends[1])


def test_until_any_step_gives_what_a_shorter_log_ends_with() -> None:
    log, _ = run([Strategy()], ps=1, workers=2, steps=20)
    epoch = log.epochs[0]
    for until in (1, 7, 19):
        cut = np.flatnonzero(epoch.orders[0] >= 0)[until - 1] + 1
        short = replace(log, epochs=[replace(epoch, last_step=until, orders=[epoch.orders[0][:cut]])])
        same(again(log, until=until), again(short))


def test_a_log_comes_back_from_its_file_and_what_is_none_is_refused(tmp_path) -> None:
    log, ends = run([Strategy(), Strategy(update=SSP(1))], ps=2, workers=2, steps=20)
    found = ApplyLog.load(log.save(tmp_path / "run.log"))
    same(found.beginning, log.beginning)
    assert [e.strategy for e in found.epochs] == [e.strategy for e in log.epochs]
    same(again(found), ends[-1])
    content = (tmp_path / "run.log").read_bytes()
    (tmp_path / "short").write_bytes(content[: len(content) // 2])
    with pytest.raises(DataLossError, match="short"):
        ApplyLog.load(tmp_path / "short")


C = 2
"""The chief of two workers, in orders: it updates, and counts."""


@pytest.mark.parametrize(
    ("update", "order", "wanted"),
    [
        # the second update is the mean of 0.9, computed at the first's, and of 1, which came too late for that
        (KAsync(1), [0, C, C, ~0, 1, 0, C, C], 0.9 - 0.1 * (0.9 + 1.0) / 2),
        (KAsync(1), [0, 1, C, C, ~0, 0, C, C], 0.9 - 0.1 * 0.9),
        # what comes too late is dropped; who comes twice is worker 1
        (Sync(backup=1), [0, C, C, 1, ~0, 0, C, C], 0.9 - 0.1 * 0.9),
        (Sync(backup=1), [0, C, C, 1, ~1, 1, C, C], 0.9 - 0.1 * 0.9),
    ],
)
def test_the_order_decides_which_contributions_make_an_update(update, order, wanted) -> None:
    trained = Model(quadratic(1.0), learning_rate=0.1)
    beginning, epoch = {"w": np.float64(1.0), "global_step": np.int64(0)}, EpochLog(Strategy(update=update), 0, 2, [np.array(order)])
    log = ApplyLog(1, 2, Division(4), Reading.FEEDING, fingerprint(ONES, trained), beginning, [epoch], {})
    with LocalTasks(1, 2) as tasks:
        found = replay(tasks, log, ONES, trained, timeout=60)
    assert float(found["w"]) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("strategy", [Strategy(), Strategy("in-graph", Async()), Strategy(update=SSP(1))], ids=str)
def test_a_log_of_a_pause_has_the_last_update_of_every_ps(strategy) -> None:
    with LocalTasks(2, 2) as tasks:
        far = Network().with_link(("worker:0", "ps:1"), Link(latency=0.3))
        for service in tasks.services.values():
            service.shape(far)
        trainer = Trainer(tasks, data("float32"), model("sgd"), strategy, BATCH, data_seed=3)
        trainer.step(4)
        log, parameters = trainer.log(), trainer.parameters()
        trainer.close()
    assert [len(log.epochs[0].updates(ps, 2)) for ps in range(2)] == [4, 4]
    same(again(log, model("sgd")), parameters)


def test_what_no_ledger_has_is_refused() -> None:
    log, _ = run([Strategy(update=Async(lock=False))], ps=1, workers=2, steps=10)
    with pytest.raises(UnimplementedError, match="run into each other"):
        again(log)
