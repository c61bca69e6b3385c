"""The listener and its guests: who is let in, who is not, and how it ends."""

from __future__ import annotations

import dataclasses
import errno
import logging
import os
import queue
import socket
import ssl
import stat
import struct
import tempfile
import threading
from contextlib import closing

import pytest

from pslab.errors import AlreadyExistsError, CancelledError, DataLossError, DeadlineExceededError, PermissionDeniedError, UnavailableError, UsageError
from pslab.runtime.transport import Address, Kind, Listener, Message, connect
from pslab.runtime.transport import listener as listeners
from pslab.runtime.transport.address import this_machine
from pslab.testing.transports import DEADLINE_S, Background, wait_until
from tests.runtime.transport.conftest import listening


def echo(channel) -> None:
    while True:
        channel.send(channel.recv())


def assert_serves(address: Address, **options) -> None:
    with closing(connect(address, **options)) as channel:
        channel.send(Message(Kind.STEP, step=9))
        assert channel.recv(DEADLINE_S).step == 9


def family(channel) -> int:
    return channel._sock.family


@pytest.mark.parametrize("unix", [True, False])
def test_who_does_not_know_the_secret_is_refused(unix: bool, caplog: pytest.LogCaptureFixture) -> None:
    served = []
    with listening(served.append, secret=b"right", unix=unix) as listener:
        for secret in (b"wrong", b"", b"none"):
            with pytest.raises(PermissionDeniedError, match=r"ps:0 at 127\.0\.0\.1"):
                connect(listener.address, secret=secret, peer="ps:0")
        wait_until(lambda: caplog.text.count("ps:0 refused a connection") == 3)
    assert served == []


def test_without_a_secret_the_empty_one_counts() -> None:
    with listening(echo) as listener:
        assert_serves(listener.address)
        with pytest.raises(PermissionDeniedError):
            connect(listener.address, secret=b"none")


def test_a_client_that_lies_about_its_proof_is_refused(caplog: pytest.LogCaptureFixture) -> None:
    served = []
    with listening(served.append, secret=b"right") as listener, socket.create_connection((listener.address.host, listener.address.port)) as sock:
        sock.sendall(struct.pack("<4sH32sH", b"psla", 2, bytes(32), 3) + b"eve" + bytes(32))
        with sock.makefile("rb") as stream:
            assert len(stream.read()) == 70  # its answer, and no welcome
        wait_until(lambda: "'eve' does not know this cluster's secret" in caplog.text)
    assert served == []


def test_the_client_tells_its_name() -> None:
    names = queue.SimpleQueue()
    with listening(lambda channel: names.put(channel.peer)) as listener:
        for name, known in (("worker:1", "worker:1"), ("", "a client"), ("é" * 2000, None)):
            connect(listener.address, name=name).close()
            assert names.get(timeout=DEADLINE_S) == (known or "é" * 512)


def test_the_unix_socket_is_taken_where_it_can_be() -> None:
    with listening(echo) as listener:
        address = listener.address
        elsewhere = dataclasses.replace(address, machine="another")
        gone = dataclasses.replace(address, unix=address.unix + "-gone")
        for where, options, expected in (
            (address, {}, socket.AF_UNIX),
            (address.to_string(), {}, socket.AF_UNIX),
            (address, {"unix": False}, socket.AF_INET),
            (elsewhere, {}, socket.AF_INET),
            (gone, {}, socket.AF_INET),
            (f"{address.host}:{address.port}", {}, socket.AF_INET),
            (f"grpc://{address.host}:{address.port}", {}, socket.AF_INET),
        ):
            with closing(connect(where, **options)) as channel:
                assert family(channel) == expected
            assert_serves(where, **options)


def test_the_unix_socket_is_this_users_and_goes_with_the_listener() -> None:
    with listening(echo) as listener:
        directory = os.path.dirname(listener.address.unix)
        assert stat.S_IMODE(os.stat(directory).st_mode) == 0o700
        assert listener.address.machine == this_machine()
    assert not os.path.exists(directory)


def test_a_long_temporary_directory_does_not_matter(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    deep = tmp_path / ("d" * 100)
    deep.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(deep))
    with listening(echo) as listener:
        assert listener.address.unix.startswith("/tmp/pslab-")
        assert_serves(listener.address)
    assert list(deep.iterdir()) == []


