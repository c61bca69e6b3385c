"""Files by path or URL, through fsspec: ``s3://``, ``gs://``, ``http://``, ``memory://`` and local paths are one."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable
from typing import Any

import fsspec

from pslab.errors import FailedPreconditionError, NotFoundError
from pslab.graph.strings import as_text

_BLOCK = 1 << 16


def open_file(name: str) -> io.BufferedReader:
    """A file to read bytes from, in blocks.

    Raises:
        NotFoundError: there is no such file.
        FailedPreconditionError: it is a directory.
    """
    try:
        return io.BufferedReader(fsspec.open(name, "rb").open(), _BLOCK)
    except FileNotFoundError:
        raise NotFoundError(f"there is no file {name!r}", "the task that reads it must see it: a path of that machine, or a URL") from None
    except IsADirectoryError:
        raise FailedPreconditionError(f"{name!r} is a directory, not a file", f"its files are {os.path.join(name, '*')!r}") from None


def read_whole(name: str) -> bytes:
    """The contents of a file.

    Raises:
        NotFoundError: there is no such file.
        FailedPreconditionError: it is a directory.
    """
    with open_file(name) as file:
        return file.read()


def write_whole(name: str, contents: bytes) -> None:
    """Write a file, and make the directories above it."""
    with fsspec.open(name, "wb", auto_mkdir=True) as file:
        file.write(contents)


def matching(patterns: Iterable[Any]) -> list[str]:
    """Names of the files that match any of the patterns, in order of the alphabet. They are written as their pattern is: relative, or with its protocol."""
    found: set[str] = set()
    for pattern in map(as_text, patterns):
        system, path = fsspec.core.url_to_fs(pattern)
        for name in system.glob(path):
            found.add(_as_written(system, pattern, str(name)))
    return sorted(found)


def _as_written(system: Any, pattern: str, name: str) -> str:
    if "://" in pattern:
        return str(system.unstrip_protocol(name))
    return name if os.path.isabs(pattern) else os.path.relpath(name)
