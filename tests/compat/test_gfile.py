"""Files by path or URL: each test runs on local files and in fsspec's memory."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from pslab.compat import gfile
from pslab.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError, NotFoundError, PermissionDeniedError


@pytest.fixture(params=["local", "memory"])
def root(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A folder with the file ``a/f.txt`` of two lines and the empty folder ``a/b``."""
    where = str(tmp_path) if request.param == "local" else f"memory://{uuid.uuid4().hex}"
    gfile.MakeDirs(f"{where}/a/b")
    write(f"{where}/a/f.txt", "one\ntwo\n")
    yield where
    if request.param == "memory":
        fsspec.filesystem("memory").rm(where.removeprefix("memory:/"), recursive=True)


def write(name: str, text: str) -> None:
    with gfile.GFile(name, "w") as file:
        file.write(text)


def read(name: str) -> str:
    with gfile.GFile(name) as file:
        text: str = file.read()
    return text


def test_what_exists(root: str) -> None:
    assert [gfile.Exists(f"{root}/{n}") for n in ("a", "a/", "a/f.txt", "a/nope")] == [True, True, True, False]
    assert [gfile.IsDirectory(f"{root}/{n}") for n in ("a", "a/f.txt", "a/nope")] == [True, False, False]
    assert not gfile.Exists("")


def test_make_dirs_may_find_it_made(root: str) -> None:
    gfile.MakeDirs(f"{root}/x/y/z")
    gfile.MakeDirs(f"{root}/x/y/z")
    assert gfile.IsDirectory(f"{root}/x/y/z")


@pytest.mark.parametrize("name", ["a/f.txt", "a/f.txt/below"])
def test_make_dirs_on_a_file(root: str, name: str) -> None:
    with pytest.raises(FailedPreconditionError, match=r"f\.txt is a file, not a directory"):
        gfile.MakeDirs(f"{root}/{name}")


def test_mk_dir_makes_one(root: str) -> None:
    gfile.MkDir(f"{root}/c")
    gfile.MkDir(f"{root}/c")
    assert gfile.ListDirectory(root) == ["a", "c"]
    with pytest.raises(NotFoundError, match="does not exist"):
        gfile.MkDir(f"{root}/x/y")


def test_list_directory(root: str) -> None:
    assert gfile.ListDirectory(f"{root}/a") == ["b", "f.txt"]
    assert gfile.ListDirectory(f"{root}/a/b") == []
    for name in ("nope", "a/f.txt"):
        with pytest.raises(NotFoundError, match="there is no directory"):
            gfile.ListDirectory(f"{root}/{name}")


def test_glob_gives_names_as_they_were_asked_for(root: str) -> None:
    write(f"{root}/a/g.txt", "")
    assert gfile.Glob(f"{root}/a/*.txt") == [f"{root}/a/f.txt", f"{root}/a/g.txt"]
    assert gfile.Glob([f"{root}/a/g*", f"{root}/a/b"]) == [f"{root}/a/b", f"{root}/a/g.txt"]
    assert gfile.Glob(f"{root}/nope*") == []


def test_glob_of_a_relative_pattern(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "x.csv").write_text("1")
    monkeypatch.chdir(tmp_path)
    assert gfile.Glob("data/*.csv") == ["data/x.csv"]


def test_walk_from_above_and_from_below(root: str) -> None:
    expected = [(root, ["a"], []), (f"{root}/a", ["b"], ["f.txt"]), (f"{root}/a/b", [], [])]
    assert list(gfile.Walk(root)) == expected
    assert list(gfile.Walk(root, in_order=False)) == expected[::-1]
    assert list(gfile.Walk(f"{root}/nope")) == []


def test_remove(root: str) -> None:
    gfile.Remove(f"{root}/a/f.txt")
    assert not gfile.Exists(f"{root}/a/f.txt")
    with pytest.raises(NotFoundError, match="there is no file"):
        gfile.Remove(f"{root}/a/f.txt")
    with pytest.raises(FailedPreconditionError, match="is a directory"):
        gfile.Remove(f"{root}/a")


def test_delete_recursively(root: str) -> None:
    gfile.DeleteRecursively(f"{root}/a")
    assert not gfile.Exists(f"{root}/a/f.txt")
    with pytest.raises(NotFoundError):
        gfile.DeleteRecursively(f"{root}/a")


def test_delete_recursively_takes_a_file_too(root: str) -> None:
    gfile.DeleteRecursively(f"{root}/a/f.txt")
    assert gfile.ListDirectory(f"{root}/a") == ["b"]


