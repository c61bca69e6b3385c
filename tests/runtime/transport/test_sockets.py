"""Sockets: what crosses them, peers that die, and peers that talk nonsense."""

from __future__ import annotations

import os
import select
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from contextlib import closing, contextmanager

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import CancelledError, DataLossError, ResourceExhaustedError, UnavailableError
from pslab.runtime.transport import Address, Kind, Message, connect, polling, sockets, wire
from pslab.runtime.transport.sockets import SocketChannel
from pslab.testing.transports import DEADLINE_S, Background, assert_same
from tests.runtime.transport.conftest import TRANSPORTS, listening

MESSAGE = Message(Kind.TENSORS, 1, 2, 3, (4,), b"body", (np.arange(20.0),))


def encoded(message: Message) -> bytes:
    return b"".join(wire.encode(message)[0])


@contextmanager
def raw(**options):
    """A channel, and the bare socket at its other end."""
    here, there = socket.socketpair()
    with closing(SocketChannel(here, "the other", **options)) as channel, there:
        yield channel, there


@contextmanager
def peer_process():
    """A process that answers every message with itself, and its address."""
    with tempfile.TemporaryDirectory(prefix="pslab-test-") as directory:  # where it is killed, its socket's file stays
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": directory}
        run = subprocess.Popen([sys.executable, "-m", "tests.runtime.transport.peer"], stdout=subprocess.PIPE, text=True, env=env)
        try:
            yield run, Address.parse(run.stdout.readline().strip())
        finally:
            run.kill()
            run.wait()
            run.stdout.close()


class Relay:
    """Passes on what it reads between a client and a server, and counts the bytes."""

    def __init__(self, target: tuple[str, int]) -> None:
        self.to_server = self.to_client = 0
        self._target = target
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.address = Address(*self._listening.getsockname())
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        with self._listening, self._listening.accept()[0] as client, socket.create_connection(self._target) as server:
            while True:
                for source in select.select([client, server], [], [])[0]:
                    data = source.recv(1 << 16)
                    if not data:
                        return
                    if source is client:
                        self.to_server += len(data)
                        server.sendall(data)
                    else:
                        self.to_client += len(data)
                        client.sendall(data)

    def join(self) -> None:
        self._thread.join(DEADLINE_S)
        assert not self._thread.is_alive()


def test_the_bytes_counted_are_the_bytes_that_crossed() -> None:
    def double(channel) -> None:
        while True:
            message = channel.recv()
            channel.send(Message(Kind.DONE, arrays=(*message.arrays, *message.arrays)))

    with listening(double, unix=False) as listener:
        relay = Relay((listener.address.host, listener.address.port))
        with closing(connect(relay.address)) as channel:
            handshake = relay.to_server, relay.to_client
            for shape in [(), (0,), (3, 5), (300, 1000), (1,)]:
                channel.send(Message(Kind.STEP, body=b"x" * 7, arrays=(np.ones(shape), np.zeros(shape, "u1"))))
                channel.recv(DEADLINE_S)
        relay.join()
    assert (channel.bytes_sent, channel.bytes_received) == (relay.to_server - handshake[0], relay.to_client - handshake[1])
    assert channel.bytes_received > channel.bytes_sent > 300 * 1000 * 9


@pytest.mark.parametrize("unix", [True, False])
def test_a_killed_peer_is_noticed(unix: bool) -> None:
    with peer_process() as (process, address), closing(connect(address, secret=b"s", peer="ps:0", unix=unix)) as channel:
        channel.send(MESSAGE)
        assert channel.recv(DEADLINE_S).arrays[0].tolist() == MESSAGE.arrays[0].tolist()
        assert channel.alive()
        waiting = Background(channel.recv)
        process.send_signal(signal.SIGKILL)
        with pytest.raises(UnavailableError, match="ps:0"):
            waiting.result()
        assert not channel.alive()
        with pytest.raises(UnavailableError, match="cannot reach ps:0"):
            connect(address, secret=b"s", peer="ps:0", unix=unix)


def test_a_peer_killed_within_a_message_is_noticed() -> None:
    with peer_process() as (process, address), closing(connect(address, secret=b"s", peer="ps:0")) as channel:
        channel.send(Message(Kind.STEP, body=b"half", arrays=(np.zeros(1000),)))
        waiting = Background(lambda: channel.recv(DEADLINE_S))
        assert process.stdout.readline() == "half\n"
        assert waiting.runs_for(0.05)
        process.kill()
        with pytest.raises(UnavailableError, match="ps:0"):
            waiting.result()


