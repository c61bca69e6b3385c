"""How a message looks on the wire: a fixed header, a small block that describes it, and the arrays as they lie in memory. There is no pickle in it.

header   magic, kind, fields, arrays, plan, step, cut, length of the description, length of the body, length of the payload
block    fields (int64), description of the arrays (msgpack: dtype, shape and length in bytes of each), body
payload  the arrays, each padded to a multiple of 64 bytes; an array of strings is a msgpack list
"""

from __future__ import annotations

import math
import re
import struct
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import msgpack
import numpy as np

from pslab.errors import DataLossError, InternalError, InvalidArgumentError, ResourceExhaustedError
from pslab.runtime.transport.message import Message

HEADER = struct.Struct("<HBBIqqIIIQ")
MAGIC = 0x5053
ALIGN = 64
MAX_FIELDS = 16
_FIELDS = tuple(struct.Struct(f"<{count}q") for count in range(MAX_FIELDS + 1))
MAX_DESCRIPTION = 1 << 20
"""Bytes that the description of a message's arrays may have."""
MAX_MESSAGE = 1 << 32
"""Bytes that a message may have, unless its channel says otherwise: a garbled header must not make us reserve without limit."""
_MAX_AXES = 64
_MAX_ARRAY = 1 << 63
_PADDING = bytes(ALIGN)
_DTYPE = re.compile(r"[<>|][biufcmMSU][0-9]{1,9}(\[[0-9]{0,9}[A-Za-z]{1,7}\])?", re.ASCII)
"""All that ``dtype.str`` writes, and no more: ``numpy.dtype("<m8[s/0]")`` ends the process with a division by zero."""
_LENT, _TIMES = "biufcSU", "mM"
"""Kinds of dtype whose arrays NumPy lends as buffers, and those that need a view."""
_STRINGS = "|O"
"""Stands for an array of Python strings (TensorFlow's ``tf.string``): ``str`` and ``bytes``, no other object."""

Described = tuple[np.dtype[Any], tuple[int, ...], int]
"""What the wire says of an array: dtype, shape, bytes."""


class Header(NamedTuple):
    """A header, read and checked."""

    magic: int
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

    @property
    def size(self) -> int:
        """Bytes of the whole message."""
        return HEADER.size + self.block + self.payload


@dataclass(frozen=True, slots=True)
class Layout:
    """Where the arrays of a payload are.

    Attributes:
        arrays: dtype, shape, and where it begins and ends, of each.
        size: bytes of the payload.
    """

    arrays: tuple[tuple[np.dtype[Any], tuple[int, ...], int, int], ...]
    size: int


def encode(message: Message, limit: int = MAX_MESSAGE) -> tuple[list[Any], int]:
    """The buffers to send, in order and none of them empty, and their length together. Contiguous arrays are not copied.

    Raises:
        InvalidArgumentError: an array of what cannot be sent: structures, Python objects other than strings.
        ResourceExhaustedError: the message would have more than ``limit`` bytes.
    """
    contents = []
    described = []
    for value in message.arrays:
        array = np.asarray(value)
        content = array if array.flags.c_contiguous and array.dtype.kind in _LENT else _prepare(array)
        contents.append(content)
        described.append((array.dtype, array.shape, content.nbytes))
    description, padding, payload = _describe(tuple(described))
    fields, body = message.fields, message.body
    size = HEADER.size + 8 * len(fields) + len(description) + len(body) + payload
    if size > limit or len(description) > MAX_DESCRIPTION:
        raise ResourceExhaustedError(
            f"a message of {size} bytes with {len(described)} arrays is too big: {limit} bytes may be sent at once",
            "more ps tasks share the variables",
        )
    if len(fields) > MAX_FIELDS:
        raise InternalError(f"a message of {len(fields)} fields: at most {MAX_FIELDS} may be sent")
    header = (MAGIC, message.kind, len(fields), len(described), message.plan, message.step, message.cut, len(description), len(body), payload)
    try:
        start = b"".join((HEADER.pack(*header), _FIELDS[len(fields)].pack(*fields), description, body))
    except struct.error as error:
        raise InternalError(f"the numbers of a message do not fit: {error}") from None
    buffers: list[Any] = [start]
    for content, pad in zip(contents, padding, strict=True):
        if content.nbytes:
            buffers.append(content)
        if pad:
            buffers.append(_PADDING[:pad])
    return buffers, size


def decode_header(buffer: Any, limit: int = MAX_MESSAGE) -> Header:
    """Read a header.

    Raises:
        DataLossError: it is not one, or announces more than ``limit`` bytes.
    """
    header = Header._make(HEADER.unpack_from(buffer))
    if header.magic != MAGIC:
        raise DataLossError(f"what came is not a message: it begins with {header.magic:#06x}, not {MAGIC:#06x}")
    if header.size > limit or header.description > MAX_DESCRIPTION or header.fields > MAX_FIELDS:
        raise DataLossError(
            f"a message of {header.size} bytes, {header.description} of them to describe it, with {header.fields} fields; "
            f"at most {limit}, {MAX_DESCRIPTION} and {MAX_FIELDS} are allowed"
        )
    return header


