"""Strategies: one value, checked when it is made."""

import pickle

import pytest

from pslab.errors import UsageError
from pslab.train.commits import Differences, Elastic
from pslab.train.compression import Int8, OneBit, TopK
from pslab.train.strategy import ALL_MODES, Replication, Strategy
from pslab.train.updates import SSP, Async, KAsync, Sync


def test_the_default_is_between_graph_async() -> None:
    assert Strategy() == Strategy(Replication.BETWEEN_GRAPH, Async())
    assert str(Strategy()) == "between-graph async"


def test_replication_is_parsed_once() -> None:
    assert Strategy("in_graph").replication is Replication.IN_GRAPH  # type: ignore[arg-type]


def test_there_are_four_modes() -> None:
    assert sorted(map(str, ALL_MODES)) == ["between-graph async", "between-graph sync", "in-graph async", "in-graph sync"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Strategy("sideways"), "replication must be between-graph or in-graph, found 'sideways'"),
        (lambda: Strategy(update="sync"), "update must be one of pslab.Sync.*, found 'sync'"),
        (lambda: Sync(backup=-1), "must be 0 or more, found -1"),
        (lambda: Strategy(commit="all"), "commit must be one of pslab.Gradients.*, found 'all'"),
        (lambda: Strategy(compression="top-k"), r"compression must be None, or such as pslab.TopK\(0.01\); found 'top-k'"),
        (lambda: Strategy(commit=Elastic(), compression=TopK()), "elastic averaging sends parameters, of which top-k 1 % would make others"),
        (lambda: Strategy(commit=Elastic(), compression=Int8(error_feedback=True)), "elastic averaging sends parameters"),
        (lambda: Strategy(commit_every=0), "commit_every must be a whole number from 1 on, found 0"),
        (lambda: Sync(aggregation="median"), "aggregation must be mean or sum or weighted, found 'median'"),
        (lambda: KAsync(0), r"KAsync\(k=…\) must be 1 or more, found 0"),
        (lambda: SSP(-1), r"SSP\(staleness=…\) must be 0 or more, found -1"),
        (lambda: Async(compensation=-1), r"Async\(compensation=…\) must be 0 or more, found -1"),
        (lambda: Async(compensation=1, lock=False), "delay compensation needs the parameters as they were read"),
        (lambda: Elastic(2), r"Elastic\(alpha=…\) must be from 0 to 1, found 2"),
        (lambda: Differences(rate=0), r"Differences\(rate=…\) must be positive, found 0"),
        (lambda: Differences(momentum=1), r"Differences\(momentum=…\) must be at least 0 and less than 1, found 1"),
        (lambda: Strategy(update=Async(compensation=1), commit=Differences()), "delay compensation is for gradients"),
        (lambda: Strategy(update=Async(aggregation="mean"), commit=Elastic()), "elastic averaging has its own strength"),
        (lambda: Strategy(Replication.IN_GRAPH, KAsync(2)), "in-graph replication has no 2-async"),
        (lambda: Strategy(Replication.IN_GRAPH, Async(lock=False)), "in-graph replication takes locks"),
        (lambda: Strategy(Replication.IN_GRAPH, commit_every=2), "in-graph replication commits the gradients of every step"),
        (lambda: Strategy(Replication.IN_GRAPH, Sync(backup=1)), "in-graph replication has no sync, 1 backup: its one step waits for every tower"),
    ],
)
def test_what_cannot_be_meant_is_refused(make, message) -> None:
    with pytest.raises(UsageError, match=message):
        make()


def test_backups_must_leave_somebody_to_wait_for() -> None:
    strategy = Strategy(update=Sync(backup=2))
    strategy.check(workers=3)
    with pytest.raises(UsageError, match="leaves no gradient to wait for with 2 workers"):
        strategy.check(workers=2)


def test_k_async_needs_as_many_workers() -> None:
    Strategy(update=KAsync(3)).check(workers=3)
    with pytest.raises(UsageError, match="would wait for ever with 2 workers"):
        Strategy(update=KAsync(3)).check(workers=2)


@pytest.mark.parametrize(
    ("strategy", "told"),
    [
        (Strategy(update=Sync(1, "sum")), "between-graph sync, 1 backup, sum"),
        (Strategy("in-graph", SSP(2)), "in-graph ssp, staleness 2"),
        (Strategy(update=KAsync(2)), "between-graph 2-async"),
        (Strategy(compression=TopK(0.05)), "between-graph async, top-k 5 %"),
        (Strategy("in-graph", Sync(), compression=OneBit()), "in-graph sync, one-bit"),
        (Strategy(update=Async(lock=False)), "between-graph async, no lock"),
        (Strategy(update=Async(by_staleness=True)), "between-graph async, rate by staleness"),
        (Strategy(update=Sync(), commit_every=4), "between-graph sync, gradients every 4 steps"),
        (Strategy(commit=Differences(0.7, 0.9)), "between-graph async, differences, outer rate 0.7, outer momentum 0.9"),
        (Strategy(commit_every=2, commit=Elastic(0.1)), "between-graph async, elastic, α 0.1 every 2 steps"),
    ],
)
def test_a_strategy_tells_what_it_is(strategy, told) -> None:
    assert str(strategy) == told


def test_a_strategy_travels() -> None:
    strategy = Strategy(Replication.BETWEEN_GRAPH, Sync(backup=1))
    assert pickle.loads(pickle.dumps(strategy)) == strategy
    assert hash(strategy) == hash(Strategy(update=Sync(1)))
