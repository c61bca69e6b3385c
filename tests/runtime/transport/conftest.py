"""Pairs of connected channels, over everything that channels run over."""

from __future__ import annotations

import queue
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from pslab.runtime.transport import Channel, Listener, connect, inprocess_pair
from pslab.testing.certificates import tls_contexts
from pslab.testing.transports import DEADLINE_S

TRANSPORTS = ("in-process", "tcp", "unix", "tls")


@contextmanager
def listening(serve, **options) -> Iterator[Listener]:
    with closing(Listener(serve, name="ps:0", **options)) as listener:
        yield listener


@contextmanager
def connected(*, unix: bool, contexts=(None, None)) -> Iterator[tuple[Channel, Channel]]:
    """A client's channel, and the server's."""
    accepted, done = queue.SimpleQueue(), queue.SimpleQueue()

    def serve(channel: Channel) -> None:
        accepted.put(channel)
        done.get()

    with listening(serve, secret=b"s", ssl_context=contexts[0]) as listener, ExitStack() as stack:
        client = connect(listener.address, secret=b"s", name="worker:0", peer="ps:0", unix=unix, ssl_context=contexts[1])
        stack.callback(client.close)
        stack.callback(done.put, None)
        family = client._sock.family
        assert family == (socket.AF_UNIX if unix else socket.AF_INET)
        yield client, accepted.get(timeout=DEADLINE_S)


@pytest.fixture(scope="session")
def contexts(tmp_path_factory):
    return tls_contexts(tmp_path_factory.mktemp("tls"))


@pytest.fixture
def pair(request):
    transport = request.param
    if transport == "in-process":
        yield inprocess_pair(("worker:0", "ps:0"))
        return
    tls = request.getfixturevalue("contexts") if transport == "tls" else (None, None)
    with connected(unix=transport == "unix", contexts=tls) as channels:
        yield channels
