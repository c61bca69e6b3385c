"""Frames on a pipe: how a `Cluster` and its host process talk. Both ends are pslab's own, and trust each other."""

from __future__ import annotations

import struct
import threading
from typing import Any, BinaryIO

import cloudpickle

_LENGTH = struct.Struct("<Q")


class FrameWriter:
    """Writes pickled values, each as one frame, from any thread."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._lock = threading.Lock()

    def write(self, value: Any) -> None:
        """Write a value.

        Raises:
            OSError: the other end is gone.
        """
        data = cloudpickle.dumps(value)
        with self._lock:
            self._file.write(_LENGTH.pack(len(data)) + data)
            self._file.flush()

    def close(self) -> None:
        """Close the pipe; the other end reads its end."""
        with self._lock:
            self._file.close()


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
