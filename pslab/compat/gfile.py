"""Files by path or URL (TensorFlow 1's ``tf.gfile``), through fsspec: ``s3://``, ``gs://``, ``http://``, ``memory://`` and local paths are one."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import fsspec

from pslab.errors import AlreadyExistsError, FailedPreconditionError, InvalidArgumentError, NotFoundError, PermissionDeniedError

__all__ = [
    "Copy",
    "DeleteRecursively",
    "Exists",
    "FastGFile",
    "FileStatistics",
    "GFile",
    "Glob",
    "IsDirectory",
    "ListDirectory",
    "MakeDirs",
    "MkDir",
    "Open",
    "Remove",
    "Rename",
    "Stat",
    "Walk",
]


@dataclass(frozen=True)
class FileStatistics:
    """What is known of a file.

    Attributes:
        length: bytes.
        mtime_nsec: when it was changed last, in nanoseconds since 1970; 0 where the file system does not say.
        is_directory: whether it is one.
    """

    length: int
    mtime_nsec: int
    is_directory: bool


def Exists(filename: Any) -> bool:  # noqa: N802
    """Whether there is a file or directory of this name."""
    system, path = _at(filename)
    return bool(filename) and bool(system.exists(path))


def IsDirectory(dirname: Any) -> bool:  # noqa: N802
    """Whether it is a directory."""
    system, path = _at(dirname)
    return bool(system.isdir(path))


def MakeDirs(dirname: Any) -> None:  # noqa: N802
    """Make a directory, with those above it. It may exist.

    Raises:
        FailedPreconditionError: it, or one above it, is a file.
    """
    system, path = _at(dirname)
    for above in _ancestry(system, path):
        if system.isfile(above):
            raise FailedPreconditionError(f"{dirname} cannot be made: {above} is a file, not a directory")
    system.makedirs(path, exist_ok=True)


def MkDir(dirname: Any) -> None:  # noqa: N802
    """Make a directory. It may exist.

    Raises:
        NotFoundError: the directory above it does not exist.
    """
    system, path = _at(dirname)
    if system.exists(path):
        return
    if not system.exists(system._parent(path)):
        raise NotFoundError(f"{dirname} cannot be made: {system._parent(path)} does not exist", "MakeDirs makes both")
    system.mkdir(path, create_parents=False)


def ListDirectory(dirname: Any) -> list[str]:  # noqa: N802
    """Names of a directory's entries, in order of the alphabet.

    Raises:
        NotFoundError: it does not exist.
    """
    system, path = _at(dirname)
    if not system.isdir(path):
        raise NotFoundError(f"there is no directory {dirname}")
    return sorted(os.path.basename(str(entry).rstrip("/")) for entry in system.ls(path, detail=False))


def Glob(filename: Any) -> list[str]:  # noqa: N802
    """Names that match a pattern, or any of several, in order of the alphabet."""
    patterns = filename if isinstance(filename, list | tuple) else [filename]
    return sorted(_named(pattern, found) for pattern in patterns for found in _at(pattern)[0].glob(_at(pattern)[1]))


def Remove(filename: Any) -> None:  # noqa: N802
    """Delete a file.

    Raises:
        NotFoundError: there is no such file.
        FailedPreconditionError: it is a directory.
    """
    system, path = _file(filename)
    system.rm_file(path)


def DeleteRecursively(dirname: Any) -> None:  # noqa: N802
    """Delete a directory and all that is in it, or a file.

    Raises:
        NotFoundError: there is neither.
    """
    system, path = _at(dirname)
    if not system.exists(path):
        raise NotFoundError(f"there is no {dirname}")
    system.rm(path, recursive=True)


def Copy(oldpath: Any, newpath: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Copy a file, across file systems too.

    Raises:
        NotFoundError: there is no ``oldpath``, or the directory of ``newpath`` does not exist.
        AlreadyExistsError: ``newpath`` exists and is not to be overwritten.
        FailedPreconditionError: one of them is a directory.
    """
    _file(oldpath)
    _vacant(newpath, overwrite)
    with GFile(oldpath, "rb") as source, GFile(newpath, "wb") as target:
        while block := source.read(1 << 20):
            target.write(block)


def Rename(oldname: Any, newname: Any, overwrite: bool = False) -> None:  # noqa: N802
    """Give a file or directory another name.

    Raises:
        NotFoundError: there is no ``oldname``.
        AlreadyExistsError: ``newname`` exists and is not to be overwritten.
    """
    system, path = _at(oldname)
    if not system.exists(path):
        raise NotFoundError(f"there is no {oldname}")
    _vacant(newname, overwrite)
    system.mv(path, _at(newname)[1], recursive=system.isdir(path))


