"""Writers that are killed, and disks that are full: the former checkpoint or the new one, never garbage."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

from pslab.checkpoint.files import open_checkpoint, write_checkpoint
from pslab.errors import ResourceExhaustedError
from tests.checkpoint.writer import shards, tensors

WRITER = Path(__file__).with_name("writer.py")
DEADLINE_S = 60


@contextmanager
def writer(*args: object):
    run = subprocess.Popen(
        [sys.executable, str(WRITER), *map(str, args)], stdout=subprocess.PIPE, text=True, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    )
    try:
        yield run
    finally:
        run.kill()
        run.wait()
        run.stdout.close()


def number_in(prefix: Path) -> int:
    """The number that all arrays of the checkpoint hold."""
    with open_checkpoint(prefix) as checkpoint:
        found = {float(v) for array in checkpoint.read_all().values() for v in np.unique(array)}
        assert found == {checkpoint.global_step}
        assert checkpoint.names == sorted(tensors(0))
        return checkpoint.global_step


def leftovers(directory: Path) -> list[str]:
    return [name for name in os.listdir(directory) if name.startswith(".")]


@pytest.mark.parametrize(
    ("fatal", "survivor"),
    [(1, 0), (2, 0), (3, 0), (4, 1)],
    ids=["writing", "data to disk", "data to its name", "name to disk"],
)
def test_killed_at_each_step_of_writing(tmp_path, fatal, survivor):
    write_checkpoint(tmp_path / "m", tensors(0), global_step=0)
    with writer(tmp_path / "m", fatal) as run:
        out, _ = run.communicate(timeout=DEADLINE_S)
    assert (run.returncode, out) == (-9, "")
    assert number_in(tmp_path / "m") == survivor
    assert len(leftovers(tmp_path)) == 1
    write_checkpoint(tmp_path / "m", tensors(2), global_step=2)
    assert number_in(tmp_path / "m") == 2
    assert sorted(os.listdir(tmp_path)) == ["m.safetensors"]


def test_there_are_no_other_steps_of_writing(tmp_path):
    with writer(tmp_path / "m", 5) as run:
        out, _ = run.communicate(timeout=DEADLINE_S)
    assert out == "survived 4\n"


@pytest.mark.parametrize(("fatal", "survivor"), [(1, 0), (4, 0), (5, 0), (8, 0), (9, 0), (10, 0), (11, 1)])
@pytest.mark.parametrize("former", ["one file", "two files"])
def test_killed_while_it_writes_two_files(tmp_path, fatal, survivor, former):
    write_checkpoint(tmp_path / "m", tensors(0), global_step=0, shards=shards() if former == "two files" else None)
    with writer(tmp_path / "m", fatal, "sharded") as run:
        out, _ = run.communicate(timeout=DEADLINE_S)
    assert (run.returncode, out) == (-9, "")
    assert number_in(tmp_path / "m") == survivor
    write_checkpoint(tmp_path / "m", tensors(2), global_step=2, shards=shards())
    assert number_in(tmp_path / "m") == 2
    assert len(os.listdir(tmp_path)) == 3
    write_checkpoint(tmp_path / "m", tensors(3), global_step=3)
    assert number_in(tmp_path / "m") == 3
    assert os.listdir(tmp_path) == ["m.safetensors"]


@pytest.mark.parametrize("bytes_staged", [0, 1, 2_000_000, 5_000_000, 7_999_999])
def test_killed_from_outside_while_it_writes(tmp_path, bytes_staged):
    with writer(tmp_path / "m") as run:
        done = int(run.stdout.readline())
        deadline = time.monotonic() + DEADLINE_S
        while largest_staged(tmp_path) < bytes_staged:
            assert time.monotonic() < deadline
        run.kill()
        done = max([done, *map(int, run.stdout.read().split())])
        run.wait()
    assert number_in(tmp_path / "m") in (done, done + 1)
    write_checkpoint(tmp_path / "m", tensors(0), global_step=0)
    assert leftovers(tmp_path) == []


def largest_staged(directory: Path) -> int:
    """Size of the largest file that is being written, or -1 if there is none."""
    sizes = [-1]
    for path in directory.glob(".pslab-*/*"):
        try:
            sizes.append(path.stat().st_size)
        except FileNotFoundError:
            continue
    return max(sizes)


def test_a_full_quota_leaves_the_former_checkpoint(tmp_path):
    write_checkpoint(tmp_path / "m", tensors(1), global_step=1)
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(ResourceExhaustedError, match=r"cannot write checkpoint .*m\.safetensors: .*File too large"):
            write_checkpoint(tmp_path / "m", tensors(2), global_step=2)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert number_in(tmp_path / "m") == 1
    assert sorted(os.listdir(tmp_path)) == ["m.safetensors"]


@pytest.fixture
def small_disk(tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(disk)], capture_output=True, check=False).returncode:
        pytest.skip("mounting a small disk needs root")
    yield disk
    subprocess.run(["umount", str(disk)], check=True)


def test_a_full_disk_leaves_the_former_checkpoint(small_disk):
    write_checkpoint(small_disk / "m", tensors(1), global_step=1)
    with pytest.raises(ResourceExhaustedError, match="No space left on device"):
        write_checkpoint(small_disk / "m", tensors(2), global_step=2)
    assert number_in(small_disk / "m") == 1
    assert sorted(os.listdir(small_disk)) == ["m.safetensors"]


def test_a_disk_that_was_full_before(small_disk):
    (small_disk / "m.meta").write_bytes(b"former")
    with pytest.raises(OSError, match="No space left"):
        (small_disk / "other").write_bytes(bytes(20_000_000))
    with pytest.raises(ResourceExhaustedError, match="No space left on device"):
        write_checkpoint(small_disk / "m", tensors(1))
    assert sorted(os.listdir(small_disk)) == ["m.meta", "other"]