def test_where_there_is_no_place_for_a_unix_socket_tcp_serves(tmp_path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    def full(**options: object) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(tempfile, "mkdtemp", full)
    with listening(echo) as listener:
        assert listener.address.unix is None
        assert_serves(listener.address)
    assert "listens on TCP only" in caplog.text


def test_ipv6() -> None:
    try:
        listener = Listener(echo, name="ps:0", host="::1", unix=False)
    except UnavailableError:
        pytest.skip("no IPv6 here")
    with closing(listener):
        assert_serves(listener.address.to_string())


def test_a_port_in_use_is_told() -> None:
    with listening(echo) as listener, pytest.raises(AlreadyExistsError, match=rf"worker:0 cannot listen on 127.0.0.1:{listener.address.port}"):
        Listener(echo, name="worker:0", port=listener.address.port)


def test_an_address_of_another_machine_is_told() -> None:
    with pytest.raises(UnavailableError, match=r"ps:0 cannot listen on 203\.0\.113\.1"):
        Listener(echo, name="ps:0", host="203.0.113.1")


def test_a_port_can_be_used_again_at_once() -> None:
    with listening(echo) as listener:
        assert_serves(listener.address, unix=False)
        port = listener.address.port
    with listening(echo, port=port) as listener:
        assert_serves(listener.address, unix=False)


@pytest.mark.parametrize("drip", [b"", b"p"])
def test_a_stranger_holds_nothing_up(drip: bytes, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(listeners, "HANDSHAKE_S", 0.3)
    with listening(echo) as listener, socket.create_connection((listener.address.host, listener.address.port)) as stranger:
        assert_serves(listener.address, unix=False)
        pause = threading.Event()

        def shown_out() -> bool:
            if drip and "refused" not in caplog.text:
                stranger.send(drip)  # one byte now and then does not buy more time
                pause.wait(0.05)
            return "timed out" in caplog.text

        wait_until(shown_out)
        wait_until(lambda: not listener._connections)
        assert_serves(listener.address, unix=False)


@pytest.mark.parametrize(
    "noise", [b"GET / HTTP/1.1\r\nHost: x\r\n\r\n" * 3, bytes(100), b"\xff" * 100, struct.pack("<4sH32sH", b"psla", 2, bytes(32), 65535)]
)
def test_a_stranger_that_talks_nonsense_is_refused(noise: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with listening(echo) as listener:
        with socket.create_connection((listener.address.host, listener.address.port)) as stranger:
            stranger.sendall(noise)
            wait_until(lambda: "a client speaks" in caplog.text)
        assert_serves(listener.address)


def server_that_says(answer: bytes | None):
    """The address of a server that answers so, whatever it is asked; None: it waits."""
    listening = socket.create_server(("127.0.0.1", 0))

    def run() -> None:
        sock, _ = listening.accept()
        with sock:
            sock.recv(1024)
            if answer is not None:
                sock.sendall(answer)
                return
            sock.recv(1024)

    threading.Thread(target=run, daemon=True).start()
    return listening, Address(*listening.getsockname())


@pytest.mark.parametrize(
    ("answer", "error", "message"),
    [
        (struct.pack("<4sH64x", b"psla", 1), DataLossError, "version 1; expected b'psla', version 2"),
        (b"HTTP/1.1 400 Bad Request\r\n" * 3, DataLossError, "b'HTTP'"),
        (b"", UnavailableError, "closed the connection in the handshake"),
        (b"HTTP", UnavailableError, "closed the connection in the handshake"),
        (None, DeadlineExceededError, "did not answer in 0.2 s"),
    ],
)
def test_a_server_that_is_none_is_told(answer: bytes | None, error: type[Exception], message: str) -> None:
    listening, address = server_that_says(answer)
    with listening, pytest.raises(error, match=message) as caught:
        connect(address, peer="ps:0", timeout=0.2 if answer is None else DEADLINE_S)
    assert f"ps:0 at 127.0.0.1:{address.port}" in str(caught.value)


def test_nobody_there() -> None:
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))  # it has the port, and does not listen
        port = sock.getsockname()[1]
        with pytest.raises(UnavailableError, match=rf"cannot reach ps:0 at 127\.0\.0\.1:{port}: Connection refused"):
            connect(f"127.0.0.1:{port}", peer="ps:0")
    with pytest.raises(UnavailableError, match=r"cannot reach nowhere\.invalid:1"):
        connect("nowhere.invalid:1")
    with pytest.raises(UnavailableError, match="cannot reach"):
        connect(f"{'a' * 70}.com:1")
    with pytest.raises(UsageError):
        connect("nowhere")


def test_an_error_in_serve_is_logged_and_harms_nobody(caplog: pytest.LogCaptureFixture) -> None:
    def serve(channel) -> None:
        if channel.recv().step == 0:
            raise ZeroDivisionError("in serve")
        channel.send(Message(Kind.DONE))

    with listening(serve) as listener, closing(connect(listener.address)) as good, closing(connect(listener.address, name="worker:7")) as bad:
        bad.send(Message(Kind.STEP, step=0))
        with pytest.raises(UnavailableError):
            bad.recv(DEADLINE_S)
        wait_until(lambda: "ZeroDivisionError: in serve" in caplog.text)
        assert "worker:7" in caplog.text
        good.send(Message(Kind.STEP, step=1))
        assert good.recv(DEADLINE_S).kind == Kind.DONE


def test_closing_ends_everything(contexts, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HANDSHAKE_S", "CLOSE_S"):
        monkeypatch.setattr(listeners, name, 2 * DEADLINE_S)  # whoever waits for these waits too long
    before = set(threading.enumerate())
    ended = queue.SimpleQueue()

    def serve(channel) -> None:
        try:
            channel.recv()
        except CancelledError as error:
            ended.put(error)

    for tls in (None, contexts[0]):
        listener = Listener(serve, name="ps:0", ssl_context=tls)
        where = (listener.address.host, listener.address.port)
        client = connect(listener.address, ssl_context=contexts[1] if tls else None)
        silent = socket.create_connection(where)  # in its handshake
        wait_until(lambda listener=listener: len(listener._connections) == 2)
        waiting = Background(client.recv)
        Background(listener.close).result()
        listener.close()
        with pytest.raises(UnavailableError):
            waiting.result()
        assert isinstance(ended.get(timeout=DEADLINE_S), CancelledError)
        assert silent.recv(1) == b""
        silent.close()
        client.close()
        with pytest.raises(UnavailableError):
            connect(listener.address)
        wait_until(lambda: before.issuperset(threading.enumerate()))


def test_serve_may_close_its_own_listener() -> None:
    listener = Listener(lambda channel: listener.close(), name="ps:0")
    with closing(connect(listener.address)) as channel, pytest.raises(UnavailableError):
        channel.recv(DEADLINE_S)
    wait_until(lambda: not any(thread.is_alive() for thread in listener._acceptors))


def test_want_of_descriptors_passes(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr(listeners, "ACCEPT_AGAIN_S", 0.01)
    accept, failures = socket.socket.accept, iter([OSError(errno.EMFILE, "Too many open files"), OSError(errno.ENOBUFS, "No buffer space")])

    def scarce(sock: socket.socket):
        error = next(failures, None)
        if error is not None:
            raise error
        return accept(sock)

    monkeypatch.setattr(socket.socket, "accept", scarce)
    with listening(echo, unix=False) as listener:
        assert_serves(listener.address)
    assert "Too many open files" in caplog.text


def test_tls_is_verified(contexts, caplog: pytest.LogCaptureFixture) -> None:
    with listening(echo, ssl_context=contexts[0]) as listener:
        assert listener.address.unix is None
        assert_serves(listener.address, ssl_context=contexts[1])
        with pytest.raises(UnavailableError, match="certificate"):
            connect(listener.address, ssl_context=ssl.create_default_context())
        plain = Background(lambda: connect(listener.address))
        with pytest.raises((UnavailableError, DataLossError)):
            plain.result()
        wait_until(lambda: caplog.text.count("refused a connection") == 2)


@pytest.fixture(autouse=True)
def _all_logs(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "pslab.transport")