def Stat(filename: Any) -> FileStatistics:  # noqa: N802
    """What is known of a file.

    Raises:
        NotFoundError: there is none.
    """
    system, path = _at(filename)
    if not system.exists(path):
        raise NotFoundError(f"there is no {filename}")
    known = system.info(path)
    changed = known.get("mtime") or 0.0
    return FileStatistics(int(known["size"] or 0), int(float(changed) * 1e9) if isinstance(changed, int | float) else 0, known["type"] == "directory")


def Walk(top: Any, in_order: bool = True) -> Iterator[tuple[str, list[str], list[str]]]:  # noqa: N802
    """Directories below ``top``, itself among them, each with the names of its directories and files; from above, or from below."""
    system, path = _at(top)
    found = [(_named(top, directory), list(below), list(files)) for directory, below, files in system.walk(path)]
    yield from found if in_order else reversed(found)


class GFile:
    """An open file (TensorFlow 1's ``tf.gfile.GFile``).

    Args:
        name: path or URL.
        mode: as for ``open``: ``"r"``, ``"w"``, ``"a"``, with a ``"b"`` for bytes in place of text, with a ``"+"`` for both ways.

    Raises:
        InvalidArgumentError: an unknown mode.
        NotFoundError: it is to be read and is not there, or the directory it is to be written in is not.
        FailedPreconditionError: it is a directory.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        if mode.replace("b", "") not in ("r", "w", "a", "r+", "w+", "a+"):
            raise InvalidArgumentError(f"a file is opened to read (r), to write (w) or to append (a), found mode {mode!r}")
        self.name = os.fspath(name)
        self.mode = mode
        system, path = _at(name)
        if system.isdir(path):
            raise FailedPreconditionError(f"{name} is a directory")
        try:
            self._file = system.open(path, mode, **({} if "b" in mode else {"encoding": "utf-8"}))
        except FileNotFoundError:
            raise NotFoundError(f"{name} cannot be opened: there is no such file or directory") from None

    def read(self, n: int = -1) -> Any:
        """The next ``n`` bytes or characters; all that are left if negative.

        Raises:
            PermissionDeniedError: it was opened to be written.
        """
        return self._opened_to("read", "r+").read(n)

    def readline(self) -> Any:
        """The next line."""
        return self._opened_to("read", "r+").readline()

    def readlines(self) -> list[Any]:
        """The lines that are left."""
        return list(self._opened_to("read", "r+").readlines())

    def write(self, file_content: Any) -> None:
        """Append to what was written. Text becomes UTF-8 where bytes are asked for.

        Raises:
            PermissionDeniedError: it was opened to be read.
        """
        self._opened_to("write", "wa+").write(file_content.encode() if "b" in self.mode and isinstance(file_content, str) else file_content)

    def seek(self, offset: int, whence: int = 0) -> None:
        """Go to a place in the file."""
        self._file.seek(offset, whence)

    def tell(self) -> int:
        """The place in the file."""
        return int(self._file.tell())

    def size(self) -> int:
        """Bytes of the file."""
        return Stat(self.name).length

    def flush(self) -> None:
        """Hand what was written to the system."""
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def _opened_to(self, what: str, modes: str) -> Any:
        if not set(modes) & set(self.mode):
            raise PermissionDeniedError(f"{self.name} was opened with mode {self.mode!r}, not to {what}")
        return self._file

    def __enter__(self) -> GFile:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Any]:
        return iter(self._file)


Open = FastGFile = GFile


def _at(name: Any) -> tuple[Any, str]:
    """The file system of a path or URL, and the path there."""
    system, path = fsspec.core.url_to_fs(os.fspath(name))
    return system, path


def _ancestry(system: Any, path: str) -> Iterator[str]:
    """The path, and the directories above it up to the root."""
    while path and path != system._parent(path):
        yield path
        path = system._parent(path)


def _file(name: Any) -> tuple[Any, str]:
    system, path = _at(name)
    if system.isdir(path):
        raise FailedPreconditionError(f"{name} is a directory")
    if not system.isfile(path):
        raise NotFoundError(f"there is no file {name}")
    return system, path


def _vacant(name: Any, overwrite: bool) -> None:
    if not overwrite and Exists(name):
        raise AlreadyExistsError(f"{name} exists already", "overwrite=True replaces it")


def _named(asked: Any, found: str) -> str:
    """The name of what was found, in the way it was asked for: with its protocol, or relative."""
    text = os.fspath(asked)
    if "://" in text:
        return f"{text.partition('://')[0]}://{found.lstrip('/')}"
    return found if os.path.isabs(text) else os.path.relpath(found)
