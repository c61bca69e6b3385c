"""IDX files, whole and broken."""

from __future__ import annotations

import contextlib
import gzip
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
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


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
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