@pytest.mark.parametrize("cut", [1, 43, 60, 100, -1])
def test_a_timeout_does_not_strike_within_a_message(cut: int) -> None:
    data = encoded(MESSAGE)
    with raw() as (channel, there):
        there.sendall(data[:cut])
        receiving = Background(lambda: channel.recv(0.01))
        assert receiving.runs_for(0.1)
        there.sendall(data[cut:])
        assert receiving.result().arrays[0].tolist() == MESSAGE.arrays[0].tolist()


@pytest.mark.parametrize("cut", [1, 43, 60, 100, -1])
def test_the_end_within_a_message_is_told(cut: int) -> None:
    with raw() as (channel, there):
        there.sendall(encoded(MESSAGE)[:cut])
        there.close()
        for _ in range(2):
            with pytest.raises(UnavailableError, match="the other is gone"):
                channel.recv(DEADLINE_S)


def test_a_message_in_single_bytes_arrives() -> None:
    with raw() as (channel, there):
        receiving = Background(lambda: [channel.recv(DEADLINE_S) for _ in range(2)])
        for byte in encoded(MESSAGE) * 2:
            there.sendall(bytes((byte,)))
        for message in receiving.result():
            assert message.arrays[0].tolist() == MESSAGE.arrays[0].tolist()


@given(sizes=st.lists(st.sampled_from([0, 1, 500, 40_000, 66_000, 300_000]), min_size=1, max_size=8), chunk=st.integers(1, 200_000))
def test_messages_survive_any_cutting_of_the_stream(sizes: list[int], chunk: int) -> None:
    sent = [Message(Kind.STEP, step=i, body=bytes([i]) * size, arrays=(np.full(size // 8, i),) * (i % 3)) for i, size in enumerate(sizes)]
    stream = b"".join(encoded(m) for m in sent)
    with raw() as (channel, there):
        sending = Background(
            lambda: [there.sendall(stream[i : i + max(chunk, len(stream) // 100)]) for i in range(0, len(stream), max(chunk, len(stream) // 100))]
        )
        for message in sent:
            received = channel.recv(DEADLINE_S)
            assert (received.step, received.body) == (message.step, message.body)
            assert [a.tolist() for a in received.arrays] == [a.tolist() for a in message.arrays]
        sending.result()
        assert channel.bytes_received == len(stream)


@given(changes=st.lists(st.tuples(st.integers(0, 10_000), st.integers(0, 255)), max_size=6), cut=st.integers(0, 10_000), noise=st.binary(max_size=60))
def test_whatever_comes_recv_returns_or_raises_and_never_hangs(changes: list[tuple[int, int]], cut: int, noise: bytes) -> None:
    data = bytearray(encoded(MESSAGE) + noise)
    for position, value in changes:
        data[position % len(data)] = value
    with raw(max_message_bytes=1 << 20) as (channel, there):
        there.sendall(data[: cut or None])
        there.close()

        def read_all() -> None:
            while True:
                channel.recv()

        with pytest.raises((DataLossError, UnavailableError)) as caught:
            Background(read_all).result()
        if caught.type is DataLossError:  # nothing after it can be trusted
            with pytest.raises(CancelledError):
                channel.recv()


def test_too_much_is_neither_sent_nor_received() -> None:
    with raw(max_message_bytes=1000) as (channel, there):
        with pytest.raises(ResourceExhaustedError):
            channel.send(Message(Kind.STEP, body=bytes(1000)))
        there.sendall(encoded(Message(Kind.STEP, body=bytes(900))))
        assert len(channel.recv(DEADLINE_S).body) == 900
        there.sendall(encoded(Message(Kind.STEP, body=bytes(1000))))
        with pytest.raises(DataLossError, match="1000"):
            channel.recv(DEADLINE_S)
        assert there.recv(1) == b""  # it was closed


def test_a_message_that_memory_cannot_hold_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: SocketChannel, size: int) -> None:
        raise MemoryError

    monkeypatch.setattr(SocketChannel, "_payload", full)
    with raw() as (channel, there):
        there.sendall(encoded(MESSAGE))
        with pytest.raises(ResourceExhaustedError, match="the other"):
            channel.recv(DEADLINE_S)
        assert not channel.alive()


@pytest.mark.parametrize("pair", [t for t in TRANSPORTS if t != "in-process"], indirect=True)
def test_closing_wakes_who_is_sending(pair) -> None:
    big = Message(Kind.TENSORS, arrays=(np.zeros(1 << 25, "u1"),))
    sending = Background(lambda: pair[0].send(big))
    assert sending.runs_for(0.1)
    pair[0].close()
    with pytest.raises(CancelledError):
        sending.result()


@pytest.mark.parametrize("pair", [t for t in TRANSPORTS if t != "in-process"], indirect=True)
def test_a_peer_that_closes_while_we_send_is_told(pair) -> None:
    big = Message(Kind.TENSORS, arrays=(np.zeros(1 << 25, "u1"),))
    sending = Background(lambda: pair[0].send(big))
    assert sending.runs_for(0.1)
    pair[1].close()
    with pytest.raises(UnavailableError, match="ps:0"):
        sending.result()


def test_what_the_kernel_takes_in_parts_arrives_whole() -> None:
    here, there = socket.socketpair()
    here.settimeout(DEADLINE_S)  # such a socket takes what fits into its buffer
    sent = (
        np.arange(300_000, dtype="c16"),
        np.array(3, ">f8"),
        *(np.full(99, i) for i in range(1500)),
        np.zeros(300_000, "M8[s]"),
        np.ones((3, 5, 40_000)),
    )
    with closing(SocketChannel(here, "the other")) as channel, closing(SocketChannel(there, "one")) as other:
        sending = Background(lambda: channel.send(Message(Kind.TENSORS, arrays=sent)))
        for found, expected in zip(other.recv(DEADLINE_S).arrays, sent, strict=True):
            assert_same(found, expected)
        assert sending.result() == other.bytes_received


def test_an_interrupt_within_a_message_closes_the_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(signum: int, frame: object) -> None:
        raise KeyboardInterrupt

    previous = signal.signal(signal.SIGUSR1, interrupt)
    try:
        with raw() as (channel, there):
            there.sendall(encoded(MESSAGE)[:60])
            timer = threading.Timer(0.1, signal.pthread_kill, (threading.get_ident(), signal.SIGUSR1))
            timer.start()
            with pytest.raises(KeyboardInterrupt):
                channel.recv()
            timer.join()
            with pytest.raises(CancelledError):
                channel.recv()
    finally:
        signal.signal(signal.SIGUSR1, previous)


def test_small_messages_come_with_one_call(monkeypatch: pytest.MonkeyPatch) -> None:
    reads = []
    read = SocketChannel._read
    monkeypatch.setattr(SocketChannel, "_read", lambda self, target: reads.append(1) or read(self, target))
    with raw() as (channel, there):
        there.sendall(encoded(MESSAGE) * 10)
        for _ in range(10):
            channel.recv(DEADLINE_S)
    assert len(reads) == 1


def test_a_big_body_leaves_no_big_buffer_behind() -> None:
    with raw() as (channel, there):
        sending = Background(lambda: there.sendall(encoded(Message(Kind.REGISTER, body=bytes(1 << 22)))))
        assert len(channel.recv(DEADLINE_S).body) == 1 << 22
        sending.result()
        assert len(channel._buffer) == sockets._SCRATCH


def test_many_channels_at_once() -> None:
    def echo(channel) -> None:
        while True:
            channel.send(channel.recv())

    def converse(address: Address, number: int) -> None:
        with closing(connect(address, unix=number % 2 == 0)) as channel:
            for step in range(30):
                channel.send(Message(Kind.STEP, number, step, arrays=(np.full(100 * number, step),)))
                answer = channel.recv(DEADLINE_S)
                assert (answer.plan, answer.step, answer.arrays[0].tolist()) == (number, step, [step] * (100 * number))

    with listening(echo) as listener:
        for conversation in [Background(lambda n=n: converse(listener.address, n)) for n in range(20)]:
            conversation.result()


@pytest.mark.parametrize("hung_up", [polling.hung_up, polling.ended])
def test_a_peer_that_hangs_up_is_seen_without_reading(hung_up) -> None:
    here, there = socket.socketpair()
    with here, there:
        assert not hung_up(here)
        there.sendall(b"x")
        assert not hung_up(here)
        assert here.recv(1) == b"x"
        there.close()
        assert hung_up(here)


def test_where_there_is_no_poll_select_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(select, "poll")
    here, there = socket.socketpair()
    with here, there:
        assert not polling.readable(here, 0.01)
        there.sendall(b"x")
        assert polling.readable(here, DEADLINE_S)


def test_what_was_read_ahead_is_not_received_after_closing() -> None:
    with raw() as (channel, there):
        there.sendall(encoded(MESSAGE) * 2)
        channel.recv(DEADLINE_S)
        channel.close()
        for timeout in (None, 0):
            with pytest.raises(CancelledError):
                channel.recv(timeout)
