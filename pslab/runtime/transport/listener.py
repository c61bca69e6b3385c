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

from pslab.errors import AlreadyExistsError, CancelledError, PslabError, UnavailableError
from pslab.runtime.transport.address import Address, this_machine
from pslab.runtime.transport.channel import Channel
from pslab.runtime.transport.handshake import receive
from pslab.runtime.transport.port import Port
from pslab.runtime.transport.sockets import SocketChannel, tune

HANDSHAKE_S = 5.0
CLOSE_S = 5.0
ACCEPT_AGAIN_S = 0.2
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
        task_port: whose lines the channels go by; none if None.

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
        task_port: Port | None = None,
    ) -> None:
        self._serve = serve
        self._task_port = task_port
        self._name = name
        self._secret = secret
        self._ssl_context = ssl_context
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._connections: dict[threading.Thread, SocketChannel | socket.socket] = {}
        tcp = _listen_on_tcp(name, host, port)
        self._sockets = [tcp]
        here = _listen_on_unix(name) if unix and ssl_context is None and hasattr(socket, "AF_UNIX") else None
        path = here.getsockname() if here is not None else None
        if here is not None:
            self._sockets.append(here)
        self.address = Address(host, tcp.getsockname()[1], path, this_machine() if path else "")
        self._acceptors = [threading.Thread(target=self._accept, args=(sock,), name=f"pslab {name} accepts", daemon=True) for sock in self._sockets]
        for thread in self._acceptors:
            thread.start()

    def close(self) -> None:
        """Stop listening, close all channels, and wait for their threads, `CLOSE_S` seconds at most."""
        with self._lock:
            if self._closed.is_set():
                return
            self._closed.set()
            connections = dict(self._connections)
        for sock in self._sockets:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)  # wakes accept
            sock.close()
        for connection in connections.values():
            if isinstance(connection, SocketChannel):
                connection.close()
            else:
                with contextlib.suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)  # in its handshake: its thread wakes and closes it
        if self.address.unix is not None:
            shutil.rmtree(os.path.dirname(self.address.unix), ignore_errors=True)
        deadline = monotonic() + CLOSE_S
        for thread in (*self._acceptors, *connections):
            if thread is not threading.current_thread():
                thread.join(max(0.0, deadline - monotonic()))

    def _accept(self, listening: socket.socket) -> None:
        while not self._closed.is_set():
            try:
                sock, _ = listening.accept()
                self._begin(sock)
            except (OSError, RuntimeError) as error:  # of descriptors or threads there may be more in a while
                if not self._closed.is_set():
                    _log.warning("%s cannot accept a connection: %s", self._name, error)
                    self._closed.wait(ACCEPT_AGAIN_S)

    def _begin(self, sock: socket.socket) -> None:
        thread = threading.Thread(target=self._run, args=(sock,), name=f"pslab {self._name} serves", daemon=True)
        with self._lock:
            try:
                if self._closed.is_set():
                    raise ConnectionAbortedError("the server is being closed")
                thread.start()
            except BaseException:
                sock.close()
                raise
            self._connections[thread] = sock

    def _run(self, sock: socket.socket) -> None:
        peer = "a client"
        try:
            channel = self._welcome(sock)
            if channel is not None:
                peer = channel.peer
                with contextlib.closing(channel):
                    self._serve(channel)
        except (UnavailableError, CancelledError) as error:  # the way that most connections end
            _log.info("%s no longer serves %s: %s", self._name, peer, error)
        except Exception:
            _log.exception("%s: serving %s failed", self._name, peer)
        finally:
            with self._lock:
                self._connections.pop(threading.current_thread(), None)

    def _welcome(self, sock: socket.socket) -> SocketChannel | None:
        """The channel to a client that proves itself; None, and a line in the log, for another."""
        deadline = monotonic() + HANDSHAKE_S
        try:
            sock.settimeout(HANDSHAKE_S)
            tune(sock)
            if self._ssl_context is not None:
                sock = self._ssl_context.wrap_socket(sock, server_side=True, do_handshake_on_connect=False)
                self._keep(sock)
                sock.do_handshake()
            peer = receive(sock, self._secret, deadline)
            sock.settimeout(None)
            channel = SocketChannel(sock, peer or "a client", self._task_port.line(peer) if self._task_port is not None else None)
            self._keep(channel)
        except (OSError, PslabError) as error:
            sock.close()
            if not self._closed.is_set():
                _log.warning("%s refused a connection: %s", self._name, error)
            return None
        return channel

    def _keep(self, connection: SocketChannel | socket.socket) -> None:
        """Remember what `close` has to close for this thread to end."""
        with self._lock:
            if self._closed.is_set():
                raise ConnectionAbortedError("the server is being closed")
            self._connections[threading.current_thread()] = connection


def _listen_on_tcp(name: str, host: str, port: int) -> socket.socket:
    try:
        return socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET, backlog=128)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise AlreadyExistsError(f"{name} cannot listen on {host}:{port}: the port is in use", "another port, or end what holds it") from None
        raise UnavailableError(f"{name} cannot listen on {host}:{port}: {error.strerror or error}", "is that an address of this machine?") from None


def _listen_on_unix(name: str) -> socket.socket | None:
    """A socket in a new directory that only this user can enter; None where there is no place for one."""
    for parent in dict.fromkeys((tempfile.gettempdir(), "/tmp")):
        try:
            directory = tempfile.mkdtemp(prefix="pslab-", dir=parent)
        except OSError as error:
            _log.info("%s: no directory for a socket in %s: %s", name, parent, error)
            continue
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.bind(os.path.join(directory, "socket"))
            sock.listen(128)
            return sock
        except OSError as error:  # a path of more than 107 bytes, or a file system without sockets
            _log.info("%s: no socket in %s: %s", name, directory, error)
            sock.close()
            shutil.rmtree(directory, ignore_errors=True)
    _log.warning("%s listens on TCP only: there is no place for a Unix-domain socket", name)
    return None
