"""The beginning of every connection: each side proves that it knows the cluster's secret, without saying it.

client → server   magic, version, nonce, length of name, name
server → client   nonce, HMAC(secret, "server", both nonces)
client → server   HMAC(secret, "client", both nonces)
server → client   one byte: welcome
"""

from __future__ import annotations

import hmac
import secrets
import socket
import struct

from pslab.errors import DataLossError, PermissionDeniedError

_HELLO = struct.Struct("<4sH32sH")
_MAGIC, _VERSION = b"psla", 1
_NONCE, _PROOF = 32, 32
_WELCOME = b"\x01"
_MAX_NAME = 1024


def greet(sock: socket.socket, secret: bytes, name: str) -> None:
    """The client's side.

    Raises:
        PermissionDeniedError: the secrets differ.
        DataLossError: the other side is no pslab server, or one of another version.
        OSError: the connection broke, or took too long.
    """
    nonce, encoded = secrets.token_bytes(_NONCE), name.encode()[:_MAX_NAME]
    sock.sendall(_HELLO.pack(_MAGIC, _VERSION, nonce, len(encoded)) + encoded)
    answer = _read(sock, _NONCE + _PROOF)
    theirs, proof = answer[:_NONCE], answer[_NONCE:]
    if not hmac.compare_digest(proof, _prove(secret, b"server", nonce, theirs)):
        raise PermissionDeniedError("the server does not know this cluster's secret", "is it a server of another cluster?")
    sock.sendall(_prove(secret, b"client", nonce, theirs))
    if _read(sock, 1) != _WELCOME:
        raise DataLossError("the server answered the handshake with something else")


def receive(sock: socket.socket, secret: bytes) -> str:
    """The server's side; returns the client's name.

    Raises:
        PermissionDeniedError: the secrets differ.
        DataLossError: the other side is no pslab client, or one of another version.
        OSError: the connection broke, or took too long.
    """
    magic, version, nonce, length = _HELLO.unpack(_read(sock, _HELLO.size))
    if magic != _MAGIC or version != _VERSION or length > _MAX_NAME:
        raise DataLossError(f"a stranger said {magic!r}, version {version}; expected {_MAGIC!r}, version {_VERSION}")
    name = _read(sock, length).decode(errors="replace")
    mine = secrets.token_bytes(_NONCE)
    sock.sendall(mine + _prove(secret, b"server", nonce, mine))
    if not hmac.compare_digest(_read(sock, _PROOF), _prove(secret, b"client", nonce, mine)):
        raise PermissionDeniedError(f"{name!r} does not know this cluster's secret")
    sock.sendall(_WELCOME)
    return name


def _prove(secret: bytes, side: bytes, client: bytes, server: bytes) -> bytes:
    return hmac.digest(secret or b"none", side + client + server, "sha256")


def _read(sock: socket.socket, count: int) -> bytes:
    parts = []
    while count:
        part = sock.recv(count)
        if not part:
            raise PermissionDeniedError("the other side closed the connection in the handshake", "is it of another cluster, or not pslab at all?")
        parts.append(part)
        count -= len(part)
    return b"".join(parts)
