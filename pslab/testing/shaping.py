"""What every channel must do on a shaped link: a suite of tests to inherit from.

Times are compared with bounds that hold however slow the machine is: a message never takes less than its link says, and what need not wait for something
else is compared with that very thing.
"""
# ruff: noqa: D102 (the name of a test says what it is about)

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic

import numpy as np
import pytest

from pslab.errors import CancelledError, DeadlineExceededError, UnavailableError
from pslab.runtime.transport import Channel, Duplex, Kind, Link, Message, Network, Port
from pslab.testing.transports import DEADLINE_S, Background

Shaped = tuple[tuple[Channel, Channel], tuple[Port, Port]]
BANDWIDTH = 4e6
SOON_S = 0.1
"""Longer than the looks at whether a wait is over."""


def message(seconds: float) -> Message:
    """One that takes so many seconds at `BANDWIDTH`, and a little more for its header."""
    return Message(Kind.TENSORS, arrays=(np.zeros(int(BANDWIDTH * seconds), "u1"),))


def shape(ports: tuple[Port, Port], network: Network) -> None:
    """Give both tasks the same network."""
    for port in ports:
        port.shape(network)


@contextmanager
def takes_at_least(seconds: float) -> Iterator[None]:
    """Check that a block does."""
    began = monotonic()
    yield
    assert monotonic() - began >= seconds


class ShapingConformance:
    """The tests. A subclass has a fixture ``shaped`` that gives two channels and their tasks' ports: ``worker:0``'s and ``ps:0``'s."""

    def test_a_message_takes_its_bytes_over_the_bandwidth_and_the_latency(self, shaped: Shaped) -> None:
        (one, other), ports = shaped
        shape(ports, Network(BANDWIDTH, latency=0.02))
        began = monotonic()
        sending = Background(lambda: (one.send(message(0.05)), monotonic())[1])
        other.recv(DEADLINE_S)
        assert monotonic() - began >= 0.05 + 0.02
        assert sending.result() - began >= 0.05

    def test_latency_does_not_hold_the_sender_up(self, shaped: Shaped) -> None:
        (one, other), ports = shaped
        shape(ports, Network(latency=30.0))
        receiving = Background(other.recv)
        for step in range(100):
            one.send(Message(Kind.STEP, step=step))
        with takes_at_least(0):
            assert receiving.runs_for(0.05)
        shape(ports, Network())
        assert receiving.result().step == 0
        assert [other.recv(DEADLINE_S).step for _ in range(99)] == list(range(1, 100))

    def test_messages_follow_each_other_without_a_break(self, shaped: Shaped) -> None:
        """The latency is there once for all of them, and they share the bandwidth."""
        (one, other), ports = shaped
        shape(ports, Network(BANDWIDTH, latency=0.05))
        with takes_at_least(5 * 0.02 + 0.05):
            sending = Background(lambda: [one.send(message(0.02)) for _ in range(5)])
            for _ in range(5):
                other.recv(DEADLINE_S)
        sending.result()

    @pytest.mark.parametrize(("duplex", "least"), [(Duplex.FULL, 0.1), (Duplex.HALF, 0.2)])
    def test_half_duplex_shares_what_full_duplex_has_twice(self, shaped: Shaped, duplex: Duplex, least: float) -> None:
        (one, other), ports = shaped
        shape(ports, Network(BANDWIDTH, duplex=duplex))
        with takes_at_least(least):
            sending = [Background(lambda c=channel: c.send(message(0.1))) for channel in (one, other)]  # type: ignore[misc]
            for channel in (one, other):
                channel.recv(DEADLINE_S)
        for background in sending:
            background.result()

    def test_a_link_of_its_own_is_as_itself(self, shaped: Shaped) -> None:
        (one, other), ports = shaped
        shape(ports, Network(BANDWIDTH / 1e6).with_link(("ps:0", "worker:0"), Link(bandwidth=BANDWIDTH)))
        with takes_at_least(0.05):
            sending = Background(lambda: one.send(message(0.05)))
            other.recv(DEADLINE_S)
        sending.result()

    def test_a_timeout_leaves_the_message_on_its_way(self, shaped: Shaped) -> None:
        (one, other), ports = shaped
        shape(ports, Network(latency=0.3))
        with takes_at_least(0.3):
            one.send(Message(Kind.STEP, step=5))
            for timeout in (0.0, 0.02):
                with pytest.raises(DeadlineExceededError, match="worker:0"):
                    other.recv(timeout)
            assert other.alive()
            assert other.recv(DEADLINE_S).step == 5

    def test_jitter_makes_messages_late_but_no_message_overtakes(self, shaped: Shaped) -> None:
        (one, other), ports = shaped
        shape(ports, Network(jitter=0.002))
        for step in range(30):
            one.send(Message(Kind.STEP, step=step))
        assert [other.recv(DEADLINE_S).step for _ in range(30)] == list(range(30))

    def test_closing_ends_the_waiting_at_either_end(self, shaped: Shaped) -> None:
        (one, other), ports = shaped
        shape(ports, Network(1e3, latency=300.0))
        sending, receiving = Background(lambda: one.send(message(0.1))), Background(other.recv)
        assert sending.runs_for(SOON_S) and receiving.runs_for(0)
        one.close()
        sending.result()
        other.close()
        with pytest.raises((CancelledError, UnavailableError)):
            receiving.result()

    def test_another_shape_frees_what_waits_for_the_old_one(self, shaped: Shaped) -> None:
        (one, other), ports = shaped
        shape(ports, Network(1e2, latency=300.0))
        sending = Background(lambda: [one.send(message(0.01)) for _ in range(2)])
        receiving = Background(lambda: [other.recv(), other.recv()])
        assert sending.runs_for(SOON_S) and receiving.runs_for(0)
        shape(ports, Network(BANDWIDTH))
        sending.result()
        assert len(receiving.result()) == 2

    def test_a_receiver_that_is_not_shaped_waits_for_nothing(self, shaped: Shaped) -> None:
        (one, other), ports = shaped
        ports[0].shape(Network(latency=300.0))
        one.send(Message(Kind.STEP, step=3))
        assert other.recv(DEADLINE_S).step == 3

    def test_what_is_sent_is_counted_by_peer(self, shaped: Shaped) -> None:
        (one, other), ports = shaped
        sizes = [one.send(message(0.001)), one.send(Message(Kind.STEP))]
        assert ports[0].sent()["ps:0"][:2] == (2, sum(sizes))
        shape(ports, Network(BANDWIDTH))
        sizes.append(one.send(message(0.05)))
        answer = other.send(Message(Kind.DONE))
        one.close()
        messages, size, seconds = ports[0].sent()["ps:0"]
        assert (messages, size) == (3, sum(sizes))
        assert seconds >= 0.05
        assert ports[1].sent()["worker:0"][:2] == (1, answer)
