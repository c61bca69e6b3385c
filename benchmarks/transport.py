"""What a message costs on each transport, next to a bare socket: ``python -m benchmarks.transport``.

One round trip is a push of arrays to another process, answered by an empty message. The bare socket sends as many bytes with ``sendall`` and reads them
into a buffer that it keeps, where a channel gives each message memory of its own: what no protocol can beat. Rounds of both alternate, so that noise hits
both; the ratios are what counts.
"""

from __future__ import annotations

import argparse
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import closing
from statistics import median
from time import perf_counter

import numpy as np

from pslab.errors import UnavailableError
from pslab.runtime.transport import Address, Channel, Kind, Listener, Message, connect, inprocess_pair, wire
from pslab.runtime.transport.sockets import tune

LAYERS = {
    "empty": (),
    "MLP 64-128-10": ((64, 128), (128,), (128, 10), (10,)),
    "MLP 64-1024-1024-10": ((64, 1024), (1024,), (1024, 1024), (1024,), (1024, 10), (10,)),
    "16 MB": ((4, 1024, 1024),),
    "64 MB": ((16, 1024, 1024),),
}
ANSWER = Message(Kind.DONE)
ANSWER_BYTES = wire.encode(ANSWER)[1]
ROUNDS = 12


def answer(channel: Channel) -> None:
    while True:
        channel.recv()
        channel.send(ANSWER)


def answer_bare(listening: socket.socket) -> None:
    """The bare socket's far end: told how many bytes a push has, it reads and answers until it is told 0."""
    sock, _ = listening.accept()
    tune(sock)
    with sock:
        while size := int.from_bytes(sock.recv(8), "little"):
            buffer, reply = memoryview(bytearray(size)), bytes(ANSWER_BYTES)
            sock.sendall(b"k")
            for _ in range(int.from_bytes(sock.recv(8), "little")):
                read_into(sock, buffer)
                sock.sendall(reply)


def read_into(sock: socket.socket, buffer: memoryview) -> None:
    held = 0
    while held < len(buffer):
        held += sock.recv_into(buffer[held:])


def serve() -> None:
    """The other process: a listener, and a bare server beside each of its sockets. It ends with its standard input."""
    with closing(Listener(answer, name="peer")) as listener, socket.create_server(("127.0.0.1", 0)) as tcp, socket.socket(socket.AF_UNIX) as unix:
        unix.bind(f"{listener.address.unix}-bare")
        unix.listen()
        for listening in (tcp, unix):
            threading.Thread(target=answer_bare, args=(listening,), daemon=True).start()
        print(listener.address.to_string(), tcp.getsockname()[1], flush=True)
        sys.stdin.read()


def over_channel(channel: Channel, message: Message) -> Callable[[int], float]:
    def run(times: int) -> float:
        begin = perf_counter()
        for _ in range(times):
            channel.send(message)
            channel.recv()
        return (perf_counter() - begin) / times

    return run


def over_bare(sock: socket.socket, size: int) -> Callable[[int], float]:
    data, reply = bytes(size), memoryview(bytearray(ANSWER_BYTES))

    def run(times: int) -> float:
        sock.sendall(size.to_bytes(8, "little"))
        assert sock.recv(1) == b"k"
        sock.sendall(times.to_bytes(8, "little"))
        begin = perf_counter()
        for _ in range(times):
            sock.sendall(data)
            read_into(sock, reply)
        return (perf_counter() - begin) / times

    return run


def in_process() -> Channel:
    here, there = inprocess_pair()

    def run() -> None:
        try:
            answer(there)
        except UnavailableError:
            return

    threading.Thread(target=run, daemon=True).start()
    return here


def bare(family: int, address: object) -> socket.socket:
    sock = socket.socket(family)
    sock.connect(address)
    tune(sock)
    return sock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--seconds", type=float, default=0.1, help="length of one of the rounds")
    options = parser.parse_args()
    if options.serve:
        serve()
        return
    command = [sys.executable, "-m", "benchmarks.transport", "--serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer:
        compare(peer.stdout.readline(), options.seconds)
        peer.stdin.close()


def compare(where: str, seconds: float) -> None:
    text, port = where.split()
    address = Address.parse(text)
    channels = {"tcp": connect(address, unix=False), "unix": connect(address), "in-process": in_process()}
    sockets = {"tcp": bare(socket.AF_INET, ("127.0.0.1", int(port))), "unix": bare(socket.AF_UNIX, f"{address.unix}-bare")}
    print(f"{'push':20} {'bytes':>10}  {'transport':10} {'round trip':>12} {'GB/s':>6}  {'of bare':>8}")
    for title, shapes in LAYERS.items():
        message = Message(Kind.TENSORS, arrays=tuple(np.ones(shape, np.float32) for shape in shapes))
        size = wire.encode(message)[1]
        runs = {name: over_channel(channel, message) for name, channel in channels.items()}
        runs |= {f"bare {name}": over_bare(sock, size) for name, sock in sockets.items()}
        runs["unix"](20)
        times = max(3, int(seconds / runs["unix"](5)))
        found: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(ROUNDS):
            for name, run in runs.items():
                found[name].append(run(times))
        for name, measured in found.items():
            ratio = f"{median(b / m for b, m in zip(found[f'bare {name}'], measured, strict=True)):8.2f}" if name in sockets else ""
            took = median(measured)
            print(f"{title:20} {size:10}  {name:10} {took * 1e6:9.1f} µs {size / took / 1e9:6.2f}  {ratio}")
    for end in (*channels.values(), *sockets.values()):
        end.close()


if __name__ == "__main__":
    main()
