"""Checkpoints: the values of variables in ``PREFIX.safetensors``, or, one file per task, in several of them with ``PREFIX.index``; the graph in ``PREFIX.meta``.

Each data file is complete in itself and can be opened by any reader of safetensors. Of a checkpoint in several files the index says which they are; it is
written last, and the files of the former one are deleted after that, so there is the one checkpoint or the other at any moment.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import time
import zlib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from types import TracebackType
from typing import Any

import numpy as np

from pslab.checkpoint.atomic import named_errors, publish, staging
from pslab.checkpoint.data_file import FORMAT, Array, DataFile, as_text, describe, storable, write_data
from pslab.errors import DataLossError, NotFoundError, UsageError

DATA_SUFFIX = ".safetensors"
INDEX_SUFFIX = ".index"
META_SUFFIX = ".meta"

_SHARD = re.compile(r"\.[0-9a-f]{8}-\d{5}-of-\d{5}\.safetensors")
_SUFFIXES = (DATA_SUFFIX, INDEX_SUFFIX)


def checkpoint_prefix(path: str | os.PathLike[str]) -> str:
    """The absolute prefix that ``path`` means: ``~`` expanded, and without ``.safetensors`` or ``.index`` at its end.

    Raises:
        UsageError: it is no path of a file.
    """
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str):
        raise UsageError(f"a checkpoint's path is a string or a pathlib.Path, not {type(path).__name__}: {path!r}")
    text = next((text.removesuffix(suffix) for suffix in _SUFFIXES if text.endswith(suffix)), text)
    name = os.path.basename(text)
    if name in ("", ".", "..") or "\0" in text:
        raise UsageError(f"{text!r} is not a checkpoint's path", 'write the directory and a name, for example "runs/first/model.ckpt"')
    return os.path.abspath(os.path.expanduser(text))


def write_checkpoint(
    prefix: str | os.PathLike[str],
    tensors: Mapping[str, Array],
    *,
    global_step: int | None = None,
    devices: Mapping[str, str] | None = None,
    meta: Mapping[str, Any] | None = None,
    shards: Mapping[str, str] | None = None,
) -> str:
    """Write a checkpoint, in place of one of the same prefix. If that fails or is killed, the former one is untouched.

    Args:
        prefix: path without suffix; directories are made.
        tensors: arrays by name, of any shape and of any dtype that pslab has but ``string``. They must not change meanwhile.
        global_step: the training step the arrays belong to, if it is known.
        devices: the devices the arrays were on, by name. A note only: a checkpoint can be restored to any.
        meta: further things to remember, as JSON can hold them.
        shards: from each name to a group, such as the name of a task: each group gets a file of its own. None for one file.

    Returns:
        The absolute prefix.

    Raises:
        UsageError: a path, a name or a ``meta`` that cannot be written.
        UnimplementedError: a dtype that checkpoints cannot hold.
        PermissionDeniedError, ResourceExhaustedError, InvalidArgumentError: the disk, as in `pslab.checkpoint.atomic.named_errors`.
    """
    prefix = checkpoint_prefix(prefix)
    arrays = {name: storable(name, array) for name, array in tensors.items()}
    common = {"time": time.time(), "global_step": global_step, "extra": dict(meta or {})}
    groups = [arrays] if shards is None else _grouped(arrays, shards)
    texts = [as_text(describe(group, devices or {}, **common)) for group in groups]
    obsolete = _shards(prefix)
    with named_errors("write checkpoint", prefix + DATA_SUFFIX), staging(os.path.dirname(prefix)) as stage:
        if shards is None:
            _publish_data(stage, prefix + DATA_SUFFIX, arrays, texts[0])
            obsolete.insert(0, prefix + INDEX_SUFFIX)
        else:
            token = secrets.token_hex(4)
            files = [f"{prefix}.{token}-{i:05d}-of-{len(groups):05d}{DATA_SUFFIX}" for i in range(len(groups))]
            for file, group, text in zip(files, groups, texts, strict=True):
                _publish_data(stage, file, group, text)
            index = {os.path.basename(file): zlib.crc32(text.encode()) for file, text in zip(files, texts, strict=True)}
            _publish_index(stage, prefix + INDEX_SUFFIX, index)
            obsolete.append(prefix + DATA_SUFFIX)
        for path in obsolete:
            if os.path.lexists(path):
                os.remove(path)
    return prefix


def open_checkpoint(prefix: str | os.PathLike[str]) -> Checkpoint:
    """Open a checkpoint to read from it. What is read is what was there now, even if another is written to its place.

    Raises:
        NotFoundError: there is none, or a file of it is missing; the hint names those of the same directory.
        DataLossError: a file is truncated, was changed, or is not a checkpoint of pslab's.
        UnimplementedError: a later version of pslab wrote it.
        PermissionDeniedError, ResourceExhaustedError: it cannot be read.
    """
    return Checkpoint(checkpoint_prefix(prefix))


def remove_checkpoint(prefix: str | os.PathLike[str], meta_graph_suffix: str = "meta") -> None:
    """Delete the files of a checkpoint that are there.

    Raises:
        PermissionDeniedError: the file system does not allow it.
    """
    prefix = checkpoint_prefix(prefix)
    for path in (prefix + INDEX_SUFFIX, *_shards(prefix), prefix + DATA_SUFFIX, f"{prefix}.{meta_graph_suffix}"):
        if os.path.lexists(path):
            with named_errors("delete", path), suppress(FileNotFoundError):  # another process may be deleting it, too
                os.remove(path)


def checkpoint_time(prefix: str) -> float:
    """When a checkpoint was written, in seconds since 1970.

    Raises:
        NotFoundError: there is none.
    """
    path = prefix + INDEX_SUFFIX if os.path.lexists(prefix + INDEX_SUFFIX) else prefix + DATA_SUFFIX
    with named_errors("read checkpoint", path):
        return os.path.getmtime(path)


class Checkpoint:
    """A checkpoint that is open for reading; arrays are read, and checked, when they are asked for. A context manager, which closes it.

    Attributes:
        prefix: its absolute path without suffix.
        path: the file that stands for it: the data file, or the index of several.
        shapes: shapes by name, in order of the alphabet.
        dtypes: NumPy dtypes by name.
        about: what it says of itself: ``format``, ``pslab`` (version), ``time`` (seconds since 1970), ``global_step``, ``variables``, ``extra``.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.path = prefix + (INDEX_SUFFIX if os.path.lexists(prefix + INDEX_SUFFIX) else DATA_SUFFIX)
        self._files: list[DataFile] = []
        try:
            self._open()
        except NotFoundError as error:
            self.close()
            gone = f": {error.message}" if self.path.endswith(INDEX_SUFFIX) else ""
            raise NotFoundError(f"there is no checkpoint {self.path}{gone}", _others(os.path.dirname(prefix))) from None
        except DataLossError as error:
            self.close()
            raise DataLossError(error.message, error.hint or _others(os.path.dirname(prefix), self.path)) from None
        except BaseException:
            self.close()
            raise
        self._file_of = {name: file for file in self._files for name in file.shapes}
        self.shapes = {name: self._file_of[name].shapes[name] for name in sorted(self._file_of)}
        self.dtypes = {name: self._file_of[name].dtypes[name] for name in self.shapes}
        self.about: dict[str, Any] = {**self._files[0].about, "variables": {n: f.about["variables"][n] for n, f in self._file_of.items()}}

    def _open(self) -> None:
        if self.path.endswith(DATA_SUFFIX):
            self._files.append(DataFile(self.path))
            return
        for name, check in _read_index(self.path).items():
            self._files.append(DataFile(os.path.join(os.path.dirname(self.path), name)))
            if zlib.crc32(as_text(self._files[-1].about).encode()) != check:
                raise DataLossError(f"{self._files[-1].path} is not the file that {self.path} was written with")

    @property
    def names(self) -> list[str]:
        """Names of the arrays, in order of the alphabet."""
        return list(self.shapes)

    @property
    def files(self) -> list[str]:
        """Paths of its data files."""
        return [file.path for file in self._files]

    @property
    def global_step(self) -> int | None:
        """The training step of the checkpoint, if its writer knew."""
        return self.about["global_step"]  # type: ignore[no-any-return]

    def __contains__(self, name: object) -> bool:
        return name in self.shapes

    def __iter__(self) -> Iterator[str]:
        return iter(self.shapes)

    def read(self, name: str) -> Array:
        """The array ``name``, as the caller's own.

        Raises:
            NotFoundError: the checkpoint has none of that name.
            DataLossError: its bytes are not those that were written.
        """
        if name not in self.shapes:
            raise NotFoundError(f"checkpoint {self.path} has no {name!r}", f"it has {', '.join(self.shapes) or 'nothing'}")
        return self._file_of[name].read(name)

    def read_all(self) -> dict[str, Array]:
        """All arrays, by name."""
        return {name: self.read(name) for name in self.shapes}

    def close(self) -> None:
        """Let go of the files."""
        for file in self._files:
            file.close()

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<pslab.Checkpoint {self.path!r} variables={len(self.shapes)} global_step={self.global_step}>"


