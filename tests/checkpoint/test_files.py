"""Checkpoint files: what is written is read; what is not a checkpoint is refused, with its name."""

from __future__ import annotations

import json
import os
import pathlib
import tempfile
import zlib

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from safetensors.numpy import load_file, save_file

import pslab
from pslab.checkpoint.files import open_checkpoint, remove_checkpoint, write_checkpoint
from pslab.errors import DataLossError, InvalidArgumentError, NotFoundError, UnimplementedError, UsageError

DTYPES = [np.dtype(n) for n in ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64"]]
ARRAYS = hnp.arrays(st.sampled_from(DTYPES), hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=4))
NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12).filter(lambda name: name != "__metadata__")


def same(left: np.ndarray, right: np.ndarray) -> bool:
    return left.dtype == right.dtype and left.shape == right.shape and left.tobytes() == right.tobytes()


@given(tensors=st.dictionaries(NAMES, ARRAYS, max_size=5), step=st.none() | st.integers(0, 2**63 - 1))
def test_what_is_written_is_read(tensors, step):
    with tempfile.TemporaryDirectory() as directory:
        prefix = write_checkpoint(os.path.join(directory, "model"), tensors, global_step=step)
        with open_checkpoint(prefix) as checkpoint:
            assert checkpoint.names == list(checkpoint) == sorted(tensors)
            assert checkpoint.shapes == {name: a.shape for name, a in tensors.items()}
            assert checkpoint.dtypes == {name: a.dtype for name, a in tensors.items()}
            assert checkpoint.global_step == step
            found = checkpoint.read_all()
            assert all(same(found[name], array) for name, array in tensors.items())
            assert all(same(checkpoint.read(name), array) for name, array in tensors.items())


@pytest.mark.parametrize(
    "array",
    [
        np.arange(6.0).reshape(2, 3).T,
        np.arange(24).reshape(4, 6)[::2, ::-1],
        np.asfortranarray(np.ones((2, 3), np.float16)),
        np.arange(3.0, dtype=">f4"),
    ],
    ids=["transposed", "strided", "fortran", "big-endian"],
)
def test_arrays_are_written_as_they_read_whatever_their_layout(tmp_path, array):
    found = open_checkpoint(write_checkpoint(tmp_path / "m", {"a": array})).read("a")
    np.testing.assert_array_equal(found, array)
    assert found.dtype == array.dtype.newbyteorder("=")


def test_what_is_read_is_the_callers_own(tmp_path):
    checkpoint = open_checkpoint(write_checkpoint(tmp_path / "m", {"a": np.zeros(3)}))
    checkpoint.read("a")[:] = 7
    np.testing.assert_array_equal(checkpoint.read("a"), np.zeros(3))


def test_a_file_tells_what_is_in_it(tmp_path):
    prefix = write_checkpoint(
        tmp_path / "m", {"w": np.zeros((2, 3), np.float32)}, global_step=7, devices={"w": "/job:ps/task:1"}, meta={"accuracy": 0.97}
    )
    notes = open_checkpoint(prefix).about
    assert notes.pop("time") > 1.7e9
    assert notes == {
        "format": 2,
        "pslab": pslab.__version__,
        "global_step": 7,
        "variables": {"w": {"dtype": "float32", "shape": [2, 3], "device": "/job:ps/task:1", "crc32": zlib.crc32(bytes(24))}},
        "extra": {"accuracy": 0.97},
    }


def test_the_data_file_alone_is_enough_and_others_can_read_it(tmp_path):
    prefix = write_checkpoint(tmp_path / "m", {"w": np.arange(3)}, global_step=3)
    assert open_checkpoint(prefix).global_step == 3
    np.testing.assert_array_equal(load_file(prefix + ".safetensors")["w"], np.arange(3))


def test_paths(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    wanted = str(tmp_path / "a" / "b.c-1")
    for path in ("~/a/b.c-1", pathlib.Path("a/b.c-1"), "a/../a/b.c-1", wanted, wanted + ".safetensors"):
        assert write_checkpoint(path, {"w": np.zeros(1)}) == wanted
        assert open_checkpoint(path).prefix == wanted
    assert sorted(os.listdir(tmp_path / "a")) == ["b.c-1.safetensors"]


@pytest.mark.parametrize("path", ["", ".", "runs/", "runs/..", ".safetensors", "a\0b", 7, None, b"bytes"])
def test_what_is_no_path_is_refused(path):
    for use in (open_checkpoint, lambda p: write_checkpoint(p, {})):
        with pytest.raises(UsageError, match="path"):
            use(path)


def test_a_path_through_a_file_is_refused_by_name(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidArgumentError, match=r"cannot write checkpoint .*file/m\.safetensors: "):
        write_checkpoint(tmp_path / "file" / "m", {})
    with pytest.raises(InvalidArgumentError, match="File name too long"):
        write_checkpoint(tmp_path / ("m" * 300), {})
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("array", [np.array(["a"]), np.array([None]), np.zeros(2, complex), np.zeros(1, "M8[s]")])
def test_a_dtype_that_cannot_be_held_is_refused_by_name(tmp_path, array):
    with pytest.raises(UnimplementedError, match="cannot hold 'words'"):
        write_checkpoint(tmp_path / "m", {"words": array})
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["__metadata__", "\ud800"])
def test_a_name_that_cannot_be_held_is_refused(tmp_path, name):
    with pytest.raises(UsageError, match="cannot be the name"):
        write_checkpoint(tmp_path / "m", {name: np.zeros(1)})