def test_copy(root: str) -> None:
    gfile.Copy(f"{root}/a/f.txt", f"{root}/g.txt")
    assert read(f"{root}/g.txt") == read(f"{root}/a/f.txt") == "one\ntwo\n"
    write(f"{root}/a/f.txt", "new")
    with pytest.raises(AlreadyExistsError, match="exists already"):
        gfile.Copy(f"{root}/a/f.txt", f"{root}/g.txt")
    assert read(f"{root}/g.txt") == "one\ntwo\n"
    gfile.Copy(f"{root}/a/f.txt", f"{root}/g.txt", overwrite=True)
    assert read(f"{root}/g.txt") == "new"


def test_copy_of_what_is_not_there_or_no_file(root: str) -> None:
    with pytest.raises(NotFoundError):
        gfile.Copy(f"{root}/nope", f"{root}/g.txt")
    with pytest.raises(FailedPreconditionError):
        gfile.Copy(f"{root}/a", f"{root}/g")
    with pytest.raises(FailedPreconditionError):
        gfile.Copy(f"{root}/a/f.txt", f"{root}/a/b", overwrite=True)
    assert not gfile.Exists(f"{root}/g")


def test_copy_from_memory_to_a_local_file(tmp_path: Path) -> None:
    source = f"memory://{uuid.uuid4().hex}"
    write(source, "over")
    gfile.Copy(source, tmp_path / "x")
    gfile.Remove(source)
    assert (tmp_path / "x").read_text() == "over"


def test_rename_a_file(root: str) -> None:
    write(f"{root}/g.txt", "g")
    with pytest.raises(AlreadyExistsError):
        gfile.Rename(f"{root}/a/f.txt", f"{root}/g.txt")
    gfile.Rename(f"{root}/a/f.txt", f"{root}/g.txt", overwrite=True)
    assert read(f"{root}/g.txt") == "one\ntwo\n"
    assert not gfile.Exists(f"{root}/a/f.txt")
    with pytest.raises(NotFoundError):
        gfile.Rename(f"{root}/nope", f"{root}/h")


def test_rename_a_directory(root: str) -> None:
    gfile.Rename(f"{root}/a", f"{root}/z")
    assert not gfile.Exists(f"{root}/a")
    assert read(f"{root}/z/f.txt") == "one\ntwo\n"


def test_stat(root: str) -> None:
    with gfile.GFile(f"{root}/a/f.txt") as file:
        assert gfile.Stat(f"{root}/a/f.txt").length == file.size() == 8
    assert not gfile.Stat(f"{root}/a/f.txt").is_directory
    assert gfile.Stat(f"{root}/a").is_directory
    with pytest.raises(NotFoundError):
        gfile.Stat(f"{root}/nope")


def test_stat_knows_when_a_local_file_was_changed(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("x")
    assert gfile.Stat(tmp_path / "x").mtime_nsec == pytest.approx((tmp_path / "x").stat().st_mtime_ns, abs=1e6)


def test_read_by_parts(root: str) -> None:
    with gfile.GFile(f"{root}/a/f.txt", "rb") as file:
        assert (file.read(2), file.tell()) == (b"on", 2)
        file.seek(4)
        assert file.read() == b"two\n"
        assert file.read() == b""
    with gfile.Open(f"{root}/a/f.txt") as file:
        assert file.readline() == "one\n"
        assert file.readlines() == ["two\n"]
    with gfile.FastGFile(f"{root}/a/f.txt") as file:
        assert list(file) == ["one\n", "two\n"]


def test_append_and_text_as_utf_8(root: str) -> None:
    with gfile.GFile(f"{root}/g.txt", "w") as file:
        file.write("é")
        file.flush()
    with gfile.GFile(f"{root}/g.txt", "ab") as file:
        file.write("ü")
        file.write(b"!")
    assert read(f"{root}/g.txt") == "éü!"
    assert gfile.Stat(f"{root}/g.txt").length == 5


def test_only_what_it_was_opened_for(root: str) -> None:
    with gfile.GFile(f"{root}/a/f.txt") as file, pytest.raises(PermissionDeniedError, match="mode 'r'"):
        file.write("x")
    with gfile.GFile(f"{root}/g.txt", "w") as file, pytest.raises(PermissionDeniedError, match="mode 'w'"):
        file.read()
    assert read(f"{root}/a/f.txt") == "one\ntwo\n"


def test_both_ways(root: str) -> None:
    with gfile.GFile(f"{root}/a/f.txt", "r+") as file:
        assert file.readline() == "one\n"


def test_what_cannot_be_opened(root: str) -> None:
    with pytest.raises(NotFoundError):
        gfile.GFile(f"{root}/nope")
    with pytest.raises(FailedPreconditionError):
        gfile.GFile(f"{root}/a")
    with pytest.raises(InvalidArgumentError, match="found mode 'rw'"):
        gfile.GFile(f"{root}/a/f.txt", "rw")


def test_writing_makes_no_directory(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError):
        gfile.GFile(tmp_path / "no" / "x", "w")
    assert not (tmp_path / "no").exists()
