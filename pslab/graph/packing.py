"""Plain data as bytes, with msgpack: numbers, strings, bytes, tuples, dicts and arrays. There is no code in it, and none comes out of it."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import msgpack
import numpy as np

from pslab.errors import DataLossError

_ARRAY, _STRINGS = 1, 2
_DTYPE = re.compile(r"[<>|][biuf][1248]", re.ASCII)
_LONGEST = 1 << 15
"""Members that a tuple or dict of a record may have: what a few bytes announce must not make us reserve without limit."""


def pack(value: Any) -> bytes:
    """Encode plain data.

    Raises:
        TypeError: it holds something else.
    """
    return msgpack.packb(value, default=_encode, use_bin_type=True)  # type: ignore[no-any-return]


def unpack(data: bytes) -> Any:
    """Decode what `pack` encoded; sequences come back as tuples.

    Raises:
        DataLossError: the bytes are not such an encoding.
    """
    with _readable(data):
        return msgpack.unpackb(data, ext_hook=_decode, use_list=False, strict_map_key=False)


def pack_records(records: Iterable[Any]) -> bytes:
    """Encode records of plain data, one after the other.

    Raises:
        TypeError: one holds something else.
    """
    return b"".join(map(pack, records))


def unpack_records(data: bytes) -> Iterator[Any]:
    """Decode what `pack_records` encoded, record by record. Memory is reserved for what is there, not for what is announced.

    Raises:
        DataLossError: the bytes are not such an encoding, or end within a record.
    """
    with _readable(data):
        most = min(len(data), _LONGEST)
        unpacker = msgpack.Unpacker(
            ext_hook=_decode, use_list=False, strict_map_key=False, max_buffer_size=len(data), max_array_len=most, max_map_len=most
        )
        unpacker.feed(data)
        while unpacker.tell() < len(data):
            yield unpacker.unpack()


@contextmanager
def _readable(data: bytes) -> Iterator[None]:
    try:
        yield
    except (ValueError, TypeError, OverflowError, msgpack.UnpackException, msgpack.BufferFull) as error:
        raise DataLossError(f"{len(data)} bytes that should describe a graph do not: {str(error) or type(error).__name__}") from None


def _encode(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        array = np.asarray(value)
        if array.dtype == object:
            strings = [v if isinstance(v, str | bytes) else str(v) for v in array.ravel()]
            return msgpack.ExtType(_STRINGS, pack((array.shape, strings)))
        return msgpack.ExtType(_ARRAY, pack((array.dtype.str, array.shape, array.tobytes())))
    raise TypeError(f"cannot send a {type(value).__name__} as part of a graph: {value!r}")


def _decode(code: int, data: bytes) -> Any:
    match code, msgpack.unpackb(data, use_list=False):
        case int(found), (str(dtype), tuple(shape), bytes(content)) if found == _ARRAY:
            if not _DTYPE.fullmatch(dtype):
                raise ValueError(f"an array of dtype {dtype!r:.40} cannot come from outside")
            if _count(shape) * np.dtype(dtype).itemsize != len(content):
                raise ValueError(f"an array of shape {shape!r:.60} and dtype {dtype} has {len(content)} bytes")
            return np.frombuffer(content, dtype).reshape(shape).copy()
        case int(found), (tuple(shape), tuple(strings)) if found == _STRINGS:
            if _count(shape) != len(strings) or not all(isinstance(s, str | bytes) for s in strings):
                raise ValueError(f"an array of shape {shape!r:.60} has {len(strings)} members that should be strings")
            array = np.empty(len(strings), object)
            array[:] = strings
            return array.reshape(shape)
    raise ValueError(f"unknown extension {code}")


def _count(shape: tuple[Any, ...]) -> int:
    if len(shape) > 32 or not all(type(d) is int and d >= 0 for d in shape):
        raise ValueError(f"{shape!r:.60} is not an array's shape")
    return math.prod(shape)
