"""Channels over blocking sockets: TCP, TLS and Unix-domain."""

from __future__ import annotations

import contextlib
import select
import socket
import ssl
from typing import Any

import numpy as np

from pslab.errors import CancelledError, DataLossError, DeadlineExceededError, UnavailableError
from pslab.runtime.transport import wire
from pslab.runtime.transport.message import Message

_SCRATCH = 1 << 16
"""Bytes that are read ahead: most messages come with one call."""
_KERNEL_BUFFERS = 1 << 22
_MAX_BUFFERS = 512
_HANG_UP = getattr(select, "POLLRDHUP", 0) | select.POLLHUP | select.POLLERR


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


class SocketChannel:
    """A `Channel` over a connected socket, which it owns.

    Args:
        sock: the socket, blocking.
        peer: who is at the other end.
    """

    def __init__(self, sock: socket.socket, peer: str) -> None:
        self.peer = peer
        self.bytes_sent = 0
        self.bytes_received = 0
        self._sock = sock
        self._secure = isinstance(sock, ssl.SSLSocket)
        self._closed = False
        self._buffer = memoryview(bytearray(_SCRATCH))
        self._start = self._end = 0  # what was read and not yet used
        self._readable = select.poll()
        self._readable.register(sock, select.POLLIN)
        self._hung_up = select.poll()
        self._hung_up.register(sock, _HANG_UP)

    def send(self, message: Message) -> int:
        """See `Channel.send`."""
        buffers, size = wire.encode(message)
        try:
            if self._secure:
                for buffer in buffers:
                    self._sock.sendall(buffer)
            else:
                self._send_all(buffers, size)
        except (OSError, ValueError) as error:
            raise self._gone(error) from None
        self.bytes_sent += size
        return size

    def _send_all(self, buffers: list[Any], size: int) -> None:
        sent = self._sock.sendmsg(buffers[:_MAX_BUFFERS])
        if sent == size:
            return
        for buffer in buffers:  # the kernel took a part only
            length = memoryview(buffer).nbytes
            if sent < length:
                self._sock.sendall(memoryview(buffer).cast("B")[sent:])
            sent = max(0, sent - length)

    def recv(self, timeout: float | None = None) -> Message:
        """See `Channel.recv`."""
        if timeout is not None and self._end == self._start and not self._wait(timeout):
            raise DeadlineExceededError(f"nothing came from {self.peer} in {timeout:g} s")
        header = wire.decode_header(self._take(wire.HEADER.size))
        fields, layout, body = wire.decode_block(header, self._take(header.block))
        arrays: tuple[Any, ...] = ()
        if layout.arrays:
            arrays = wire.arrays_in(self._payload(layout.size), layout)
        size = wire.HEADER.size + header.block + layout.size
        self.bytes_received += size
        return Message(header.kind, header.plan, header.step, header.cut, fields, body, arrays, size)

    def _wait(self, timeout: float) -> bool:
        if self._secure and self._sock.pending():  # type: ignore[attr-defined]
            return True
        return bool(self._readable.poll(timeout * 1000))

    def _take(self, count: int) -> memoryview:
        """The next ``count`` bytes. They are valid until the next call."""
        if self._end - self._start < count:
            held = self._end - self._start
            if count > len(self._buffer) - self._start:
                room = memoryview(bytearray(max(count, _SCRATCH)))
                room[:held] = self._buffer[self._start : self._end]
                self._buffer, self._start, self._end = room, 0, held
            while self._end - self._start < count:
                self._end += self._read(self._buffer[self._end :])
        taken = self._buffer[self._start : self._start + count]
        self._start += count
        if self._start == self._end:
            self._start = self._end = 0
        return taken

    def _payload(self, size: int) -> np.ndarray[Any, Any]:
        payload = np.empty(size, np.uint8)
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

    def _gone(self, error: Exception | None) -> Exception:
        if self._closed:
            return CancelledError(f"the channel to {self.peer} was closed")
        if isinstance(error, ValueError):
            return DataLossError(f"cannot send to {self.peer}: {error}")
        reason = getattr(error, "strerror", None) or "it closed the connection"
        return UnavailableError(f"{self.peer} is gone: {reason}")

    def alive(self) -> bool:
        """See `Channel.alive`."""
        return not self._closed and not self._hung_up.poll(0)

    def close(self) -> None:
        """See `Channel.close`."""
        if self._closed:
            return
        self._closed = True
        with contextlib.suppress(OSError):
            self._sock.shutdown(socket.SHUT_RDWR)  # wakes whoever is reading
        self._sock.close()
