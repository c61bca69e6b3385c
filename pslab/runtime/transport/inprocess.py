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
from pslab.runtime.transport.endpoint import Endpoint
from pslab.runtime.transport.message import Message
from pslab.runtime.transport.port import Line, Port


def inprocess_pair(
    names: tuple[str, str] = ("one", "other"), max_message_bytes: int = wire.MAX_MESSAGE, ports: tuple[Port, Port] | None = None
) -> tuple[InProcessChannel, InProcessChannel]:
    """Two channels, each the other's far end.

    Args:
        names: who holds the first, and who the second.
        max_message_bytes: a bigger message is not sent.
        ports: their ports.
    """
    there, back, changed = _Way(), _Way(), Condition()
    first, second = names
    ports = ports if ports is not None else (Port(first), Port(second))
    return (
        InProcessChannel(second, ports[0].line(second), there, back, changed, max_message_bytes),
        InProcessChannel(first, ports[1].line(first), back, there, changed, max_message_bytes),
    )


class _Way:
    """One direction: encoded messages on their way, and whether their sender has closed."""

    def __init__(self) -> None:
        self.messages: deque[tuple[bytes, np.ndarray[Any, Any]]] = deque()
        self.closed = False


class InProcessChannel(Endpoint):
    """A `Channel` to another thread; made by `inprocess_pair`."""

    def __init__(self, peer: str, line: Line, out: _Way, into: _Way, changed: Condition, limit: int) -> None:
        super().__init__(peer, line, limit)
        self._out = out
        self._in = into
        self._changed = changed

    def _write(self, buffers: list[Any], size: int) -> None:
        start, *contents = buffers
        payload = _gather(contents, size - len(start))
        with self._changed:
            if self._out.closed:
                raise CancelledError(f"the channel to {self.peer} was closed")
            if self._in.closed:
                raise UnavailableError(f"{self.peer} is gone: it closed the connection")
            self._out.messages.append((start, payload))
            self._changed.notify_all()

    def _next(self, timeout: float | None) -> Message:
        with self._changed:
            if not self._changed.wait_for(self._settled, timeout):
                raise DeadlineExceededError(f"nothing came from {self.peer} in {timeout:g} s")
            if self._out.closed:
                raise CancelledError(f"the channel to {self.peer} was closed")
            if not self._in.messages:
                raise UnavailableError(f"{self.peer} is gone: it closed the connection")
            start, payload = self._in.messages.popleft()
        header = wire.decode_header(start, self._limit)
        return wire.assemble(header, wire.decode_block(header, start[wire.HEADER.size :]), payload)

    def _settled(self) -> bool:
        return bool(self._in.messages) or self._in.closed or self._out.closed

    def alive(self) -> bool:
        """See `Channel.alive`."""
        return not self._in.closed and not self._out.closed

    def _is_closed(self) -> bool:
        return self._out.closed

    def close(self) -> None:
        """See `Channel.close`."""
        self._line.closed(self)
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
