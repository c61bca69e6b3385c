"""The ledger: staleness, and an order from which everything follows."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pslab.sync.ledger import Entry, Ledger


def test_staleness_is_what_others_did_since_the_read() -> None:
    ledger = Ledger()
    for worker in (0, 1):
        ledger.read(worker, {})
    assert [ledger.apply(0), ledger.apply(0), ledger.apply(1)] == [0, 1, 2]
    ledger.read(1, {})
    assert ledger.apply(1) == 0
    assert ledger.updates == 4


def test_it_keeps_what_a_worker_saw_until_it_reads_again() -> None:
    ledger = Ledger()
    ledger.read(0, {"w": 1})
    ledger.read(1, {"w": 2})
    assert (ledger.seen(0), ledger.seen(1)) == ({"w": 1}, {"w": 2})
    ledger.read(0, {})
    assert ledger.seen(0) == {}


@given(st.lists(st.tuples(st.integers(0, 5), st.booleans()), max_size=100))
def test_it_gives_back_the_order_of_events(events) -> None:
    ledger = Ledger()
    for worker in range(6):
        ledger.read(worker, {})
    stale = []
    for worker, applied in events:
        if applied:
            stale.append(ledger.apply(worker))
        else:
            ledger.read(worker, {})
    begun = [Entry(w, False) for w in range(6)]
    assert list(ledger) == begun + [Entry(*e) for e in events]
    assert len(ledger) == 6 + len(events)
    read_at, updates, wanted = dict.fromkeys(range(6), 0), 0, []
    for entry in ledger:
        if entry.applied:
            wanted.append(updates - read_at[entry.worker])
            updates += 1
        else:
            read_at[entry.worker] = updates
    assert stale == wanted
