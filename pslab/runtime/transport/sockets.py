"""Channels over blocking sockets: TCP, TLS and Unix-domain."""

from __future__ import annotations

import contextlib
import socket
import ssl
from collections import deque
from itertools import islice
from typing import Any

import numpy as np

from pslab.errors import CancelledError, DeadlineExceededError, PslabError, ResourceExhaustedError, UnavailableError
from pslab.runtime.transport import wire
from pslab.runtime.transport.endpoint import Endpoint
from pslab.runtime.transport.message import Message
from pslab.runtime.transport.polling import hung_up, readable
from pslab.runtime.transport.port import Line

_SCRATCH = 1 << 16
"""Bytes that are read ahead: most messages come with one call."""
_KERNEL_BUFFERS = 1 << 22
_MAX_BUFFERS = 1024
"""Buffers that one ``sendmsg`` takes (IOV_MAX)."""


def tune(sock: socket.socket) -> None:
    """Set a socket up for many small messages, some large ones, and a peer that may vanish."""
    if sock.family == getattr(socket, "AF_UNIX", None):
        for option in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            sock.setsockopt(socket.SOL_SOCKET, option, _KERNEL_BUFFERS)
        return
    sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in (("TCP_KEEPIDLE", 1), ("TCP_KEEPINTVL", 1), ("TCP_KEEPCNT", 3), ("TCP_USER_TIMEOUT", 3000)):
        if hasattr(socket, name):  # where they are missing, a cut link is noticed later
            sock.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


class SocketChannel(Endpoint):
    """A `Channel` over a connected socket, which it owns.

    Args:
        sock: the socket, blocking.
        peer: who is at the other end.
        line: what its messages go by.
        max_message_bytes: a bigger message is neither sent nor received.
    """

    def __init__(self, sock: socket.socket, peer: str, line: Line | None = None, max_message_bytes: int = wire.MAX_MESSAGE) -> None:
        super().__init__(peer, line, max_message_bytes)
        self._sock = sock
        self._scatters = hasattr(sock, "sendmsg") and not isinstance(sock, ssl.SSLSocket)
        self._closed = False
        self._scratch = self._buffer = memoryview(bytearray(_SCRATCH))
        self._start = self._end = 0  # what was read and not yet used

    def _write(self, buffers: list[Any], size: int) -> None:
        try:
            if self._scatters:
                self._scatter(buffers, size)
            else:
                for buffer in buffers:
                    self._sock.sendall(buffer)
        except (OSError, ValueError) as error:  # ValueError: a secured socket that was closed here
            raise self._gone(error) from None
        except BaseException:
            self.close()  # part of the message may be out, and nothing can follow it
            raise

    def _scatter(self, buffers: list[Any], size: int) -> None:
        sent = self._sock.sendmsg(buffers[:_MAX_BUFFERS])
        if sent == size:
            return
        left = deque(memoryview(buffer).cast("B") for buffer in buffers)
        while True:
            while left and sent >= len(left[0]):
                sent -= len(left.popleft())
            if not left:
                return
            left[0] = left[0][sent:]
            sent = self._sock.sendmsg(islice(left, _MAX_BUFFERS))

    def _next(self, timeout: float | None) -> Message:
        if self._closed:
            raise self._gone(None)
        if timeout is not None and self._end == self._start and not self._comes(timeout):
            raise DeadlineExceededError(f"nothing came from {self.peer} in {timeout:g} s")
        try:
            return self._message()
        except (UnavailableError, CancelledError):
            raise
        except MemoryError:
            self.close()
            raise ResourceExhaustedError(f"a message from {self.peer} does not fit into memory", "more ps tasks share the variables") from None
        except BaseException:
            self.close()  # the rest of this message could not be told from the next one
            raise

    def _comes(self, timeout: float) -> bool:
        try:
            if isinstance(self._sock, ssl.SSLSocket) and self._sock.pending():
                return True
            return readable(self._sock, timeout)
        except (OSError, ValueError) as error:
            raise self._gone(error) from None

    def _message(self) -> Message:
        header = wire.decode_header(self._take(wire.HEADER.size), self._limit)
        block = wire.decode_block(header, self._take(header.block))
        return wire.assemble(header, block, self._payload(header.payload))

    def _take(self, count: int) -> memoryview:
        """The next ``count`` bytes. They are valid until the next call."""
        held = self._end - self._start
        if held < count:
            if count > len(self._buffer) - self._start:
                self._move(self._scratch if count <= _SCRATCH else memoryview(bytearray(count)))
            while self._end - self._start < count:
                self._end += self._read(self._buffer[self._end :])
        taken = self._buffer[self._start : self._start + count]
        self._start += count
        if self._start == self._end:
            self._buffer = self._scratch
            self._start = self._end = 0
        return taken

    def _move(self, room: memoryview) -> None:
        """Continue in ``room``, from its beginning."""
        held = self._end - self._start
        room[:held] = bytes(self._buffer[self._start : self._end])
        self._buffer, self._start, self._end = room, 0, held

    def _payload(self, size: int) -> np.ndarray[Any, Any]:
        payload = np.empty(size, np.uint8)
        if not size:
            return payload
        target = payload.data
        held = min(self._end - self._start, size)
        target[:held] = self._take(held)
        while held < size:
            held += self._read(target[held:])
        return payload

    def _read(self, target: memoryview) -> int:
        try:
            count = self._sock.recv_into(target)
        except (OSError, ValueError) as error:
            raise self._gone(error) from None
        if count == 0:
            raise self._gone(None)
        return count

    def _gone(self, error: Exception | None) -> PslabError:
        if self._closed:
            return CancelledError(f"the channel to {self.peer} was closed")
        reason = "it closed the connection" if error is None else getattr(error, "strerror", None) or str(error)
        return UnavailableError(f"{self.peer} is gone: {reason}")

    def alive(self) -> bool:
        """See `Channel.alive`."""
        try:
            return not self._closed and not hung_up(self._sock)
        except (OSError, ValueError):  # closed in between
            return False

    def _is_closed(self) -> bool:
        return self._closed

    def close(self) -> None:
        """See `Channel.close`."""
        if self._closed:
            return
        self._closed = True
        self._line.closed(self)
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)  # wakes whoever is reading
        self._sock.close()
