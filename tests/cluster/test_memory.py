"""How much memory there is, and what fits."""

from __future__ import annotations

import contextlib

import psutil
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.cluster import memory
from pslab.errors import ResourceExhaustedError, UsageError


@pytest.mark.parametrize(
    ("text", "size"),
    [("2GB", 2 * 10**9), ("512 MiB", 512 << 20), ("1.5k", 1500), ("7", 7), (7, 7), ("3 gib", 3 << 30), ("1T", 10**12), ("10b", 10)],
)
def test_amounts_are_read(text, size) -> None:
    assert memory.parse_bytes(text) == size


@given(st.integers(1, 10**15))
def test_numbers_stand_for_themselves(size) -> None:
    assert memory.parse_bytes(size) == memory.parse_bytes(str(size)) == size


@pytest.mark.parametrize("text", ["", "GB", "-1", "2 XB", "1e9", "ib", "1.GB", 0, -5, "0"])
def test_what_is_no_amount_is_refused(text) -> None:
    with pytest.raises(UsageError):
        memory.parse_bytes(text)


@given(st.text(max_size=8))
def test_anything_is_read_or_refused(text) -> None:
    with contextlib.suppress(UsageError):
        assert memory.parse_bytes(text) >= 1


def test_a_container_has_what_its_limit_says(tmp_path, monkeypatch) -> None:
    limit, none = tmp_path / "memory.max", tmp_path / "none"
    monkeypatch.setattr(memory, "_CGROUP_LIMITS", (str(limit), str(none)))
    limit.write_text("123456789\n")
    assert memory.available() == 123456789
    limit.write_text("max\n")
    assert memory.available() == psutil.virtual_memory().total
    limit.write_text(f"{1 << 62}\n")
    assert memory.available() == psutil.virtual_memory().total


def test_processes_are_chosen_where_they_fit() -> None:
    apart = memory.HOST + 3 * memory.PROCESS
    together = memory.HOST + 3 * memory.THREAD
    assert memory.choose_processes(3, None, apart) == (True, "")
    assert memory.choose_processes(3, True, apart) == (True, "")
    chosen, note = memory.choose_processes(3, None, apart - 1)
    assert not chosen and "tasks are threads of one process: 3 processes would need about 700 MB of the 699 MB there are" in note
    assert memory.choose_processes(3, False, together) == (False, "")
    with pytest.raises(ResourceExhaustedError, match="3 tasks need about 700 MB as processes, but there are 699 MB"):
        memory.choose_processes(3, True, apart - 1)
    with pytest.raises(ResourceExhaustedError, match="3 tasks need about 310 MB even as threads of one process, but there are 309 MB"):
        memory.choose_processes(3, None, together - 1)
