"""The IDX files in which MNIST is kept."""

from __future__ import annotations

import gzip
import math
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from pslab.errors import DataLossError

_DTYPES = {0x08: ">u1", 0x09: ">i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_MAX_AXES = 8


def read_idx(path: Path) -> np.ndarray[Any, Any]:
    """The array in an IDX file, compressed with gzip or not.

    Raises:
        DataLossError: the file is cut short, has more than it says, or is not one.
        FileNotFoundError: there is none.
    """
    data = path.read_bytes()
    if data[:2] == b"\x1f\x8b":
        try:
            data = gzip.decompress(data)
        except (EOFError, OSError, ValueError, zlib.error) as error:
            raise DataLossError(f"{path} cannot be unpacked: {error}", "fetch it again") from None
    return _parse(data, path)


def _parse(data: bytes, path: Path) -> np.ndarray[Any, Any]:
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _DTYPES or data[3] > _MAX_AXES:
        raise DataLossError(f"{path} is not an IDX file: it begins with {data[:4].hex(' ') or 'nothing'}")
    dtype, axes = np.dtype(_DTYPES[data[2]]), data[3]
    begin = 4 + 4 * axes
    if len(data) < begin:
        raise DataLossError(f"{path} is cut short: {len(data)} bytes, {begin} are needed for its header alone", "fetch it again")
    shape = struct.unpack(f">{axes}I", data[4:begin])
    expected = begin + math.prod(shape) * dtype.itemsize
    if len(data) != expected:
        raise DataLossError(f"{path} has {len(data)} bytes, but an array of shape {shape} needs {expected}", "fetch it again")
    return np.frombuffer(data, dtype, offset=begin).reshape(shape).astype(dtype.newbyteorder("="))
