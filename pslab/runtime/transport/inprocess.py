"""Channels within one process, for tasks that are threads of it.

A message is encoded and decoded as on a socket, so it is refused for the same reasons, counts the same bytes, and shares no memory with the sender:
what a learner sees of tasks in one process is what happens between processes.
"""

from __future__ import annotations

from collections import deque
from threading import Condition
from typing import Any

import numpy as np

from pslab.errors import CancelledError, DeadlineExceededError, UnavailableError
from pslab.runtime.transport import wire
from pslab.runtime.transport.message import Message


def inprocess_pair(names: tuple[str, str] = ("one", "other"), max_message_bytes: int = wire.MAX_MESSAGE) -> tuple[InProcessChannel, InProcessChannel]:
    """Two channels, each the other's far end.

    Args:
        names: who holds the first, and who the second.
        max_message_bytes: a bigger message is not sent.
    """
    there, back, changed = _Way(), _Way(), Condition()
    first, second = names
    return InProcessChannel(second, there, back, changed, max_message_bytes), InProcessChannel(first, back, there, changed, max_message_bytes)


class _Way:
    """One direction: encoded messages on their way, and whether their sender has closed."""

    def __init__(self) -> None:
        self.messages: deque[tuple[bytes, np.ndarray[Any, Any]]] = deque()
        self.closed = False


class InProcessChannel:
    """A `Channel` to another thread; made by `inprocess_pair`."""

    def __init__(self, peer: str, out: _Way, into: _Way, changed: Condition, limit: int) -> None:
        self.peer = peer
        self.bytes_sent = 0
        self.bytes_received = 0
        self._out = out
        self._in = into
        self._changed = changed
        self._limit = limit

    def send(self, message: Message) -> int:
        """See `Channel.send`."""
        (start, *contents), size = wire.encode(message, self._limit)
        payload = _gather(contents, size - len(start))
        with self._changed:
            if self._out.closed:
                raise CancelledError(f"the channel to {self.peer} was closed")
            if self._in.closed:
                raise UnavailableError(f"{self.peer} is gone: it closed the connection")
            self._out.messages.append((start, payload))
            self._changed.notify_all()
        self.bytes_sent += size
        return size

    def recv(self, timeout: float | None = None) -> Message:
        """See `Channel.recv`."""
        with self._changed:
            if not self._changed.wait_for(self._settled, timeout):
                raise DeadlineExceededError(f"nothing came from {self.peer} in {timeout:g} s")
            if self._out.closed:
                raise CancelledError(f"the channel to {self.peer} was closed")
            if not self._in.messages:
                raise UnavailableError(f"{self.peer} is gone: it closed the connection")
            start, payload = self._in.messages.popleft()
        header = wire.decode_header(start, self._limit)
        message = wire.assemble(header, wire.decode_block(header, start[wire.HEADER.size :]), payload)
        self.bytes_received += message.size
        return message

    def _settled(self) -> bool:
        return bool(self._in.messages) or self._in.closed or self._out.closed

    def alive(self) -> bool:
        """See `Channel.alive`."""
        return not self._in.closed and not self._out.closed

    def close(self) -> None:
        """See `Channel.close`."""
        with self._changed:
            self._out.closed = True
            self._changed.notify_all()


def _gather(contents: list[Any], size: int) -> np.ndarray[Any, Any]:
    payload = np.empty(size, np.uint8)
    begin = 0
    for content in contents:
        raw = memoryview(content).cast("B")
        payload.data[begin : begin + len(raw)] = raw
        begin += len(raw)
    return payload