def decode_block(header: Header, block: Any) -> tuple[tuple[int, ...], Layout, bytes]:
    """Read the block: the fields, the layout of the payload, the body.

    Raises:
        DataLossError: it contradicts itself or the header.
    """
    start = 8 * header.fields
    end = start + header.description
    layout = _layout(bytes(block[start:end]))
    if len(layout.arrays) != header.arrays or layout.size != header.payload:
        raise DataLossError(
            f"a message describes {len(layout.arrays)} arrays in {layout.size} bytes, but announced {header.arrays} in {header.payload} bytes"
        )
    return _FIELDS[header.fields].unpack_from(block), layout, bytes(block[end : end + header.body])


def assemble(header: Header, block: tuple[tuple[int, ...], Layout, bytes], payload: np.ndarray[Any, Any]) -> Message:
    """The message of these parts. Its arrays are views into the payload, but for strings.

    Raises:
        DataLossError: strings that cannot be read.
    """
    fields, layout, body = block
    lent = payload.data
    arrays = [
        _strings(payload[begin:end], shape) if dtype.hasobject else np.ndarray(shape, dtype, lent, begin)
        for dtype, shape, begin, end in layout.arrays
    ]
    return Message(header.kind, header.plan, header.step, header.cut, fields, body, tuple(arrays), header.size)


def _prepare(array: np.ndarray[Any, Any]) -> Any:
    """What to send of an array that cannot be sent from where it lies."""
    kind = array.dtype.kind
    if kind == "O":
        return _pack_strings(array)
    if kind not in _LENT + _TIMES:
        raise InvalidArgumentError(f"an array of dtype {array.dtype} cannot be sent to another task", "numbers, truth values, times and strings can")
    if not array.flags.c_contiguous:
        array = np.ascontiguousarray(array)
    return array.reshape(-1).view(np.uint8)  # NumPy lends no buffer of times


def _pack_strings(array: np.ndarray[Any, Any]) -> memoryview:
    strings = array.ravel().tolist()
    for string in strings:
        if not isinstance(string, str | bytes):
            raise InvalidArgumentError(
                f"an array that holds a {type(string).__name__} cannot be sent to another task", "str and bytes can, and numbers"
            )
    return memoryview(msgpack.packb(strings, unicode_errors="surrogatepass"))


def _strings(packed: np.ndarray[Any, Any], shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    strings = _unpack(packed.data)
    if not isinstance(strings, tuple) or len(strings) != math.prod(shape) or not all(isinstance(s, str | bytes) for s in strings):
        raise DataLossError(f"an array of {math.prod(shape)} strings came as something else")
    array = np.empty(len(strings), object)
    array[:] = strings
    return array.reshape(shape)


@lru_cache(maxsize=256)
def _describe(arrays: tuple[Described, ...]) -> tuple[bytes, tuple[int, ...], int]:
    """The description, the padding after each array, and the length of the payload."""
    for dtype, _, _ in arrays:
        if not dtype.itemsize:
            raise InvalidArgumentError(f"an array of dtype {dtype} has nothing to send", "strings of at least one character can be sent")
    padding = tuple(-length % ALIGN for _, _, length in arrays)
    description = msgpack.packb([(dtype.str, shape, length) for dtype, shape, length in arrays])
    return description, padding, sum(length for _, _, length in arrays) + sum(padding)


@lru_cache(maxsize=256)
def _layout(description: bytes) -> Layout:
    found = _unpack(description)
    if not isinstance(found, tuple):
        raise DataLossError(f"a message describes its arrays as {found!r:.60}")
    placed, begin = [], 0
    for entry in found:
        dtype, shape, length = _described(entry)
        placed.append((dtype, shape, begin, begin + length))
        begin += length + -length % ALIGN
    return Layout(tuple(placed), begin)


def _described(entry: Any) -> tuple[np.dtype[Any], tuple[int, ...], int]:
    match entry:
        case (str(name), tuple(shape), int(length)) if len(shape) <= _MAX_AXES and all(type(d) is int and d >= 0 for d in shape) and length >= 0:
            dtype = _dtype(name)
            least = math.prod(d for d in shape if d) * dtype.itemsize  # NumPy's own bound leaves the empty axes out, too
            if least < _MAX_ARRAY and (dtype.hasobject or length == dtype.itemsize * math.prod(shape)):
                return dtype, shape, length
    raise DataLossError(f"a message describes an array as {entry!r:.100}")


def _dtype(name: str) -> np.dtype[Any]:
    if name == _STRINGS:
        return np.dtype(object)
    try:
        dtype = np.dtype(name if _DTYPE.fullmatch(name) else "")
    except (TypeError, ValueError):
        dtype = None
    if dtype is None or not dtype.itemsize:
        raise DataLossError(f"a message has an array of dtype {name!r:.40}, which cannot come from outside")
    return dtype


def _unpack(data: Any) -> Any:
    try:
        return msgpack.unpackb(data, use_list=False, unicode_errors="surrogatepass")
    except (ValueError, TypeError, msgpack.UnpackException) as error:
        raise DataLossError(f"a message cannot be read: {error}") from None
