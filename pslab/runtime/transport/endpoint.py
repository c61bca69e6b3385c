"""What the ends of all channels have in common: they count what they send, and keep to the shape of their line."""

from __future__ import annotations

from abc import ABC, abstractmethod
from time import monotonic_ns, perf_counter_ns
from typing import Any, NamedTuple

from pslab.errors import CancelledError, DeadlineExceededError
from pslab.runtime.transport import wire
from pslab.runtime.transport.message import STAMP, Message
from pslab.runtime.transport.port import Line, Path, Sent

_NS = 1e-9


class _Held(NamedTuple):
    """A message that came, and is still on its shaped way."""

    message: Message
    due: int
    path: Path | None


class Endpoint(ABC):
    """A `Channel` without the means of transport.

    Args:
        peer: who is at the other end.
        line: what its messages go by; one of its own if None.
        limit: bytes that a message may have.
    """

    def __init__(self, peer: str, line: Line | None, limit: int) -> None:
        self.peer = peer
        self.bytes_sent = 0
        self.bytes_received = 0
        self._limit = limit
        self._messages_sent = 0
        self._sending_ns = 0
        self._held: _Held | None = None
        self._path: Path | None = None
        self._arrived = 0
        self._line = line if line is not None else Line(peer)
        self._line.opened(self)

    @property
    def sent(self) -> Sent:
        """What was sent until now."""
        return Sent(self._messages_sent, self.bytes_sent, self._sending_ns * _NS)

    def send(self, message: Message) -> int:
        """See `Channel.send`."""
        buffers, size = wire.encode(message, self._limit)
        began = perf_counter_ns()
        path = self._line.path
        if path is None:
            self._write(buffers, size)
        else:
            stamp, end = path.depart(size)
            self._write(*wire.encode(stamp))
            self._write(buffers, size)
            self._line.wait(end, path, self._is_closed)
        self._messages_sent += 1
        self.bytes_sent += size
        self._sending_ns += perf_counter_ns() - began
        return size

    def recv(self, timeout: float | None = None) -> Message:
        """See `Channel.recv`. Where a message has come that is still on its shaped way, the timeout is for the rest of that."""
        if self._held is None:
            message = self._next(timeout)
            if message.kind != STAMP:
                self.bytes_received += message.size
                return message
            self._held = self._hold(message, self._next(None))
        return self._let_go(self._held, timeout)

    def _hold(self, stamp: Message, message: Message) -> _Held:
        path = self._line.path
        if path is not self._path:
            self._path, self._arrived = path, 0
        if path is not None:
            self._arrived = max(self._arrived, path.arrive(stamp, message.size))  # they keep their order
        return _Held(message, self._arrived, path)

    def _let_go(self, held: _Held, timeout: float | None) -> Message:
        if held.path is not None:
            until = held.due if timeout is None else min(held.due, monotonic_ns() + round(timeout / _NS))
            self._line.wait(until, held.path, self._is_closed)
            if self._is_closed():
                raise CancelledError(f"the channel to {self.peer} was closed")
            if monotonic_ns() < held.due and self._line.path is held.path:
                raise DeadlineExceededError(f"nothing came from {self.peer} in {timeout or 0:g} s")
        self._held = None
        self.bytes_received += held.message.size
        return held.message

    @abstractmethod
    def _write(self, buffers: list[Any], size: int) -> None:
        """Send bytes as they are: ``size`` of them in all."""

    @abstractmethod
    def _next(self, timeout: float | None) -> Message:
        """Wait for a message, or a stamp."""

    @abstractmethod
    def _is_closed(self) -> bool:
        """Whether this end was closed."""
