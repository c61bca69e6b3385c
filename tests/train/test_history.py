"""The records of all tasks, gathered, and read by who comes back with a place."""

from __future__ import annotations

import numpy as np

from pslab.trace.recorder import Fetched
from pslab.train import history
from pslab.train.history import History
from tests.trace.steps import steps


def fetched(history: History, numbers, task: str = "worker:0") -> None:
    history.add(task, Fetched(steps(numbers), history.cursors.get(task, 0) + len(numbers), 0))


def test_each_record_is_read_once_in_the_order_they_came() -> None:
    gathered = History(())
    assert len(gathered.since(None).records) == 0
    fetched(gathered, [1, 2, 3])
    first = gathered.since(None)
    assert first.records["global_step"].tolist() == [1, 2, 3]
    fetched(gathered, [7, 8])
    gathered.records()  # which puts them into one
    fetched(gathered, [5], "worker:1")
    second = gathered.since(first.place)
    assert (second.records["global_step"].tolist(), second.anew) == ([7, 8, 5], False)
    assert len(gathered.since(second.place).records) == 0


def test_a_place_in_another_history_is_none_in_this() -> None:
    old, new = History(()), History(())
    for gathered in (old, new):
        fetched(gathered, np.arange(10))
    news = new.since(old.since(None).place)
    assert news.anew
    assert len(news.records) == 10


def test_who_reads_too_seldom_loses_the_oldest(monkeypatch) -> None:
    monkeypatch.setattr(history, "LIMIT", 10)
    gathered = History(())
    fetched(gathered, [0, 1])
    place = gathered.since(None).place
    for begin in range(2, 40, 4):
        fetched(gathered, np.arange(begin, begin + 4))
    assert gathered.since(place).records["global_step"].tolist() == list(range(34, 42))


def test_steps_are_counted_by_worker_of_the_epoch_that_is_asked_for(monkeypatch) -> None:
    gathered = History(())
    gathered.add("worker:0", Fetched(steps([1, 2, 3, 4], worker=[0, 1, 1, 0], strategy=[0, 0, 1, 1]), 4, 0))
    assert [gathered.steps(0), gathered.steps(0), gathered.steps(1), gathered.steps(2)] == [{0: 1, 1: 1}, {0: 1, 1: 1}, {1: 1, 0: 1}, {}]
    assert gathered.steps(1) == {0: 1, 1: 1}
    monkeypatch.setattr(history, "LIMIT", 2)
    gathered.add("worker:1", Fetched(steps([5, 6, 7], worker=1, strategy=[0, 1, 1]), 3, 0))
    assert gathered.steps(1) == {0: 1, 1: 3}  # those that are kept no longer were steps, too
