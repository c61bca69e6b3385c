"""Files by path or URL, through fsspec: ``s3://``, ``gs://``, ``http://``, ``memory://`` and local paths are one."""

from __future__ import annotations

import io
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import fsspec

from pslab.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, PermissionDeniedError, UnimplementedError
from pslab.graph.strings import as_text

_BLOCK = 1 << 16


@contextmanager
def named(name: str) -> Iterator[None]:
    """A block that opens ``name``: what its file system has to say is raised as an error that names it.

    Raises:
        NotFoundError: there is no such file.
        FailedPreconditionError: it is a directory.
        PermissionDeniedError: it may not be opened.
        UnimplementedError: the package for its protocol is not installed.
        InvalidArgumentError: it cannot be opened for another reason, such as a protocol that nobody knows.
    """
    try:
        yield
    except (FileNotFoundError, NotADirectoryError):
        raise NotFoundError(f"there is no file {name!r}", "the task that opens it must see it: a path of that machine, or a URL") from None
    except IsADirectoryError:
        raise FailedPreconditionError(f"{name!r} is a directory, not a file", f"its files are {os.path.join(name, '*')!r}") from None
    except PermissionError as error:
        raise PermissionDeniedError(f"{name!r} may not be opened: {error.strerror}", "the user whose task it is must be allowed to") from None
    except ImportError as error:
        raise UnimplementedError(f"{name!r} cannot be opened: {error}", "the task that opens it needs the package for its protocol") from None
    except (OSError, ValueError) as error:
        raise InvalidArgumentError(f"{name!r:.300} cannot be opened: {error!s:.300}", "a path, or a URL such as s3://bucket/file") from None


def open_file(name: str) -> io.BufferedReader:
    """A file to read bytes from, in blocks.

    Raises:
        NotFoundError: there is no such file.
        OpError: it cannot be opened (see `named`).
    """
    with named(name):
        return io.BufferedReader(fsspec.open(name, "rb").open(), _BLOCK)


def read_whole(name: str) -> bytes:
    """The contents of a file.

    Raises:
        NotFoundError: there is no such file.
        OpError: it cannot be opened (see `named`).
    """
    with open_file(name) as file:
        return file.read()


def write_whole(name: str, contents: bytes) -> None:
    """Write a file, and make the directories above it.

    Raises:
        OpError: it cannot be opened (see `named`).
    """
    with named(name), fsspec.open(name, "wb", auto_mkdir=True) as file:
        file.write(contents)


def matching(patterns: Iterable[Any]) -> list[str]:
    """Names of the files that match any of the patterns, in order of the alphabet. They are written as their pattern is: relative, or with its protocol.

    Raises:
        OpError: a pattern's file system cannot be asked (see `named`).
    """
    found: set[str] = set()
    for pattern in map(as_text, patterns):
        with named(pattern):
            system, path = fsspec.core.url_to_fs(pattern)
            found.update(_as_written(system, pattern, str(name)) for name in system.glob(path))
    return sorted(found)


def _as_written(system: Any, pattern: str, name: str) -> str:
    if "://" in pattern:
        return str(system.unstrip_protocol(name))
    return name if os.path.isabs(pattern) else os.path.relpath(name)
