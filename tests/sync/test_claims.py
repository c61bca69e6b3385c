"""Claims: exactly as many as the limit, none of an epoch that is over, and the time they stood still."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import CancelledError
from pslab.sync.claims import Claims


def begun(limit: int, granted: int = 0) -> Claims:
    claims = Claims()
    claims.begin("0", granted)
    claims.limit = limit
    return claims


def test_nothing_is_granted_before_a_limit_is_set() -> None:
    assert not begun(0).claim("0", 0)


def test_as_many_as_the_limit_are_granted_and_no_more() -> None:
    claims = begun(3)
    assert [claims.claim("0", t) for t in range(5)] == [True, True, True, False, False]
    assert claims.granted == 3


def test_counting_goes_on_from_the_global_step_at_which_an_epoch_begins() -> None:
    claims = begun(limit=12, granted=10)
    assert [claims.claim("0", 0) for _ in range(3)] == [True, True, False]


def test_a_claim_of_an_epoch_that_is_over_is_refused_and_takes_nothing() -> None:
    claims = begun(10)
    claims.begin("1", 4)
    with pytest.raises(CancelledError, match="epoch 0 of the training is over; this is epoch 1"):
        claims.claim("0", 0)
    assert claims.granted == 4


def test_a_claim_granted_and_not_used_is_forgotten_when_an_epoch_begins() -> None:
    claims = begun(10)
    claims.claim("0", 0)
    claims.begin("1", 0)
    claims.limit = 1
    assert claims.claim("1", 0)
    assert not claims.claim("1", 0)


def test_the_time_before_the_limit_counts_from_the_first_refusal_to_the_next_grant() -> None:
    claims = begun(0)
    claims.claim("0", 100)
    claims.claim("0", 150)
    claims.limit = 2
    assert claims.claim("0", 400)
    assert claims.paused_ns == 300
    assert claims.claim("0", 500)
    assert claims.paused_ns == 300


@given(st.lists(st.one_of(st.just("claim"), st.integers(0, 30)), max_size=60))
def test_whatever_the_limit_does_grants_never_go_above_it_nor_back(events: list[str | int]) -> None:
    claims = begun(0)
    for now, event in enumerate(events):
        before = claims.granted
        if isinstance(event, int):
            claims.limit = event
        elif claims.claim("0", now):
            assert before < claims.limit
            assert claims.granted == before + 1
        else:
            assert before >= claims.limit
            assert claims.granted == before


def test_a_claim_that_is_given_back_goes_to_another_and_one_of_an_old_epoch_counts_for_nothing() -> None:
    claims = begun(2)
    assert [claims.claim("0", 0) for _ in range(3)] == [True, True, False]
    claims.give_back("0")
    assert [claims.claim("0", 0) for _ in range(2)] == [True, False]
    claims.begin("1", 2)
    claims.give_back("0")
    assert claims.granted == 2


def test_an_epoch_that_has_ended_is_on_no_more_and_the_next_waits_for_a_limit_of_its_own() -> None:
    claims = begun(10)
    claims.check("0")
    claims.end()
    with pytest.raises(CancelledError):
        claims.check("0")
    claims.begin("1", 0)
    assert not claims.claim("1", 0)
