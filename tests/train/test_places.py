"""Places in data that end: kept over changes of mode, and no example twice."""

from __future__ import annotations

import pytest

from pslab.data.division import Division
from pslab.errors import UsageError
from pslab.train.collective import RingAllReduce
from pslab.train.places import DataPlace, Places, told
from pslab.train.strategy import Strategy
from pslab.train.updates import Async, Sync

FINITE = Division(10, None, passes=2)


def seen(*batches: int, out: tuple[int, ...] = ()) -> Places:
    places = Places(FINITE)
    places.begin([0] * len(batches), 0)
    places.note(DataPlace(w, n, 10 * n, w in out) for w, n in enumerate(batches))
    return places


def test_where_data_do_not_end_there_is_nothing_to_keep() -> None:
    assert Places(Division(10)).next(3) == ()
    assert Places(FINITE).next(3) == (0, 0, 0)


def test_what_was_applied_as_it_came_is_not_had_again() -> None:
    places = seen(7, 3)
    places.end(Strategy(update=Async()), step=10)
    assert places.next(2) == (7, 3)


@pytest.mark.parametrize(("every", "step", "found"), [(1, 4, (4, 3)), (2, 2, (4, 3)), (1, 5, (5, 3))])
def test_what_was_in_flight_at_the_end_of_a_gathered_epoch_is_had_again(every, step, found) -> None:
    """A worker commits once per update at most: the fifth batch is in no update if there were four."""
    places = seen(5, 3)
    places.end(Strategy(update=Sync(), commit_every=every), step)
    assert places.next(2) == found
    assert [p.examples for p in places.now()] == [10 * n for n in found]


def test_counting_begins_anew_with_each_epoch() -> None:
    places = seen(5, 5)
    places.end(Strategy(update=Async()), step=10)
    places.begin(places.next(2), 10)
    places.note([DataPlace(0, 8, 80, False), DataPlace(1, 7, 70, False)])
    places.end(Strategy(update=Sync()), step=12)
    assert places.next(2) == (7, 7)


def test_a_ring_ends_with_the_first_and_other_modes_with_the_last() -> None:
    ring, others = Strategy(update=RingAllReduce()), Strategy()
    assert [seen(4, 4, out=out).ended(mode, 2) for mode in (ring, others) for out in ((), (1,), (0, 1))] == [False, True, True, False, False, True]
    assert told(seen(4, 3, out=(1,)).now()) == "out of data: worker:1 after 3 steps (30 examples)"
    assert told(seen(4, 3).now()) == ""


def test_another_number_of_workers_fits_before_anything_was_taken() -> None:
    Places(FINITE).check(5)
    seen(0, 0).check(3)
    seen(4, 3).check(2)
    with pytest.raises(UsageError, match="2 workers are on their way through the data; who of 3 has had what"):
        seen(4, 3).check(3)
