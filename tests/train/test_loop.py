"""Loops: turns until stopped, never a turn without a claim, no turn cut short that makes an update."""

import math
import threading
from time import monotonic

import pytest

from pslab.errors import CancelledError, InvalidArgumentError, OutOfRangeError
from pslab.train.loop import Loop
from tests.waiting import DEADLINE_S, until


class Turns:
    """Turns with doors, and the part they take: each claim and each take waits until it is let through."""

    def __init__(self, granted_next: bool = False) -> None:
        self.claims = threading.Semaphore(0)
        self.takes = threading.Semaphore(0)
        self.entered = threading.Semaphore(0)
        self.cancelled = threading.Event()
        self.claimed = self.taken = 0
        self.fail: Exception | None = None
        self.left: float = math.inf
        self.given_back: list[bool] = []
        self._granted_next = granted_next
        self.participant = self

    def claim(self) -> None:
        self._pass(self.claims)
        self.claimed += 1

    def take(self) -> bool:
        self._pass(self.takes)
        if self.fail is not None:
            raise self.fail
        self.taken += 1
        return self._granted_next

    def leave(self, claimed: bool) -> None:
        self.given_back.append(claimed)

    def cancel(self) -> None:
        self.cancelled.set()

    def _pass(self, door: threading.Semaphore) -> None:
        self.entered.release()
        deadline = monotonic() + DEADLINE_S
        while not door.acquire(timeout=0.005):
            if self.cancelled.is_set():
                raise CancelledError("cancelled")
            assert monotonic() < deadline


def entered(turns: Turns) -> None:
    assert turns.entered.acquire(timeout=DEADLINE_S)


def test_a_turn_is_claimed_before_it_is_taken() -> None:
    turns = Turns()
    loop = Loop("worker:0", turns)
    loop.start()
    for n in range(1, 4):
        entered(turns)
        assert (turns.claimed, turns.taken) == (n - 1, n - 1)
        turns.claims.release()
        entered(turns)
        assert (turns.claimed, turns.taken) == (n, n - 1)
        turns.takes.release()
    entered(turns)
    assert loop.status().state == "waiting"
    loop.stop(patience=0)
    assert loop.status().state == "stopped"
    assert loop.status().steps == 3


def test_a_turn_that_was_granted_by_the_one_before_is_not_claimed_again() -> None:
    turns = Turns(granted_next=True)
    loop = Loop("worker:0", turns)
    loop.start()
    turns.claims.release()
    for _ in range(3):
        turns.takes.release()
    for _ in range(5):  # one claim, three turns, and the beginning of the fourth
        entered(turns)
    assert turns.claimed == 1
    turns.cancelled.set()
    loop.stop(patience=0)


def test_a_stop_waits_for_the_turn_in_flight_of_a_loop_that_makes_updates() -> None:
    turns = Turns()
    loop = Loop("worker:0", turns)
    loop.start()
    turns.claims.release()
    entered(turns)
    entered(turns)
    stopper = threading.Thread(target=loop.stop, args=(DEADLINE_S,))
    stopper.start()
    stopper.join(0.1)
    assert stopper.is_alive()
    assert not turns.cancelled.is_set()
    turns.takes.release()
    stopper.join(DEADLINE_S)
    assert turns.taken == 1
    assert not turns.cancelled.is_set()


def test_a_stop_cuts_short_what_makes_no_updates() -> None:
    turns = Turns()
    loop = Loop("worker:0", turns, makes_updates=False)
    loop.start()
    turns.claims.release()
    entered(turns)
    entered(turns)
    loop.stop(patience=DEADLINE_S)
    assert turns.taken == 0
    assert loop.status().error is None


def test_patience_ends() -> None:
    turns = Turns()
    loop = Loop("worker:0", turns)
    loop.start()
    turns.claims.release()
    entered(turns)
    entered(turns)
    loop.stop(patience=0.05)
    assert turns.cancelled.is_set()
    assert loop.status().state == "stopped"


def test_a_failure_is_kept_and_ends_the_loop() -> None:
    turns = Turns()
    turns.fail = InvalidArgumentError("the loss is NaN")
    loop = Loop("worker:1", turns)
    loop.start()
    turns.claims.release()
    turns.takes.release()
    until(lambda: loop.status().state == "failed", "it does not fail")
    status = loop.status()
    assert status.name == "worker:1"
    assert status.error is turns.fail
    with pytest.raises(InvalidArgumentError):
        raise status.error


def out_of_data(turns: Turns) -> Loop:
    """The loop, when it is."""
    loop = Loop("worker:1", turns)
    loop.start()
    until(lambda: loop.status().out, "it goes on without data")
    assert (loop.status().state, loop.status().error) == ("out of data", None)
    return loop


def test_without_data_nothing_is_claimed() -> None:
    turns = Turns()
    turns.left = 0
    loop = out_of_data(turns)
    assert (turns.claimed, turns.taken, turns.given_back, loop.status().steps) == (0, 0, [False], 0)


@pytest.mark.parametrize("granted_next", [False, True])
def test_what_is_claimed_when_the_data_end_is_given_back(granted_next: bool) -> None:
    class TwoTurns(Turns):
        def take(self) -> bool:
            granted = super().take()
            self.left = 2 - self.taken
            return granted

    turns = TwoTurns(granted_next)
    for _ in range(2):
        turns.claims.release()
        turns.takes.release()
    loop = out_of_data(turns)
    assert (turns.taken, turns.given_back, loop.status().steps) == (2, [granted_next], 2)
    assert turns.claimed == (1 if granted_next else 2)


def test_a_turn_that_finds_nothing_to_do_gives_its_claim_back() -> None:
    turns = Turns()
    turns.fail = OutOfRangeError("nobody is left")
    turns.claims.release()
    turns.takes.release()
    loop = out_of_data(turns)
    assert (turns.given_back, loop.status().steps) == ([True], 0)
