"""The ring: against a plain list, and under threads."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import UsageError
from pslab.trace.recorder import Recorder

PAIR = np.dtype([("who", "i4"), ("value", "i8")])


@given(st.integers(1, 5), st.lists(st.one_of(st.integers(1, 12), st.just("read")), max_size=12))
def test_a_reader_gets_every_record_once_or_is_told_of_it(capacity, script):
    recorder = Recorder(PAIR, capacity)
    written, cursor = [], 0
    for action in [*script, "read"]:
        if action != "read":
            for _ in range(action):
                recorder.append((1, len(written)))
                written.append(len(written))
            continue
        unread = written[cursor:]
        records, cursor, lost = recorder.since(cursor)
        assert records["value"].tolist() == unread[-capacity:]
        assert lost == len(unread) - len(records)
        assert cursor == len(written)


def test_what_was_fetched_is_a_copy():
    recorder = Recorder(PAIR, 1)
    recorder.append((1, 1))
    records, _, _ = recorder.since(0)
    recorder.append((2, 2))
    assert records.tolist() == [(1, 1)]


@pytest.mark.parametrize("cursor", [-1, 2])
def test_a_foreign_cursor_is_refused(cursor):
    recorder = Recorder(PAIR, 4)
    recorder.append((1, 1))
    with pytest.raises(UsageError, match=f"cursor {cursor} .* had 1 records"):
        recorder.since(cursor)


def test_a_record_that_does_not_fit_changes_nothing():
    recorder = Recorder(PAIR, 4)
    with pytest.raises(ValueError):
        recorder.append((1, 2, 3))
    assert recorder.since(0).cursor == 0


def test_room_for_nothing_is_refused():
    with pytest.raises(UsageError, match="at least 1 record, not 0"):
        Recorder(PAIR, 0)


def test_many_threads_write_while_one_reads():
    writers, each = 4, 2000
    recorder = Recorder(PAIR, writers * each)

    def write(who):
        for value in range(each):
            recorder.append((who, value))

    threads = [threading.Thread(target=write, args=[who], daemon=True) for who in range(writers)]
    for thread in threads:
        thread.start()
    cursor, seen = 0, []
    while cursor < writers * each:
        records, cursor, lost = recorder.since(cursor)
        assert lost == 0
        seen += records.tolist()
        assert len(seen) == cursor
    for who in range(writers):
        assert [value for w, value in seen if w == who] == list(range(each))
