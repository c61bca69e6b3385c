"""Reading event files back (TensorFlow 1's ``tf.train.summary_iterator``)."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import Any

from pslab.errors import DataLossError


def summary_iterator(path: str | os.PathLike[str]) -> Iterator[Any]:
    """The ``Event`` protocol buffers of an event file, in order. A record that is still being written at its end is left out.

    Raises:
        DataLossError: a record's checksum does not fit.
        FileNotFoundError: there is no such file.
    """
    from tensorboardX.proto.event_pb2 import Event
    from tensorboardX.record_writer import masked_crc32c

    with open(path, "rb") as file:
        while len(header := file.read(12)) == 12:
            (length,) = struct.unpack("<Q", header[:8])
            if struct.unpack("<I", header[8:])[0] != masked_crc32c(header[:8]):
                raise DataLossError(f"{os.fspath(path)}: no event file, or a corrupted record at byte {file.tell() - 12}")
            data, checksum = file.read(length), file.read(4)
            if len(checksum) < 4:
                return
            if struct.unpack("<I", checksum)[0] != masked_crc32c(data):
                raise DataLossError(f"{os.fspath(path)}: corrupted record before byte {file.tell()}")
            yield Event.FromString(data)
