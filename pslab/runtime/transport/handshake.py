"""The beginning of every connection: each side proves that it knows the cluster's secret, without saying it.

client → server   magic, version, nonce, length of name, name
server → client   magic, version, nonce, HMAC(secret, "server", both nonces)
client → server   HMAC(secret, "client", both nonces)
server → client   one byte: welcome
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct
from time import monotonic

from pslab.errors import DataLossError, PermissionDeniedError

_HELLO = struct.Struct("<4sH32sH")
_ANSWER = struct.Struct("<4sH32s32s")
_MAGIC, _VERSION = b"psla", 2
_NONCE, _PROOF = 32, 32
_WELCOME = b"\x01"
_MAX_NAME = 1024


def greet(sock: socket.socket, secret: bytes, name: str, who: str, deadline: float) -> None:
    """The client's side.

    Args:
        sock: the connection.
        secret: the cluster's.
        name: who calls.
        who: who is called, for messages.
        deadline: on the monotonic clock.

    Raises:
        PermissionDeniedError: the secrets differ.
        DataLossError: the other side is no pslab server, or one of another version.
        OSError: the connection broke, or took too long.
    """
    mine, encoded = secrets.token_bytes(_NONCE), name.encode()[:_MAX_NAME]
    sock.sendall(_HELLO.pack(_MAGIC, _VERSION, mine, len(encoded)) + encoded)
    magic, version, theirs, proof = _ANSWER.unpack(_read(sock, _ANSWER.size, deadline))
    if (magic, version) != (_MAGIC, _VERSION):
        raise DataLossError(f"{who} {_strange(magic, version)}", "is it a pslab server, of the same version as this program?")
    if not hmac.compare_digest(proof, _prove(secret, b"server", mine, theirs)):
        raise PermissionDeniedError(f"{who} does not know the secret of this cluster", "is it a server of another cluster?")
    sock.sendall(_prove(secret, b"client", mine, theirs))
    if _read(sock, 1, deadline) != _WELCOME:
        raise DataLossError(f"{who} ended the handshake with something else than a welcome")


def receive(sock: socket.socket, secret: bytes, deadline: float) -> str:
    """The server's side; returns the client's name.

    Raises:
        PermissionDeniedError: the secrets differ.
        DataLossError: the other side is no pslab client, or one of another version.
        OSError: the connection broke, or took too long.
    """
    magic, version, theirs, length = _HELLO.unpack(_read(sock, _HELLO.size, deadline))
    mine = secrets.token_bytes(_NONCE)
    if magic == _MAGIC:  # so that a client of another version learns why it is not let in
        sock.sendall(_ANSWER.pack(_MAGIC, _VERSION, mine, _prove(secret, b"server", theirs, mine)))
    if (magic, version) != (_MAGIC, _VERSION) or length > _MAX_NAME:
        raise DataLossError(f"a client {_strange(magic, version)}")
    name = _read(sock, length, deadline).decode(errors="replace")
    if not hmac.compare_digest(_read(sock, _PROOF, deadline), _prove(secret, b"client", theirs, mine)):
        raise PermissionDeniedError(f"{name!r} does not know this cluster's secret")
    sock.sendall(_WELCOME)
    return name


def _strange(magic: bytes, version: int) -> str:
    return f"speaks {magic!r}, version {version}; expected {_MAGIC!r}, version {_VERSION}"


def _prove(secret: bytes, side: bytes, client: bytes, server: bytes) -> bytes:
    return hmac.digest(secret, side + client + server, "sha256")


def _read(sock: socket.socket, count: int, deadline: float) -> bytes:
    parts = []
    while count:
        sock.settimeout(max(1e-3, deadline - monotonic()))
        part = sock.recv(count)
        if not part:
            raise ConnectionAbortedError("it closed the connection in the handshake")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