def _grouped(arrays: Mapping[str, Array], shards: Mapping[str, str]) -> list[dict[str, Array]]:
    groups: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        groups.setdefault(shards[name], {})[name] = array
    return [groups[key] for key in sorted(groups)] or [{}]


def _publish_data(stage: str, path: str, arrays: Mapping[str, np.ndarray[Any, Any]], about: str) -> None:
    staged, usual = os.path.join(stage, "data"), os.path.join(stage, "mode")
    with open(usual, "w"):
        write_data(staged, arrays, about, path)
    shutil.copymode(usual, staged)  # the library makes it private, whatever the umask
    publish(staged, path)


def _publish_index(stage: str, path: str, files: Mapping[str, int]) -> None:
    staged = os.path.join(stage, "index")
    content = {"format": FORMAT, "files": files}
    with open(staged, "w", encoding="utf-8") as file:
        json.dump({**content, "crc32": zlib.crc32(as_text(content).encode())}, file, indent=1)
    publish(staged, path)


def _read_index(path: str) -> dict[str, int]:
    """The data files that an index names, each with the checksum of what it says of itself."""
    with named_errors("read checkpoint", path), open(path, "rb") as file:
        text = file.read()
    try:
        index = json.loads(text)
        check = index.pop("crc32")
        files = {str(name): int(value) for name, value in index["files"].items()}
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError):
        raise DataLossError(f"{path} is damaged, or is no index of a checkpoint: it begins with {text[:60]!r}") from None
    if zlib.crc32(as_text(index).encode()) != check:
        raise DataLossError(f"{path} is damaged: it has not the checksum that it was written with")
    if any(os.path.basename(name) != name for name in files) or not files:
        raise DataLossError(f"{path} names files that are not beside it: {', '.join(files) or 'none'}")
    return files


def _shards(prefix: str) -> list[str]:
    """All files, one of several, that checkpoints of this prefix may have left."""
    directory, name = os.path.split(prefix)
    try:
        found = [n for n in os.listdir(directory) if n.startswith(name) and _SHARD.fullmatch(n[len(name) :])]
    except OSError:
        found = []
    return [os.path.join(directory, n) for n in found]


def _others(directory: str, without: str | None = None) -> str:
    try:
        names = sorted(n for n in os.listdir(directory) if n.endswith(_SUFFIXES) and os.path.join(directory, n) != without)
    except OSError:
        return f"there is no directory {directory}"
    found = [n for n in names if not re.search(_SHARD.pattern + "$", n)]
    if not found:
        return f"there is no other checkpoint in {directory}"
    shown = ", ".join(os.path.splitext(name)[0] for name in found[:8])
    return f"{directory} has {shown}" + (f" and {len(found) - 8} more" if len(found) > 8 else "")
