"""Frames on a pipe: how a `Cluster` and its host process talk. Both ends are pslab's own, and trust each other."""

from __future__ import annotations

import contextlib
import queue
import struct
import threading
from typing import Any, BinaryIO

import cloudpickle

_LENGTH = struct.Struct("<Q")


class FrameWriter:
    """Writes pickled values, each as one frame, from any thread.

    A thread of its own does the writing: an interrupt of the caller cannot tear a frame, and a reader that is slow keeps no caller waiting.
    """

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._frames: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="pslab pipe", daemon=True).start()

    def write(self, value: Any) -> None:
        """Have a value written. Where the other end is gone, it is lost; whoever reads from there learns that."""
        self._frames.put(cloudpickle.dumps(value))

    def close(self) -> None:
        """Close the pipe, after what is still to be written; the other end reads its end."""
        self._frames.put(None)

    def _run(self) -> None:
        with contextlib.suppress(OSError), self._file:
            while (data := self._frames.get()) is not None:
                self._file.write(_LENGTH.pack(len(data)))
                self._file.write(data)
                self._file.flush()


def read_frame(file: BinaryIO) -> Any:
    """The next value.

    Raises:
        EOFError: the other end is gone.
    """
    head = _exactly(file, _LENGTH.size)
    return cloudpickle.loads(_exactly(file, _LENGTH.unpack(head)[0]))


def _exactly(file: BinaryIO, count: int) -> bytes:
    data = file.read(count)
    if len(data) < count:
        raise EOFError
    return data
