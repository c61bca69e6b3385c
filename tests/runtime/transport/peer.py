"""A peer in a process of its own: listens, says where, answers every message with itself; told b"half", it sends half of an answer, says so, and waits."""

from __future__ import annotations

import threading

from pslab.runtime.transport import Channel, Listener, wire


def serve(channel: Channel) -> None:
    while True:
        message = channel.recv()
        if message.body == b"half":
            buffers, _ = wire.encode(message)
            data = b"".join(buffers)
            channel._sock.sendall(data[: len(data) // 2])
            print("half", flush=True)
            threading.Event().wait()
        channel.send(message)


if __name__ == "__main__":
    print(Listener(serve, name="peer", secret=b"s").address.to_string(), flush=True)
    threading.Event().wait()
