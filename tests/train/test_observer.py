"""The observer: looking costs no more than its share."""

from hypothesis import given
from hypothesis import strategies as st

from pslab.train.observer import FIRST_INTERVAL_S, SHARE, Observer


def test_the_first_step_is_observed_and_then_not_before_the_interval_is_over() -> None:
    observer = Observer(10.0)
    assert observer.due(10.0)
    observer.note(10.0, 10.001, observed=True)
    assert not observer.due(10.001)
    assert observer.due(10.001 + FIRST_INTERVAL_S)


@given(usual=st.floats(1e-5, 0.1), extra=st.floats(0, 0.5))
def test_over_a_long_time_looking_takes_no_more_than_its_share(usual: float, extra: float) -> None:
    observer = Observer(0.0)
    now = spent = 0.0
    looks = 0
    while looks < 50:
        observed = observer.due(now)
        took = usual + (extra if observed else 0.0)
        observer.note(now, now + took, observed)
        now += took if observed else max(took, FIRST_INTERVAL_S / 10)  # skip the dull stretches
        spent += extra if observed else 0.0
        looks += observed
    assert spent <= 1.5 * SHARE * now + 2 * extra
