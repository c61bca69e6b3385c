"""Writing files so that they are there whole or not at all, whenever the writer is killed and whenever the disk is full.

A file is written in a *staging directory* beside its target, so on the same file system, and moved to its name once it is safe on the disk. The name
of a staging directory says whose it is, so that the next writer can clean up after one that died.
"""

from __future__ import annotations

import errno
import fcntl
import os
import re
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

import psutil

from pslab.errors import InvalidArgumentError, NotFoundError, OpError, PermissionDeniedError, ResourceExhaustedError

_STAGING = re.compile(r"\.pslab-(?P<host>.*)-(?P<pid>\d+)-\w+")


@contextmanager
def staging(directory: str) -> Iterator[str]:
    """A fresh staging directory in ``directory``, which is made if it is not there; gone at the end of the block.

    Those that writers of this host left behind when they were killed are removed first.
    """
    os.makedirs(directory, exist_ok=True)
    _remove_leftovers(directory)
    stage = tempfile.mkdtemp(prefix=f".pslab-{socket.gethostname()}-{os.getpid()}-", dir=directory)
    try:
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def publish(staged: str, target: str) -> None:
    """Move a finished file out of its staging directory to its name, in place of what is there, once its bytes are on the disk."""
    with open(staged, "r+b") as file:
        os.fsync(file.fileno())
    os.replace(staged, target)
    _sync_directory(os.path.dirname(target))


def write_text(path: str, text: str) -> None:
    """Write a text file in UTF-8, whole or not at all.

    Raises:
        OSError: it cannot be written; what was there before is untouched.
    """
    write_bytes(path, text.encode("utf-8", "surrogateescape"))


def write_bytes(path: str, content: bytes) -> None:
    """Write a file, whole or not at all.

    Raises:
        OSError: it cannot be written; what was there before is untouched.
    """
    with staging(os.path.dirname(path)) as stage:
        staged = os.path.join(stage, "content")
        with open(staged, "wb") as file:
            file.write(content)
        publish(staged, path)


@contextmanager
def locked(directory: str) -> Iterator[None]:
    """Alone among the processes that ask for this directory, for as long as the block takes; where the file system has no locks, not so."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        with suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextmanager
def named_errors(action: str, path: str) -> Iterator[None]:
    """Turn what the operating system says within the block into pslab's errors, which name the path.

    Raises:
        NotFoundError: there is no such file.
        PermissionDeniedError: the file system does not allow it.
        InvalidArgumentError: the path cannot be one: a part of it is a file, it is a directory, a name is too long.
        ResourceExhaustedError: the disk is full, or anything else is wrong with it.
    """
    try:
        yield
    except OSError as error:
        raise _named(error, f"cannot {action} {path}: {error.strerror or error}") from error


def _named(error: OSError, message: str) -> OpError:
    if isinstance(error, FileNotFoundError):
        return NotFoundError(message)
    if isinstance(error, PermissionError) or error.errno == errno.EROFS:
        return PermissionDeniedError(message, "choose a directory that you may write to, or change its permissions")
    if isinstance(error, FileExistsError | NotADirectoryError | IsADirectoryError) or error.errno in (errno.ENAMETOOLONG, errno.EINVAL):
        return InvalidArgumentError(message, "choose another path")
    return ResourceExhaustedError(message, "free some space, or choose another disk")


def _remove_leftovers(directory: str) -> None:
    for name in os.listdir(directory):
        owner = _STAGING.fullmatch(name)
        if owner and owner["host"] == socket.gethostname() and not psutil.pid_exists(int(owner["pid"])):
            shutil.rmtree(os.path.join(directory, name), ignore_errors=True)  # another writer may be removing it, too


def _sync_directory(directory: str) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
