"""The wire format: what it looks like, and that nothing malformed gets past it, whatever it is."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import tracemalloc
from contextlib import suppress

import msgpack
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import DataLossError, ResourceExhaustedError
from pslab.runtime.transport import Kind, Message, wire


def encoded(message: Message) -> bytes:
    buffers, size = wire.encode(message)
    data = b"".join(buffers)
    assert len(data) == size
    return data


def decoded(data: bytes) -> Message:
    """Decode as a channel does that has all of the bytes."""
    if len(data) < wire.HEADER.size:
        raise DataLossError("too short")
    header = wire.decode_header(data)
    if len(data) < header.size:
        raise DataLossError("too short")
    end = wire.HEADER.size + header.block
    block = wire.decode_block(header, memoryview(data)[wire.HEADER.size : end])
    return wire.assemble(header, block, np.frombuffer(bytearray(data[end : header.size]), np.uint8))


def described(description: object, arrays: int = 1, payload: int = 64) -> bytes:
    """A message of zeros that describes its arrays so."""
    packed = msgpack.packb(description)
    return wire.HEADER.pack(wire.MAGIC, Kind.TENSORS, 0, arrays, 0, 0, 0, len(packed), 0, payload) + packed + bytes(payload)


WHOLE = encoded(Message(Kind.TENSORS, 1, 2, 3, (4, 5), b"body", (np.arange(5.0), np.array(["ab", b"c"], object), np.zeros((0, 3), "i4"))))


def test_the_format_is_the_documented_one() -> None:
    data = encoded(Message(Kind.TENSORS, 1, -2, 3, (4,), b"body", (np.array([1.5, 2.5]), np.array(7, ">i2"))))
    description = msgpack.packb([["<f8", [2], 16], [">i2", [], 2]])
    assert data == b"".join(
        (
            struct.pack("<HBBIqqIIIQ", 0x5053, 3, 1, 2, 1, -2, 3, len(description), 4, 128),
            struct.pack("<q", 4),
            description,
            b"body",
            struct.pack("<2d", 1.5, 2.5).ljust(64, b"\0"),
            struct.pack(">h", 7).ljust(64, b"\0"),
        )
    )


def test_contiguous_arrays_are_sent_from_where_they_lie() -> None:
    arrays = (np.ones((4, 4)), np.array(3), np.zeros(3, "M8[s]"), np.ones((2, 3))[1:])
    buffers, _ = wire.encode(Message(Kind.TENSORS, arrays=arrays))
    lent = [b for b in buffers if not isinstance(b, bytes)]
    assert len(lent) == len(arrays)
    for buffer, array in zip(lent, arrays, strict=True):
        assert np.shares_memory(buffer, array)


@pytest.mark.parametrize("array", [np.ones((3, 4)).T, np.ones(8)[::2], np.ones((2, 8))[:, :3]])
def test_what_lies_scattered_is_gathered(array: np.ndarray) -> None:
    (received,) = decoded(encoded(Message(Kind.TENSORS, arrays=(array,)))).arrays
    assert np.array_equal(received, array)
    assert received.flags.c_contiguous


def test_names_of_files_that_are_no_unicode_can_be_sent() -> None:
    names = np.array([os.fsdecode(b"caf\xe9.npz")], object)
    assert decoded(encoded(Message(Kind.TENSORS, arrays=(names,)))).arrays[0].tolist() == names.tolist()


def test_arrays_begin_at_multiples_of_64() -> None:
    arrays = decoded(encoded(Message(Kind.TENSORS, arrays=(np.ones(3, "u1"), np.ones(65, "u1"), np.ones(2))))).arrays
    begin = arrays[0].__array_interface__["data"][0]
    assert [a.__array_interface__["data"][0] - begin for a in arrays] == [0, 64, 192]


@given(cut=st.integers(0, len(WHOLE) - 1))
def test_a_truncated_message_is_refused(cut: int) -> None:
    with pytest.raises(DataLossError):
        decoded(WHOLE[:cut])


@given(changes=st.lists(st.tuples(st.integers(0, len(WHOLE) - 1), st.integers(0, 255)), min_size=1, max_size=8))
def test_changed_bytes_give_a_message_or_an_error_of_ours(changes: list[tuple[int, int]]) -> None:
    data = bytearray(WHOLE)
    for position, value in changes:
        data[position] = value
    with suppress(DataLossError):
        assert isinstance(decoded(bytes(data)), Message)


@given(data=st.binary(min_size=wire.HEADER.size, max_size=200))
def test_noise_is_refused(data: bytes) -> None:
    with pytest.raises(DataLossError, match="not a message"):
        decoded(b"\0\0" + data)


plain = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text(max_size=6) | st.binary(max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=12,
)
sizes = st.integers(-2, 4) | st.sampled_from([2**31, 2**32, 2**62, 2**63 - 1, 2**63, 2**64 - 1])
names = st.sampled_from(["<f4", "|u1", "|O", "<U3", "<U0", "|S0", "|V8", "<M8[s]", "<m8[s/2]", "i4,f4", "(2,)f4", "<f3", "O", ""]) | st.text(
    max_size=8
)


@given(description=plain | st.lists(st.tuples(names, st.lists(sizes, max_size=4), sizes), max_size=3), arrays=st.integers(0, 3))
def test_any_description_gives_a_message_or_an_error_of_ours(description: object, arrays: int) -> None:
    with suppress(DataLossError):
        for array in decoded(described(description, arrays)).arrays:
            assert array.nbytes <= 64


@pytest.mark.parametrize(
    "entry",
    [
        ("|O", (1,), 64),  # zeros are no list of strings
        ("<f4", (16,), 63),
        ("<f4", (16,), -64),
        ("<f4", (-16,), 64),
        ("<f4", (True,), 4),
        ("<f4", (2**62, 0), 0),
        ("<f4", (2**64 - 1, 0), 0),
        ("<f4", (1,) * 65, 4),
        ("|V64", (1,), 64),
        ("i4,i4", (8,), 64),
        ("(2,)f4", (8,), 64),
        ("<U0", (3,), 0),
        ("<m8[s/3]", (8,), 64),
        ("<f4", 16, 64),
        (b"<f4", (16,), 64),
    ],
)
def test_impossible_arrays_are_refused(entry: tuple) -> None:
    payload = 64 if entry[2] else 0
    with pytest.raises(DataLossError):
        decoded(described([entry], payload=payload))


def test_a_dtype_that_ends_the_process_does_not_reach_numpy() -> None:
    program = (
        "from tests.runtime.transport.test_wire import *\ntry: decoded(described([('<m8[s/0]', (8,), 64)]))\nexcept DataLossError: print('refused')"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, env={"PYTHONPATH": ":".join(sys.path)})
    assert (run.returncode, run.stdout) == (0, "refused\n"), run.stderr


@pytest.mark.parametrize(
    ("fields", "description", "body", "payload"),
    [(0, 0, 0, 2**64 - 1), (0, 0, 2**32 - 1, 0), (0, wire.MAX_DESCRIPTION + 1, 0, 0), (17, 0, 0, 0)],
)
def test_nothing_is_reserved_for_what_is_announced_beyond_the_limits(fields: int, description: int, body: int, payload: int) -> None:
    tracemalloc.start()
    with pytest.raises(DataLossError, match="allowed"):
        wire.decode_header(wire.HEADER.pack(wire.MAGIC, 1, fields, 0, 0, 0, 0, description, body, payload))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 100_000


def test_what_a_receiver_would_refuse_is_not_sent() -> None:
    with pytest.raises(ResourceExhaustedError, match="ps tasks"):
        wire.encode(Message(Kind.TENSORS, arrays=(np.zeros(1000),)), limit=8000)
    with pytest.raises(ResourceExhaustedError):
        wire.encode(Message(Kind.TENSORS, arrays=(np.zeros((1,) * 64),) * 20_000))
    _, size = wire.encode(Message(Kind.TENSORS, arrays=(np.zeros(1000),)), limit=8100)
    assert size <= 8100
