"""The state file: TensorFlow's text, directories that move, and checkpoints that are gone."""

from __future__ import annotations

import os
import tempfile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.checkpoint.files import remove_checkpoint, write_checkpoint
from pslab.checkpoint.state import CheckpointState, checkpoint_exists, get_checkpoint_state, latest_checkpoint, update_checkpoint_state
from pslab.errors import DataLossError, PermissionDeniedError, UsageError

NAMES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="/\0"), min_size=1, max_size=20).filter(lambda n: n not in (".", ".."))


def save(directory, *names: str) -> list[str]:
    return [write_checkpoint(directory / name, {"w": np.zeros(1)}) for name in names]


@given(st.lists(NAMES, min_size=1, max_size=4, unique=True))
def test_what_is_written_is_read(names):
    with tempfile.TemporaryDirectory() as directory:
        prefixes = [os.path.join(directory, name) for name in names]
        update_checkpoint_state(directory, prefixes[-1], prefixes)
        assert get_checkpoint_state(directory) == CheckpointState(prefixes[-1], tuple(prefixes))


def test_the_text_is_tensorflows(tmp_path):
    update_checkpoint_state(tmp_path, str(tmp_path / "model.ckpt-2"), [str(tmp_path / "model.ckpt-1"), "/elsewhere/m"])
    assert (tmp_path / "checkpoint").read_text() == (
        'model_checkpoint_path: "model.ckpt-2"\n'
        'all_model_checkpoint_paths: "model.ckpt-1"\n'
        'all_model_checkpoint_paths: "/elsewhere/m"\n'
        'all_model_checkpoint_paths: "model.ckpt-2"\n'
    )


def test_a_directory_whose_name_begins_alike_is_elsewhere(tmp_path):
    update_checkpoint_state(tmp_path / "run", str(tmp_path / "run2" / "m"))
    assert str(tmp_path / "run2" / "m") in (tmp_path / "run" / "checkpoint").read_text()


def test_what_tensorflow_writes_is_read(tmp_path):
    (tmp_path / "checkpoint").write_text(
        'model_checkpoint_path: "m\\303\\251-\\"2\\""\nall_model_checkpoint_paths: "m\\x41\\\\n"\nall_model_checkpoint_timestamps: 1566.25\n'
        "last_preserved_timestamp: 1.5e+09\n"
    )
    state = get_checkpoint_state(tmp_path)
    assert state == CheckpointState(str(tmp_path / 'mé-"2"'), (str(tmp_path / "mA\\n"),))


def test_a_moved_directory(tmp_path):
    (first,) = save(tmp_path / "a", "m")
    update_checkpoint_state(tmp_path / "a", first)
    (tmp_path / "a").rename(tmp_path / "b")
    assert latest_checkpoint(tmp_path / "b") == str(tmp_path / "b" / "m")


def test_no_state_file(tmp_path):
    for directory in (tmp_path, tmp_path / "nowhere"):
        assert get_checkpoint_state(directory) is None
        assert latest_checkpoint(directory) is None


@pytest.mark.parametrize(
    "content", [b"", b"hello", b'all_model_checkpoint_paths: "m"\n', b'model_checkpoint_path: "m', b"\xff\xfe\x00", b"model_checkpoint_path: m\n"]
)
def test_a_damaged_state_file_is_told(tmp_path, content):
    (tmp_path / "checkpoint").write_bytes(content)
    for ask in (get_checkpoint_state, latest_checkpoint):
        with pytest.raises(DataLossError, match=r"/checkpoint is not a checkpoint state file"):
            ask(tmp_path)


def test_the_newest_complete_one_takes_the_place_of_one_that_is_gone(tmp_path):
    prefixes = save(tmp_path, "m-1", "m-2", "m-3")
    update_checkpoint_state(tmp_path, prefixes[-1], prefixes)
    assert latest_checkpoint(tmp_path) == prefixes[2]
    remove_checkpoint(prefixes[2])
    assert latest_checkpoint(tmp_path) == prefixes[1]
    os.truncate(prefixes[1] + ".safetensors", 50)
    assert latest_checkpoint(tmp_path) == prefixes[0]
    assert get_checkpoint_state(tmp_path) == CheckpointState(prefixes[0], tuple(prefixes))
    remove_checkpoint(prefixes[0])
    assert latest_checkpoint(tmp_path) is None
    assert get_checkpoint_state(tmp_path).model_checkpoint_path == prefixes[2]


def test_checkpoint_exists_only_if_it_is_complete(tmp_path):
    (prefix,) = save(tmp_path, "m")
    assert checkpoint_exists(prefix)
    assert not checkpoint_exists(tmp_path / "n")
    (tmp_path / "m.safetensors").write_bytes(b"foreign")
    assert not checkpoint_exists(prefix)
    (tmp_path / "m.safetensors").unlink()
    (tmp_path / "m.safetensors").mkdir()
    assert not checkpoint_exists(prefix)


def test_a_directory_that_is_none_is_refused():
    with pytest.raises(UsageError, match=r"directory is a string or a pathlib\.Path, not NoneType: None"):
        latest_checkpoint(None)


def test_several_state_files(tmp_path):
    one, two = save(tmp_path, "one", "two")
    update_checkpoint_state(tmp_path, one)
    update_checkpoint_state(tmp_path, two, latest_filename="best")
    assert (latest_checkpoint(tmp_path), latest_checkpoint(tmp_path, "best")) == (one, two)
    with pytest.raises(UsageError, match="'a/b'"):
        update_checkpoint_state(tmp_path, one, latest_filename="a/b")


def test_a_failed_write_leaves_the_former_state(tmp_path, monkeypatch):
    prefixes = save(tmp_path, "one", "two")
    update_checkpoint_state(tmp_path, prefixes[0])

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionDeniedError, match=r"cannot write .*/checkpoint: Permission denied"):
        update_checkpoint_state(tmp_path, prefixes[1])
    assert latest_checkpoint(tmp_path) == prefixes[0]
