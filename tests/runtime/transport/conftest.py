"""Pairs of connected channels, over everything that channels run over."""

from __future__ import annotations

import queue
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import pytest

from pslab.runtime.transport import Channel, Listener, Port, connect, inprocess_pair
from pslab.testing.certificates import tls_contexts
from pslab.testing.transports import DEADLINE_S

TRANSPORTS = ("in-process", "tcp", "unix", "tls")


@contextmanager
def listening(serve, **options) -> Iterator[Listener]:
    with closing(Listener(serve, name="ps:0", **options)) as listener:
        yield listener


@contextmanager
def connected(*, unix: bool, contexts=(None, None), ports=(None, None)) -> Iterator[tuple[Channel, Channel]]:
    """A client's channel, and the server's."""
    accepted, done = queue.SimpleQueue(), queue.SimpleQueue()

    def serve(channel: Channel) -> None:
        accepted.put(channel)
        done.get()

    with listening(serve, secret=b"s", ssl_context=contexts[0], task_port=ports[1]) as listener, ExitStack() as stack:
        client = connect(listener.address, secret=b"s", name="worker:0", peer="ps:0", unix=unix, ssl_context=contexts[1], port=ports[0])
        stack.callback(client.close)
        stack.callback(done.put, None)
        family = client._sock.family
        assert family == (socket.AF_UNIX if unix else socket.AF_INET)
        yield client, accepted.get(timeout=DEADLINE_S)


@pytest.fixture(scope="session")
def contexts(tmp_path_factory):
    return tls_contexts(tmp_path_factory.mktemp("tls"))


@contextmanager
def joined(transport: str, request, ports=(None, None)):
    """Two channels that are each other's far end: of worker:0, and of ps:0."""
    if transport == "in-process":
        yield inprocess_pair(("worker:0", "ps:0"), ports=None if ports == (None, None) else ports)
        return
    tls = request.getfixturevalue("contexts") if transport == "tls" else (None, None)
    with connected(unix=transport == "unix", contexts=tls, ports=ports) as channels:
        yield channels


@pytest.fixture
def pair(request):
    with joined(request.param, request) as channels:
        yield channels


@pytest.fixture
def shaped(request):
    """Two channels and the ports of their tasks, to be shaped."""
    ports = Port("worker:0"), Port("ps:0")
    with joined(request.param, request, ports) as channels:
        yield channels, ports
