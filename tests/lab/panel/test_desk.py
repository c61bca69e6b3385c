"""The desk: wishes are granted one after the other, and a refusal is told."""

from __future__ import annotations

import threading

import pytest

from pslab.errors import UsageError
from pslab.lab.panel.desk import Desk, Refusal


class Grants:
    """Notes what is granted; the first wish waits until it is let go."""

    def __init__(self) -> None:
        self.granted: list[tuple[str, object]] = []
        self.begun, self.go = threading.Event(), threading.Event()

    def slow(self, _: Desk, value: object) -> None:
        self.begun.set()
        assert self.go.wait(20)
        self.granted.append(("slow", value))

    def note(self, name: str):
        return lambda _, value: self.granted.append((name, value))


@pytest.fixture
def grants() -> Grants:
    return Grants()


@pytest.fixture
def desk(grants):
    def refuse(_: Desk, value: object) -> None:
        raise UsageError("that cannot be", "ask for less") if value == "kindly" else ValueError("out of order")

    table = {"slow": grants.slow, "rate": grants.note("rate"), "step": grants.note("step"), "refuse": refuse}
    return Desk(None, table, frozenset({"rate"}))  # type: ignore[arg-type]


def test_of_a_control_the_latest_wish_counts_and_of_a_button_each(desk, grants) -> None:
    desk.ask("slow")
    assert grants.begun.wait(20)
    for value in (1, 2, 3):
        desk.ask("rate", value)
    desk.ask("step")
    desk.ask("step")
    desk.ask("rate", 4)
    assert desk.pending == {"slow": None, "rate": 4, "step": None}
    grants.go.set()
    assert desk.settle(20)
    assert grants.granted == [("slow", None), ("rate", 3), ("step", None), ("step", None), ("rate", 4)]
    assert desk.pending == {}


def test_it_is_stirred_by_a_wish_and_again_when_that_is_granted(desk, grants) -> None:
    assert not desk.stirred.is_set()
    desk.ask("slow")
    assert desk.stirred.wait(20)
    assert grants.begun.wait(20)
    desk.stirred.clear()
    grants.go.set()
    assert desk.stirred.wait(20)
    assert desk.pending == {}


def test_a_refusal_is_told_until_a_wish_is_granted(desk) -> None:
    desk.ask("refuse", "kindly")
    desk.settle(20)
    assert desk.refusal == Refusal("refuse", "that cannot be; ask for less")
    desk.ask("refuse", "rudely")
    desk.settle(20)
    assert desk.refusal == Refusal("refuse", "ValueError: out of order")
    desk.ask("rate", 1)
    desk.settle(20)
    assert desk.refusal is None


def test_what_there_is_not_cannot_be_asked_for(desk) -> None:
    with pytest.raises(UsageError, match=r"(?s)the panel has no 'speed'.*one of: slow, rate"):
        desk.ask("speed")