def test_meta_that_is_not_plain_is_refused(tmp_path):
    with pytest.raises(UsageError, match="plain JSON data"):
        write_checkpoint(tmp_path / "m", {}, meta={"f": len})


def test_the_umask_decides_who_may_read(tmp_path):
    former = os.umask(0o027)
    try:
        prefix = write_checkpoint(tmp_path / "m", {"w": np.zeros(1)})
    finally:
        os.umask(former)
    assert [oct(os.stat(prefix + s).st_mode & 0o777) for s in (".safetensors",)] == ["0o640"]


def test_an_open_checkpoint_stays_what_it_was_when_another_takes_its_place(tmp_path):
    prefix = write_checkpoint(tmp_path / "m", {"w": np.full(1000, 1.0)})
    with open_checkpoint(prefix) as former:
        write_checkpoint(prefix, {"w": np.full(1000, 2.0)})
        assert former.read("w")[0] == 1
        assert open_checkpoint(prefix).read("w")[0] == 2
        remove_checkpoint(prefix)
        assert former.read("w")[-1] == 1
    assert os.listdir(tmp_path) == []


def test_a_missing_one_is_told_with_those_that_are_there(tmp_path):
    write_checkpoint(tmp_path / "model-1", {})
    with pytest.raises(NotFoundError, match=r"no checkpoint .*model-2\.safetensors") as caught:
        open_checkpoint(tmp_path / "model-2")
    assert caught.value.hint == f"{tmp_path} has model-1"
    with pytest.raises(NotFoundError) as caught:
        open_checkpoint(tmp_path / "nowhere" / "model")
    assert "no directory" in caught.value.hint


def test_a_missing_array_is_told_with_those_that_are_there(tmp_path):
    with pytest.raises(NotFoundError, match=r"has no 'x'\n.*it has a, b"):
        open_checkpoint(write_checkpoint(tmp_path / "m", {"b": np.zeros(1), "a": np.zeros(1)})).read("x")


def test_cut_off_anywhere_it_is_told_to_be_truncated(tmp_path):
    prefix = write_checkpoint(tmp_path / "m", {"w": np.arange(6.0).reshape(2, 3), "b": np.ones(3, bool)})
    whole = (tmp_path / "m.safetensors").read_bytes()
    for length in range(len(whole)):
        (tmp_path / "m.safetensors").write_bytes(whole[:length])
        with pytest.raises(DataLossError, match=rf"m\.safetensors is truncated.*\({length} bytes\)"):
            open_checkpoint(prefix)
    (tmp_path / "m.safetensors").write_bytes(whole + b"x")
    with pytest.raises(DataLossError, match="is truncated, or is not a checkpoint"):
        open_checkpoint(prefix)


def test_cut_off_while_it_is_open(tmp_path):
    prefix = write_checkpoint(tmp_path / "m", {"w": np.zeros(100_000)})
    with open_checkpoint(prefix) as checkpoint:
        os.truncate(prefix + ".safetensors", 5000)
        with pytest.raises(DataLossError, match="cannot read 'w' of checkpoint"):
            checkpoint.read("w")


@pytest.mark.parametrize("content", [b"hello", b"\x80\x04\x95 a pickle" * 20, b"PK\x03\x04" + bytes(100), b"\x00" * 64, b"\x02" + bytes(7) + b"{}"])
def test_a_foreign_file_is_refused(tmp_path, content):
    (tmp_path / "m.safetensors").write_bytes(content)
    with pytest.raises(DataLossError, match=r"m\.safetensors"):
        open_checkpoint(tmp_path / "m")


@pytest.mark.parametrize(
    ("metadata", "kind", "message"),
    [
        (None, DataLossError, "is a safetensors file, but not a checkpoint of pslab's"),
        ({"format": "pt"}, DataLossError, "is a safetensors file, but not a checkpoint of pslab's"),
        ({"pslab": "no json"}, DataLossError, "damaged header"),
        ({"pslab": "[1]"}, DataLossError, "damaged header"),
        ({"pslab": "{}"}, DataLossError, "damaged header"),
        ({"pslab": "[" * 100_000}, DataLossError, "damaged header"),
        ({"pslab": json.dumps({"format": 1, "global_step": 0, "extra": {}, "variables": {"w": 5}})}, DataLossError, "damaged header"),
        ({"pslab": json.dumps({"format": 1, "global_step": 0, "extra": {}, "variables": {"w": {"shape": 3}}})}, DataLossError, "damaged header"),
        (
            {"pslab": json.dumps({"format": 3, "global_step": 0, "extra": {}, "variables": {}})},
            UnimplementedError,
            "has format 3, this pslab reads up to 2",
        ),
    ],
)
def test_safetensors_of_somebody_else_is_refused(tmp_path, metadata, kind, message):
    save_file({"w": np.zeros(3)}, tmp_path / "m.safetensors", metadata=metadata)
    with pytest.raises(kind, match=message):
        open_checkpoint(tmp_path / "m")


