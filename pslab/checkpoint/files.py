"""Checkpoint files: all arrays in one safetensors file, which is there whole or not at all."""

from __future__ import annotations

import contextlib
import errno
import json
import os
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load_file, save_file

from pslab.errors import DataLossError, InvalidArgumentError, NotFoundError, PermissionDeniedError, ResourceExhaustedError

SUFFIX = ".safetensors"
_FORMAT, _VERSION = "pslab", "1"
Arrays = Mapping[str, np.ndarray[Any, Any]]


def data_file(prefix: str | Path) -> Path:
    """The file of the checkpoint ``prefix``."""
    path = Path(prefix).expanduser()
    return path if path.name.endswith(SUFFIX) else path.with_name(path.name + SUFFIX)


def write_checkpoint(prefix: str | Path, arrays: Arrays) -> str:
    """Write arrays; returns the prefix as an absolute path.

    The file appears under its name when it is complete and on the disk. Whatever happens before leaves a checkpoint of that name as it was.

    Raises:
        ResourceExhaustedError: the disk is full.
        PermissionDeniedError: the place cannot be written to.
    """
    target = data_file(prefix).absolute()
    with _disk(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent) as directory:
            part = Path(directory) / "part"
            save_file({name: np.ascontiguousarray(a).reshape(a.shape) for name, a in arrays.items()}, part, {"format": _FORMAT, "version": _VERSION})
            _sync(part)
            os.replace(part, target)
            _sync(target.parent)
    return str(target.with_name(target.name.removesuffix(SUFFIX)))


def read_checkpoint(prefix: str | Path) -> dict[str, np.ndarray[Any, Any]]:
    """The arrays of a checkpoint, by name.

    Raises:
        NotFoundError: there is none of that name.
        DataLossError: the file is truncated, or no checkpoint of pslab's.
    """
    path = data_file(prefix).absolute()
    if not path.is_file():
        near = sorted(p.name.removesuffix(SUFFIX) for p in path.parent.glob(f"*{SUFFIX}")) if path.parent.is_dir() else []
        hint = f"there is: {', '.join(near[:8])}" if near else f"{path.parent} has no checkpoints"
        raise NotFoundError(f"there is no checkpoint {str(prefix)!r}", hint)
    with _disk(path):
        mark = _mark(path)
        if mark.get("format") != _FORMAT:
            raise DataLossError(f"{path} is a safetensors file, but not a checkpoint of pslab's", "was it written by another program?")
        if mark.get("version") != _VERSION:
            raise DataLossError(f"{path} has version {mark.get('version')!r} of the format; this pslab reads {_VERSION!r}")
        try:
            return load_file(path)
        except (SafetensorError, ValueError, KeyError) as error:
            raise DataLossError(f"{path} is damaged: {error}") from None


def check_fits(prefix: str, found: Arrays, wanted: Mapping[str, tuple[np.dtype[Any], tuple[int | None, ...] | None]]) -> None:
    """Whether a checkpoint has what is to be restored.

    Args:
        prefix: the checkpoint, for the message.
        found: its arrays.
        wanted: dtype and static shape (None where it is not known) by name.

    Raises:
        NotFoundError: variables are missing.
        InvalidArgumentError: variables have another dtype or shape. The message lists all of them.
    """
    missing = [name for name in wanted if name not in found]
    if missing:
        others = sorted(set(found) - set(wanted))
        raise NotFoundError(
            f"checkpoint {prefix!r} has no variable {', '.join(repr(m) for m in missing)}",
            f"it has, besides: {', '.join(others[:12])}" if others else "is it of another model?",
        )
    wrong = [
        f"{name} is {found[name].dtype} {found[name].shape} there, {dtype} {shape} here"
        for name, (dtype, shape) in wanted.items()
        if found[name].dtype != dtype or not _fits(found[name].shape, shape)
    ]
    if wrong:
        raise InvalidArgumentError(f"checkpoint {prefix!r} does not fit: " + "; ".join(wrong), "is it of another model?")


def _fits(found: tuple[int, ...], wanted: tuple[int | None, ...] | None) -> bool:
    return wanted is None or (len(found) == len(wanted) and all(w is None or w == f for f, w in zip(found, wanted, strict=True)))


def _mark(path: Path) -> dict[str, str]:
    """The metadata of a safetensors file: its header is eight bytes of length, and JSON."""
    size = path.stat().st_size
    with path.open("rb") as file:
        length = int.from_bytes(file.read(8), "little")
        if size < 8 or length > size - 8:
            raise DataLossError(f"{path} is truncated, or not a checkpoint: it has {size} bytes")
        try:
            header = json.loads(file.read(length))
        except ValueError:
            raise DataLossError(f"{path} is not a checkpoint: its header cannot be read") from None
    mark = header.get("__metadata__", {}) if isinstance(header, dict) else {}
    return mark if isinstance(mark, dict) else {}


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextlib.contextmanager
def _disk(path: Path) -> Iterator[None]:
    """Errors of the file system, as ours."""
    try:
        yield
    except (OSError, SafetensorError) as error:
        number = getattr(error, "errno", None)
        if number in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG) or "os error 28" in str(error) or "os error 27" in str(error):
            raise ResourceExhaustedError(f"cannot write {path}: the disk is full", "free some space; the checkpoint before is as it was") from None
        reason = getattr(error, "strerror", None) or str(error)
        raise PermissionDeniedError(f"cannot use {path}: {reason}", "give another place") from None
