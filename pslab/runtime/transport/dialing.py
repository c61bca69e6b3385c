"""Opening a channel to a server."""

from __future__ import annotations

import socket
import ssl
from time import monotonic

from pslab.errors import DeadlineExceededError, UnavailableError
from pslab.runtime.transport.address import Address
from pslab.runtime.transport.handshake import greet
from pslab.runtime.transport.port import Port
from pslab.runtime.transport.sockets import SocketChannel, tune


def connect(
    address: str | Address,
    *,
    secret: bytes = b"",
    name: str = "",
    peer: str = "",
    timeout: float = 10.0,
    unix: bool = True,
    ssl_context: ssl.SSLContext | None = None,
    port: Port | None = None,
) -> SocketChannel:
    """Open a channel: over the server's Unix-domain socket where it is on this machine, else over TCP.

    Args:
        address: where the server listens.
        secret: what each side must prove to know.
        name: who calls, for the server's messages.
        peer: who is called, for ours.
        timeout: seconds for all of it.
        unix: whether a Unix-domain socket may be used.
        ssl_context: for TLS over TCP.
        port: the caller's, which shapes and counts what is sent; none if None.

    Raises:
        UnavailableError: nobody listens there, or the connection broke.
        DeadlineExceededError: it took too long.
        PermissionDeniedError: the secrets differ.
        DataLossError: who listens there is no pslab server, or one of another version.
        UsageError: ``address`` is none.
    """
    where = address if isinstance(address, Address) else Address.parse(address)
    who = f"{peer} at {where.host}:{where.port}" if peer else f"{where.host}:{where.port}"
    deadline = monotonic() + timeout
    try:
        sock = _open(where, timeout, unix, ssl_context)
        try:
            greet(sock, secret, name, who, deadline)
            sock.settimeout(None)
        except BaseException:
            sock.close()
            raise
    except TimeoutError:
        raise DeadlineExceededError(f"{who} did not answer in {timeout:g} s", "is it stopped, or behind a firewall?") from None
    except (OSError, UnicodeError) as error:  # UnicodeError: a host that cannot be a name
        raise UnavailableError(f"cannot reach {who}: {getattr(error, 'strerror', None) or error}", "is it running?") from None
    return SocketChannel(sock, peer or who, port.line(peer) if port is not None else None)


def _open(where: Address, timeout: float, unix: bool, context: ssl.SSLContext | None) -> socket.socket:
    path = where.unix_here
    if unix and path is not None and context is None:
        sock = socket.socket(socket.AF_UNIX)
        try:
            sock.settimeout(timeout)
            sock.connect(path)
            tune(sock)
            return sock
        except OSError:
            sock.close()  # its file may be out of our sight: TCP decides
    sock = socket.create_connection((where.host, where.port), timeout)
    try:
        tune(sock)
        return context.wrap_socket(sock, server_hostname=where.host) if context is not None else sock
    except BaseException:
        sock.close()
        raise
