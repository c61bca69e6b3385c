"""How a message looks on the wire: a fixed header, a small block that describes it, and the arrays as they lie in memory. There is no pickle in it.

header   magic, kind, fields, arrays, plan, step, cut, length of the description, length of the body, length of the payload
block    fields (int64), description of the arrays (msgpack: dtype and shape of each), body
payload  the arrays, each aligned to 64 bytes
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import msgpack
import numpy as np

from pslab.errors import DataLossError, InternalError
from pslab.runtime.transport.message import Message

HEADER = struct.Struct("<HBBIqqIIIQ")
MAGIC = 0x5053
ALIGN = 64
MAX_BLOCK = 1 << 28
"""Bytes that the description and body of a message may have."""
MAX_PAYLOAD = 1 << 36
"""Bytes that the arrays of a message may have."""
_PADDING = bytes(ALIGN)


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the arrays of a payload are.

    Attributes:
        arrays: dtype, shape, offset and length in bytes of each.
        size: bytes of the payload.
    """

    arrays: tuple[tuple[np.dtype[Any], tuple[int, ...], int, int], ...]
    size: int


@dataclass(frozen=True, slots=True)
class Header:
    """A header, read and checked."""

    kind: int
    fields: int
    arrays: int
    plan: int
    step: int
    cut: int
    description: int
    body: int
    payload: int

    @property
    def block(self) -> int:
        """Bytes of the block that follows."""
        return 8 * self.fields + self.description + self.body


def encode(message: Message) -> tuple[list[Any], int]:
    """The buffers to send, in order, and their length together."""
    arrays = [_sendable(a) for a in message.arrays]
    description, padding, payload = _describe(tuple((a.dtype.str, a.shape) for a in arrays))
    count = len(message.fields)
    head = HEADER.pack(MAGIC, message.kind, count, len(arrays), message.plan, message.step, message.cut, len(description), len(message.body), payload)
    start = b"".join((head, struct.pack(f"<{count}q", *message.fields), description, message.body))
    buffers: list[Any] = [start]
    for array, pad in zip(arrays, padding, strict=True):
        if array.nbytes:
            buffers.append(array.data if array.ndim and array.flags.c_contiguous else array.tobytes())
        if pad:
            buffers.append(_PADDING[:pad])
    return buffers, len(start) + payload


def decode_header(buffer: Any) -> Header:
    """Read a header.

    Raises:
        DataLossError: it is not one, or announces more than is allowed.
    """
    magic, kind, fields, arrays, plan, step, cut, description, body, payload = HEADER.unpack_from(buffer)
    header = Header(kind, fields, arrays, plan, step, cut, description, body, payload)
    if magic != MAGIC:
        raise DataLossError(f"what came is not a message: it begins with {magic:#06x}, not {MAGIC:#06x}")
    if header.block > MAX_BLOCK or payload > MAX_PAYLOAD or fields > 16:
        raise DataLossError(f"a message of {header.block} + {payload} bytes with {fields} fields is more than is allowed")
    return header


def decode_block(header: Header, block: Any) -> tuple[tuple[int, ...], Layout, bytes]:
    """Read the block: the fields, the layout of the payload, the body.

    Raises:
        DataLossError: it contradicts itself or the header.
    """
    end = 8 * header.fields
    fields = struct.unpack_from(f"<{header.fields}q", block)
    layout = _layout(bytes(block[end : end + header.description]))
    if len(layout.arrays) != header.arrays or layout.size != header.payload:
        raise DataLossError("a message describes other arrays than it has")
    return fields, layout, bytes(block[end + header.description : end + header.description + header.body])


def arrays_in(payload: np.ndarray[Any, Any], layout: Layout) -> tuple[np.ndarray[Any, Any], ...]:
    """The arrays of a payload, as views into it."""
    return tuple(payload[offset : offset + length].view(dtype).reshape(shape) for dtype, shape, offset, length in layout.arrays)


def _sendable(value: Any) -> np.ndarray[Any, Any]:
    array = np.asarray(value)
    if array.dtype.hasobject:
        raise InternalError(f"an array of {array.dtype} cannot be sent")
    return array if array.flags.c_contiguous else np.ascontiguousarray(array)


@lru_cache(maxsize=1024)
def _describe(arrays: tuple[tuple[str, tuple[int, ...]], ...]) -> tuple[bytes, tuple[int, ...], int]:
    """The description, the padding after each array, and the length of the payload."""
    padding = []
    size = 0
    for dtype, shape in arrays:
        length = np.dtype(dtype).itemsize * math.prod(shape)
        padding.append(-length % ALIGN)
        size += length + padding[-1]
    return msgpack.packb(arrays), tuple(padding), size


@lru_cache(maxsize=1024)
def _layout(description: bytes) -> Layout:
    try:
        found = msgpack.unpackb(description, use_list=False)
        arrays = tuple(_array(dtype, shape) for dtype, shape in found)
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise DataLossError(f"a message's description cannot be read: {error}") from None
    placed, offset = [], 0
    for dtype, shape, length in arrays:
        placed.append((dtype, shape, offset, length))
        offset += length + -length % ALIGN
    return Layout(tuple(placed), offset)


def _array(name: Any, shape: Any) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    if not isinstance(name, str) or not isinstance(shape, tuple) or not all(type(d) is int and d >= 0 for d in shape):
        raise ValueError(f"{name!r} of shape {shape!r} is no array")
    dtype = np.dtype(name)
    if dtype.hasobject or dtype.itemsize == 0 or len(shape) > 32:
        raise ValueError(f"an array of dtype {name!r} with {len(shape)} axes cannot come from outside")
    return dtype, shape, dtype.itemsize * math.prod(shape)
