"""IDX files, whole and broken."""

from __future__ import annotations

import contextlib
import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from pslab.compat.idx import read_idx
from pslab.errors import PslabError

IMAGES = np.arange(24, dtype=np.uint8).reshape(2, 3, 4)
GOOD = struct.pack(">BBBB3I", 0, 0, 0x08, 3, *IMAGES.shape) + IMAGES.tobytes()


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_an_array_is_read(pack, tmp_path: Path) -> None:
    path = tmp_path / "images"
    path.write_bytes(pack(GOOD))
    np.testing.assert_array_equal(read_idx(path), IMAGES)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cut=st.integers(0, len(GOOD) - 1), flip=st.tuples(st.integers(0, 15), st.integers(1, 255)), packed=st.booleans())
def test_whatever_a_broken_file_says_it_is_told_or_an_array(cut: int, flip: tuple[int, int], packed: bool, tmp_path: Path) -> None:
    path = tmp_path / "broken"
    path.write_bytes(gzip.compress(GOOD)[:cut] if packed else GOOD[:cut])
    with pytest.raises(PslabError, match="broken"):
        read_idx(path)
    data = bytearray(GOOD)
    data[flip[0]] ^= flip[1]
    path.write_bytes(data)
    with contextlib.suppress(PslabError):  # and no other
        assert read_idx(path).nbytes == len(GOOD) - 16 or flip[0] < 4


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(head=st.sampled_from([b"", b"\0\0", b"\0\0\x08", b"\0\0\x08\x01", b"\0\0\x0d\x02", b"\x1f\x8b", b"\x1f\x8b\x08"]), rest=st.binary(max_size=40))
@example(head=b"\x1f\x8b\x08", rest=bytes(12))
def test_garbage_is_told_or_an_array(head: bytes, rest: bytes, tmp_path: Path) -> None:
    path = tmp_path / "garbage"
    path.write_bytes(head + rest)
    with contextlib.suppress(PslabError):  # and no other
        assert read_idx(path).nbytes <= len(rest)


@pytest.mark.parametrize(("code", "dtype"), [(0x08, "u1"), (0x09, "i1"), (0x0B, ">i2"), (0x0C, ">i4"), (0x0D, ">f4"), (0x0E, ">f8")])
def test_each_dtype_comes_in_the_machines_order_of_bytes(code: int, dtype: str, tmp_path: Path) -> None:
    values = np.array([1, -2, 100]).astype(dtype)
    (tmp_path / "x").write_bytes(struct.pack(">BBBBI", 0, 0, code, 1, 3) + values.tobytes())
    found = read_idx(tmp_path / "x")
    assert found.dtype == np.dtype(dtype).newbyteorder("=")
    np.testing.assert_array_equal(found, values)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        read_idx(tmp_path / "none")
