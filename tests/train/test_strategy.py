"""Strategies: one value, checked when it is made."""

import pickle

import pytest

from pslab.errors import UsageError
from pslab.train.strategy import ALL_MODES, Replication, Strategy
from pslab.train.updates import Async, Sync


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


def test_a_strategy_travels() -> None:
    strategy = Strategy(Replication.BETWEEN_GRAPH, Sync(backup=1))
    assert pickle.loads(pickle.dumps(strategy)) == strategy
    assert hash(strategy) == hash(Strategy(update=Sync(1)))
