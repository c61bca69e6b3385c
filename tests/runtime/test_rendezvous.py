"""The rendezvous: sender and receiver may come in either order; a step that was given up leaves nothing."""

import threading

import numpy as np
import pytest

from pslab.errors import CancelledError
from pslab.runtime.rendezvous import Rendezvous, StepKey

STEP = StepKey(plan=1, step=7)
ARRAYS = (np.arange(3),)


def test_the_sender_may_come_first() -> None:
    rendezvous = Rendezvous()
    rendezvous.put(STEP, 0, ARRAYS, 24)
    assert rendezvous.take(STEP, 0, lambda: True) == (ARRAYS, 24)


def test_the_receiver_may_come_first() -> None:
    rendezvous = Rendezvous()
    found = []
    receiver = threading.Thread(target=lambda: found.append(rendezvous.take(STEP, 0, lambda: True)))
    receiver.start()
    rendezvous.put(STEP, 1, (), 0)
    rendezvous.put(StepKey(1, 8), 0, (), 0)
    rendezvous.put(STEP, 0, ARRAYS, 24)
    receiver.join(10)
    assert found == [(ARRAYS, 24)]


def test_what_was_taken_is_gone() -> None:
    rendezvous = Rendezvous()
    rendezvous.put(STEP, 0, ARRAYS, 24)
    rendezvous.take(STEP, 0, lambda: True)
    with pytest.raises(CancelledError):
        rendezvous.take(STEP, 0, lambda: False)


def test_a_receiver_whose_client_is_gone_stops_waiting() -> None:
    with pytest.raises(CancelledError, match="given up"):
        Rendezvous().take(STEP, 0, lambda: False)


def test_a_forgotten_step_keeps_nothing_and_takes_nothing_more() -> None:
    rendezvous = Rendezvous()
    rendezvous.put(STEP, 0, ARRAYS, 24)
    rendezvous.forget(STEP)
    rendezvous.put(STEP, 1, ARRAYS, 24)
    for cut in (0, 1):
        with pytest.raises(CancelledError):
            rendezvous.take(STEP, cut, lambda: False)
