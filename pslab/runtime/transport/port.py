"""A task's port: the shape of its links, and what they have carried."""

from __future__ import annotations

import random
import threading
from collections.abc import Callable
from dataclasses import dataclass
from time import monotonic_ns, sleep
from typing import NamedTuple, Protocol

from pslab.runtime.transport.address import this_machine
from pslab.runtime.transport.message import STAMP, Message
from pslab.runtime.transport.network import Duplex, Link, Network
from pslab.runtime.transport.timeline import Timeline

_LOOK_NS = 20_000_000
"""Nanoseconds between two looks at whether who waits still should."""
_EARLY_NS = 120_000
"""Nanoseconds by which a sleep may last too long; so much is waited out awake."""
_NS = 1e9


class Sent(NamedTuple):
    """What was sent to a peer.

    Attributes:
        messages: how many.
        bytes: on the wire, headers included.
        seconds: for which its senders were sending.
    """

    messages: int = 0
    bytes: int = 0
    seconds: float = 0.0

    def __add__(self, other: Sent) -> Sent:  # type: ignore[override]
        return Sent(self.messages + other.messages, self.bytes + other.bytes, self.seconds + other.seconds)

    def __sub__(self, other: Sent) -> Sent:
        return Sent(self.messages - other.messages, self.bytes - other.bytes, self.seconds - other.seconds)


class Counting(Protocol):
    """A channel, as its line sees it."""

    @property
    def sent(self) -> Sent:
        """What it has sent until now."""


class Departure(NamedTuple):
    """What becomes of a message on a shaped link.

    Attributes:
        stamp: the message that precedes it and tells the receiver.
        end: when its last byte has left, on `monotonic_ns`.
    """

    stamp: Message
    end: int


@dataclass(frozen=True, eq=False)
class Path:
    """The shaped way to a peer.

    Attributes:
        out: when the way out is busy.
        into: when the way in is busy.
        link: its bandwidth, latency and jitter, nothing left open; a bandwidth of None takes no time.
        jitter: the sequence of the jitter.
        token: of the network; messages stamped by another are let through at once.
    """

    out: Timeline
    into: Timeline
    link: Link
    jitter: random.Random
    token: int

    def depart(self, size: int) -> Departure:
        """Take the way out for a message of so many bytes."""
        now = monotonic_ns()
        begin, end = self.out.reserve(now, self._duration(size))
        delay = round((self.link.latency or 0.0) * _NS)
        if self.link.jitter:
            delay += round(self.jitter.expovariate(_NS**-1 / self.link.jitter))
        stamp = Message(STAMP, plan=begin + delay, step=end + delay, cut=self.token, fields=(now, _here()))
        return Departure(stamp, end)

    def arrive(self, stamp: Message, size: int) -> int:
        """When a message that was stamped and has come is to be had, on `monotonic_ns`: after its way in."""
        if stamp.cut != self.token:
            return 0
        first, last, (sent, machine) = stamp.plan, stamp.step, stamp.fields
        if machine != _here():  # whose clock is another
            shift = monotonic_ns() - sent
            first, last = first + shift, last + shift
        return max(last, self.into.reserve(first, self._duration(size))[1])

    def _duration(self, size: int) -> int:
        return 0 if self.link.bandwidth is None else round(size / self.link.bandwidth * _NS)


class Line:
    """The way between a task and a peer, which all channels between them share.

    Attributes:
        peer: the other task.
        path: its shape; None if it is as fast as it goes.
    """

    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.path: Path | None = None
        self._channels: set[Counting] = set()
        self._past = Sent()
        self._lock = threading.Lock()

    def opened(self, channel: Counting) -> None:
        """Count a channel in."""
        with self._lock:
            self._channels.add(channel)

    def closed(self, channel: Counting) -> None:
        """Remember what a channel has sent."""
        with self._lock:
            if channel in self._channels:
                self._channels.remove(channel)
                self._past += channel.sent

    def sent(self) -> Sent:
        """What was sent until now."""
        with self._lock:
            return sum((channel.sent for channel in self._channels), self._past)

    def wait(self, until: int, path: Path, over: Callable[[], bool]) -> None:
        """Wait until a moment on `monotonic_ns`, unless ``over`` says otherwise or the line takes another shape than ``path``."""
        while (left := until - monotonic_ns()) > 0:
            if over() or self.path is not path:
                return
            sleep(max(0, min(left - _EARLY_NS, _LOOK_NS)) / _NS)


class Port:
    """All lines of a task.

    Args:
        task: the task's name.
    """

    def __init__(self, task: str = "") -> None:
        self._task = task
        self._network = Network()
        self._lines: dict[str, Line] = {}
        self._lock = threading.Lock()
        self._out, self._into = _ways(self._network)

    def line(self, peer: str) -> Line:
        """The line to a peer."""
        with self._lock:
            if peer not in self._lines:
                self._lines[peer] = Line(peer)
                self._lines[peer].path = self._path(peer)
            return self._lines[peer]

    def shape(self, network: Network) -> None:
        """Give the lines another shape, from now on; what waits for the old one goes on at once."""
        with self._lock:
            self._network = network
            self._out, self._into = _ways(network)
            for peer, line in self._lines.items():
                line.path = self._path(peer)

    def _path(self, peer: str) -> Path | None:
        network = self._network
        link = network.between(self._task, peer) if peer != self._task else Link()
        if link.bandwidth is not None:
            out, into = _ways(network)
        else:
            out, into, link = self._out, self._into, Link(network.bandwidth, link.latency, link.jitter)
        if link.bandwidth is None and not link.latency and not link.jitter:
            return None
        return Path(out, into, link, random.Random(f"{network.seed} {self._task} {peer}"), network.token)

    def sent(self) -> dict[str, Sent]:
        """What was sent until now, by peer."""
        with self._lock:
            lines = dict(self._lines)
        return {peer: line.sent() for peer, line in lines.items()}


def _ways(network: Network) -> tuple[Timeline, Timeline]:
    """The way out and the way in: two, or one."""
    out = Timeline()
    return out, out if network.duplex is Duplex.HALF else Timeline()


def _here() -> int:
    """This machine, as a field of a message."""
    return int(this_machine(), 16) >> 1