def test_a_directory_in_its_place_is_refused(tmp_path):
    (tmp_path / "m.safetensors").mkdir()
    with pytest.raises(InvalidArgumentError, match=r"cannot read checkpoint .*Is a directory"):
        open_checkpoint(tmp_path / "m")
    with pytest.raises(InvalidArgumentError, match=r"cannot write checkpoint .*Is a directory"):
        write_checkpoint(tmp_path / "m", {})


def test_a_changed_byte_is_noticed_and_the_file_and_the_array_named(tmp_path):
    prefix = write_checkpoint(tmp_path / "m", {"w": np.arange(6.0), "b": np.ones(3, np.int32)}, global_step=5)
    whole = (tmp_path / "m.safetensors").read_bytes()
    data = len(whole) - 6 * 8 - 3 * 4
    for at in range(len(whole)):
        (tmp_path / "m.safetensors").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(DataLossError, match=r"m\.safetensors") as caught, open_checkpoint(prefix) as checkpoint:
            checkpoint.read_all()
        assert at < data or "'w' of checkpoint" in caught.value.message or "'b' of checkpoint" in caught.value.message


def test_a_file_without_checksums_which_an_earlier_version_wrote_is_read(tmp_path):
    about = {
        "format": 1,
        "pslab": "0.0",
        "time": 0.0,
        "global_step": 4,
        "extra": {},
        "variables": {"w": {"dtype": "float64", "shape": [2], "device": ""}},
    }
    save_file({"w": np.ones(2)}, tmp_path / "m.safetensors", metadata={"pslab": json.dumps(about)})
    assert open_checkpoint(tmp_path / "m").read("w").tolist() == [1.0, 1.0]


SHARDS = {"a": "ps:0", "b": "ps:1", "c": "ps:0"}


def test_one_file_per_task_and_each_is_complete_in_itself(tmp_path):
    arrays = {"a": np.arange(3), "b": np.ones((2, 2), np.float32), "c": np.zeros(())}
    prefix = write_checkpoint(tmp_path / "m", arrays, global_step=2, shards=SHARDS)
    with open_checkpoint(prefix) as checkpoint:
        assert (checkpoint.names, checkpoint.global_step, len(checkpoint.files)) == (["a", "b", "c"], 2, 2)
        assert all(same(checkpoint.read(name), array) for name, array in arrays.items())
        assert [sorted(load_file(path)) for path in checkpoint.files] == [["a", "c"], ["b"]]
    assert len(os.listdir(tmp_path)) == 3
    remove_checkpoint(prefix)
    assert os.listdir(tmp_path) == []


def test_a_file_of_several_that_is_missing_or_of_another_checkpoint_is_named(tmp_path):
    arrays = {"a": np.zeros(1), "b": np.zeros(1), "c": np.zeros(1)}
    with open_checkpoint(write_checkpoint(tmp_path / "m", arrays, shards=SHARDS)) as checkpoint:
        first, second = checkpoint.files
    with open_checkpoint(write_checkpoint(tmp_path / "n", arrays, shards=SHARDS)) as checkpoint:
        os.replace(checkpoint.files[0], first)
    with pytest.raises(DataLossError, match=rf"{first} is not the file that .*m\.index was written with"):
        open_checkpoint(tmp_path / "m")
    os.remove(second)
    os.remove(first)
    with pytest.raises(NotFoundError, match=rf"no checkpoint .*m\.index: .*{first}"):
        open_checkpoint(tmp_path / "m")


def test_a_changed_index_is_noticed(tmp_path):
    prefix = write_checkpoint(tmp_path / "m", {"a": np.zeros(1), "b": np.zeros(1), "c": np.zeros(1)}, shards=SHARDS)
    whole = (tmp_path / "m.index").read_bytes()
    for at in range(len(whole)):
        (tmp_path / "m.index").write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(DataLossError, match=r"m\.index"):
            open_checkpoint(prefix)
    for content in (b"{}", b"[]", b'{"crc32": 1, "files": {"../x": 1}}', b'{"crc32": 1, "files": {"x": 1e400}}', b"[" * 100_000):
        (tmp_path / "m.index").write_bytes(content)
        with pytest.raises(DataLossError, match=r"m\.index"):
            open_checkpoint(prefix)
