"""Which checkpoints a saver keeps, as a table of times."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.checkpoint.retention import Retention
from pslab.errors import UsageError

HOUR = 3600.0


def write(kept: Retention, prefix: str, now: float) -> list[str]:
    """Note a checkpoint; returns what is to be deleted."""
    kept.record(prefix, now)
    return kept.obsolete()


def test_the_oldest_go():
    kept = Retention(2, 10_000, now=0)
    assert [write(kept, p, t) for t, p in enumerate("abcd")] == [[], [], ["a"], ["b"]]
    assert kept.prefixes == ["c", "d"]


def test_one_that_is_written_again_becomes_the_newest():
    kept = Retention(2, 10_000, now=0)
    assert [write(kept, p, t) for t, p in enumerate("abac")] == [[], [], [], ["b"]]
    assert kept.prefixes == ["a", "c"]


def test_none_and_zero_keep_all_and_remember_none():
    for keep in (None, 0):
        kept = Retention(keep, 10_000, now=0)
        assert [write(kept, p, 0) for p in "abc"] == [[], [], []]
        assert kept.prefixes == []


def test_one_is_spared_each_time_the_hours_have_passed():
    kept = Retention(1, 2, now=0)
    times = {"a": 1 * HOUR, "b": 2.5 * HOUR, "c": 3 * HOUR, "d": 4.5 * HOUR, "e": 5 * HOUR}
    assert [write(kept, p, t) for p, t in times.items()] == [[], ["a"], [], ["c"], []]


def test_those_taken_over_go_in_their_turn():
    kept = Retention(2, 10_000, now=0)
    kept.remember([("a", 0), ("b", 1), ("c", 2)])
    assert write(kept, "d", 3) == ["a", "b"]


def test_what_could_not_be_told_to_be_deleted_goes_the_next_time():
    kept = Retention(1, 10_000, now=0)
    for time, prefix in enumerate("abc"):
        kept.record(prefix, time)
        assert kept.newest == [prefix]
    assert kept.prefixes == ["a", "b", "c"]
    assert kept.obsolete() == ["a", "b"]
    assert kept.obsolete() == []


@pytest.mark.parametrize("keep", [-1, 2.5, "5"])
def test_a_number_to_keep_that_is_none_is_refused(keep):
    with pytest.raises(UsageError, match=r"max_to_keep is a whole number from 0 on, or None; found"):
        Retention(keep, 10_000, now=0)


@given(st.integers(1, 4), st.lists(st.sampled_from("abcdef"), max_size=20))
def test_as_many_are_kept_as_asked_and_none_is_lost(keep, written):
    kept, there = Retention(keep, 10_000, now=0), set()
    for time, prefix in enumerate(written):
        there.add(prefix)
        there -= set(write(kept, prefix, time))
        assert there == set(kept.prefixes)
        assert kept.prefixes[-1] == prefix
    assert len(there) == min(keep, len(set(written)))
