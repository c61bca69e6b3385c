"""The listening end: a server that gives every connection a thread."""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import shutil
import socket
import ssl
import tempfile
import threading
from collections.abc import Callable
from time import monotonic

from pslab.errors import AlreadyExistsError, PslabError, UnavailableError
from pslab.runtime.transport.address import Address, this_machine
from pslab.runtime.transport.channel import Channel
from pslab.runtime.transport.handshake import receive
from pslab.runtime.transport.sockets import SocketChannel, tune

HANDSHAKE_S = 5.0
CLOSE_S = 5.0
_log = logging.getLogger("pslab.transport")


class Listener:
    """Listens on TCP, and on a Unix-domain socket for peers on this machine.

    Args:
        serve: called with each channel in a thread of its own; the channel is closed when it returns.
        name: whose listener it is.
        host: host name or address to listen on.
        port: TCP port; 0 takes a free one.
        unix: whether to listen on a Unix-domain socket too.
        secret: what every peer must prove to know.
        ssl_context: for TLS over TCP; there is no Unix-domain socket then.

    Attributes:
        address: where it listens.

    Raises:
        AlreadyExistsError: the port is in use.
        UnavailableError: it cannot listen there.
    """

    def __init__(
        self,
        serve: Callable[[Channel], None],
        *,
        name: str,
        host: str = "127.0.0.1",
        port: int = 0,
        unix: bool = True,
        secret: bytes = b"",
        ssl_context: ssl.SSLContext | None = None,
    ) -> None:
        self._serve = serve
        self._name = name
        self._secret = secret
        self._ssl_context = ssl_context
        self._lock = threading.Lock()
        self._closed = False
        self._connections: dict[threading.Thread, SocketChannel | socket.socket] = {}
        tcp = _listen_on_tcp(name, host, port)
        self._sockets = [tcp]
        self._directory: str | None = None
        path = None
        if unix and ssl_context is None and hasattr(socket, "AF_UNIX"):
            self._directory = tempfile.mkdtemp(prefix="pslab-")
            path = os.path.join(self._directory, "socket")
            self._sockets.append(_listen_on_unix(path))
        self.address = Address(host, tcp.getsockname()[1], path, this_machine() if path else "")
        self._acceptors = [threading.Thread(target=self._accept, args=(sock,), name=f"pslab {name} accepts", daemon=True) for sock in self._sockets]
        for thread in self._acceptors:
            thread.start()

    def close(self) -> None:
        """Stop listening, close all channels, and wait for their threads, `CLOSE_S` seconds at most."""
        with self._lock:
            if self._closed:
                return
            self._closed = True
            connections = dict(self._connections)
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)  # wakes accept
            sock.close()
        for connection in connections.values():
            connection.close()
        if self._directory is not None:
            shutil.rmtree(self._directory, ignore_errors=True)
        deadline = monotonic() + CLOSE_S
        for thread in (*self._acceptors, *connections):
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - monotonic()))

    def _accept(self, listening: socket.socket) -> None:
        while not self._closed:
            try:
                sock, _ = listening.accept()
            except OSError as error:
                if self._closed or error.errno not in (errno.EMFILE, errno.ENFILE, errno.ECONNABORTED):
                    return
                _log.warning("%s cannot accept a connection: %s", self._name, error)
                continue
            thread = threading.Thread(target=self._welcome, args=(sock,), name=f"pslab {self._name} serves", daemon=True)
            with self._lock:
                if self._closed:
                    sock.close()
                    return
                self._connections[thread] = sock
            thread.start()

    def _welcome(self, sock: socket.socket) -> None:
        thread = threading.current_thread()
        try:
            sock.settimeout(HANDSHAKE_S)
            tune(sock)
            if self._ssl_context is not None:
                sock = self._ssl_context.wrap_socket(sock, server_side=True)
            peer = receive(sock, self._secret)
            sock.settimeout(None)
            channel = SocketChannel(sock, peer or "a client")
        except (OSError, PslabError) as error:
            _log.warning("%s refused a connection: %s", self._name, error)
            sock.close()
            self._forget(thread)
            return
        with self._lock:
            self._connections[thread] = channel
            closed = self._closed
        try:
            if not closed:
                self._serve(channel)
        except Exception:
            _log.exception("%s: serving %s failed", self._name, channel.peer)
        finally:
            channel.close()
            self._forget(thread)

    def _forget(self, thread: threading.Thread) -> None:
        with self._lock:
            self._connections.pop(thread, None)


def _listen_on_tcp(name: str, host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), backlog=128)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise AlreadyExistsError(f"{name} cannot listen on {host}:{port}: the port is in use", "another port, or end what holds it") from None
        raise UnavailableError(f"{name} cannot listen on {host}:{port}: {error.strerror or error}", "is that an address of this machine?") from None


def _listen_on_unix(path: str) -> socket.socket:
    sock = socket.socket(socket.AF_UNIX)
    sock.bind(path)
    sock.listen(128)
    return sock
