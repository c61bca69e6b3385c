"""Looking at a socket without reading from it, by the best means that the platform has."""

from __future__ import annotations

import select
import socket


def readable(sock: socket.socket, seconds: float) -> bool:
    """Whether something to read, or the end, comes within so many seconds."""
    seconds = max(0.0, seconds)
    if not hasattr(select, "poll"):
        return bool(select.select([sock], [], [], seconds)[0])
    return bool(_poll(sock, select.POLLIN, seconds))


def hung_up(sock: socket.socket) -> bool:
    """Whether the peer has closed its end."""
    if hasattr(select, "POLLRDHUP"):
        return bool(_poll(sock, select.POLLRDHUP, 0))
    return ended(sock)


def ended(sock: socket.socket) -> bool:
    """Whether the peer has closed its end and all it sent was read: what platforms without ``POLLRDHUP`` can tell."""
    if not readable(sock, 0):
        return False
    try:
        return not socket.socket.recv(sock, 1, socket.MSG_PEEK)  # of the connection beneath, where it is secured
    except OSError:
        return True


def _poll(sock: socket.socket, events: int, seconds: float) -> list[tuple[int, int]]:
    poll = select.poll()
    poll.register(sock, events)
    return poll.poll(seconds * 1000)
