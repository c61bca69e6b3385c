"""Checkpoint files: the values of variables in ``PREFIX.safetensors``, and what a person wants to know about them in ``PREFIX.meta``.

The header of the data file (https://huggingface.co/docs/safetensors tells the format) carries pslab's mark and all that the ``.meta`` says, so the
data file alone is a checkpoint, and it is complete or not there. ``PREFIX.meta`` is a copy of that in JSON for people to read; it is written last.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator, Mapping
from types import TracebackType
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from pslab import __version__
from pslab.checkpoint.atomic import named_errors, publish, staging
from pslab.errors import DataLossError, NotFoundError, ResourceExhaustedError, UnimplementedError, UsageError

DATA_SUFFIX = ".safetensors"
META_SUFFIX = ".meta"
FORMAT = 1
"""Version of the files' layout. A reader refuses those of later versions."""

_MARK = "pslab"
_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    **{f"F{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    **{f"I{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"U{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
}

Array = np.ndarray[Any, Any]


def checkpoint_prefix(path: str | os.PathLike[str]) -> str:
    """The absolute prefix that ``path`` means: ``~`` expanded, and without ``.safetensors`` at its end.

    Raises:
        UsageError: it is no path of a file.
    """
    text = os.fspath(path) if isinstance(path, os.PathLike) else path
    if not isinstance(text, str):
        raise UsageError(f"a checkpoint's path is a string or a pathlib.Path, not {type(path).__name__}: {path!r}")
    name = os.path.basename(text.removesuffix(DATA_SUFFIX))
    if name in ("", ".", "..") or "\0" in text:
        raise UsageError(f"{text!r} is not a checkpoint's path", 'write the directory and a name, for example "runs/first/model.ckpt"')
    return os.path.abspath(os.path.expanduser(text.removesuffix(DATA_SUFFIX)))


def write_checkpoint(
    prefix: str | os.PathLike[str],
    tensors: Mapping[str, Array],
    *,
    global_step: int | None = None,
    devices: Mapping[str, str] | None = None,
    meta: Mapping[str, Any] | None = None,
) -> str:
    """Write a checkpoint, in place of one of the same prefix. If that fails or is killed, the former one is untouched.

    Args:
        prefix: path without suffix; directories are made.
        tensors: arrays by name, of any shape and of any dtype that pslab has but ``string``. They must not change meanwhile.
        global_step: the training step the arrays belong to, if it is known.
        devices: the devices the arrays were on, by name. A note only: a checkpoint can be restored to any.
        meta: further things to remember, as JSON can hold them.

    Returns:
        The absolute prefix.

    Raises:
        UsageError: a path, a name or a ``meta`` that cannot be written.
        UnimplementedError: a dtype that checkpoints cannot hold.
        PermissionDeniedError, ResourceExhaustedError, InvalidArgumentError: the disk, as in `pslab.checkpoint.atomic.named_errors`.
    """
    prefix = checkpoint_prefix(prefix)
    arrays = {name: _storable(name, array) for name, array in tensors.items()}
    about = {
        "format": FORMAT,
        "pslab": __version__,
        "time": time.time(),
        "global_step": global_step,
        "variables": {
            name: {"dtype": array.dtype.name, "shape": array.shape, "device": (devices or {}).get(name, "")} for name, array in arrays.items()
        },
        "extra": dict(meta or {}),
    }
    try:
        text = json.dumps(about, indent=1)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the meta of a checkpoint must be plain JSON data: {error}") from None
    data, notes = prefix + DATA_SUFFIX, prefix + META_SUFFIX
    with named_errors("write checkpoint", data), staging(os.path.dirname(prefix)) as stage:
        staged_data, staged_notes = os.path.join(stage, "data"), os.path.join(stage, "meta")
        with open(staged_notes, "w", encoding="utf-8") as file:
            file.write(text + "\n")
        try:
            save_file(arrays, staged_data, metadata={_MARK: json.dumps(about)})
        except SafetensorError as error:  # names and dtypes were checked, so it is the disk
            raise ResourceExhaustedError(f"cannot write checkpoint {data}: {error}", "free some space, or choose another disk") from None
        shutil.copymode(staged_notes, staged_data)  # the library makes it private, whatever the umask
        publish(staged_data, data)
        publish(staged_notes, notes)
    return prefix


def open_checkpoint(prefix: str | os.PathLike[str]) -> Checkpoint:
    """Open a checkpoint to read from it. What is read is what was there now, even if another is written to its place.

    Raises:
        NotFoundError: there is none; the hint names those of the same directory.
        DataLossError: the file is truncated, or is not a checkpoint of pslab's.
        UnimplementedError: a later version of pslab wrote it.
        PermissionDeniedError, ResourceExhaustedError: it cannot be read.
    """
    return Checkpoint(checkpoint_prefix(prefix))


def remove_checkpoint(prefix: str) -> None:
    """Delete the files of a checkpoint that are there.

    Raises:
        PermissionDeniedError: the file system does not allow it.
    """
    for path in (prefix + DATA_SUFFIX, prefix + META_SUFFIX):
        if os.path.lexists(path):
            with named_errors("delete", path):
                os.remove(path)


class Checkpoint:
    """A checkpoint that is open for reading; arrays are read when they are asked for. A context manager, which closes it.

    Attributes:
        prefix: its absolute path without suffix.
        shapes: shapes by name, in order of the alphabet.
        dtypes: NumPy dtypes by name.
        about: what ``PREFIX.meta`` says: ``format``, ``pslab`` (version), ``time`` (seconds since 1970), ``global_step``, ``variables``, ``extra``.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.path = prefix + DATA_SUFFIX
        self._file = _open(prefix)
        try:
            self.about = _about(self.path, self._file.metadata() or {})
            slices = {name: self._file.get_slice(name) for name in sorted(self._file.keys())}
            self.shapes: dict[str, tuple[int, ...]] = {name: tuple(s.get_shape()) for name, s in slices.items()}
            self.dtypes: dict[str, np.dtype[Any]] = {name: _dtype(self.path, name, s.get_dtype()) for name, s in slices.items()}
        except BaseException:
            self.close()
            raise

    @property
    def names(self) -> list[str]:
        """Names of the arrays, in order of the alphabet."""
        return list(self.shapes)

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
            DataLossError: the file was cut short since it was opened.
        """
        if name not in self.shapes:
            raise NotFoundError(f"checkpoint {self.path} has no {name!r}", f"it has {', '.join(self.shapes) or 'nothing'}")
        try:
            return np.asarray(self._file.get_tensor(name))
        except SafetensorError as error:
            raise DataLossError(f"cannot read {name!r} of checkpoint {self.path}: {error}") from None

    def read_all(self) -> dict[str, Array]:
        """All arrays, by name."""
        return {name: self.read(name) for name in self.shapes}

    def close(self) -> None:
        """Let go of the file."""
        self._file.__exit__(None, None, None)

    def __enter__(self) -> Checkpoint:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<pslab.Checkpoint {self.path!r} variables={len(self.shapes)} global_step={self.global_step}>"


def _storable(name: str, value: Array) -> Array:
    array = np.asarray(value, order="C")  # the library writes the buffer as it lies, whatever the strides
    if array.dtype.newbyteorder("=") not in _DTYPES.values():
        raise UnimplementedError(f"a checkpoint cannot hold {name!r}: its dtype is {array.dtype}", "leave it out of the Saver's var_list")
    if not isinstance(name, str) or name == "__metadata__" or name != name.encode("utf-8", "replace").decode():
        raise UsageError(f"{name!r} cannot be the name of an array in a checkpoint")
    return array


def _open(prefix: str) -> Any:
    path = prefix + DATA_SUFFIX
    try:
        with named_errors("read checkpoint", path), open(path, "rb"):
            # reading with pread: a file that somebody truncates raises an error, where a mapped one would kill the process
            return safe_open(path, framework="np", backend="pread")
    except NotFoundError:
        raise NotFoundError(f"there is no checkpoint {path}", _others(os.path.dirname(prefix))) from None
    except SafetensorError as error:
        raise DataLossError(
            f"{path} is truncated, or is not a checkpoint: {error} ({os.path.getsize(path)} bytes)", _others(os.path.dirname(prefix), path)
        ) from None


def _about(path: str, metadata: Mapping[str, str]) -> dict[str, Any]:
    if _MARK not in metadata:
        raise DataLossError(
            f"{path} is a safetensors file, but not a checkpoint of pslab's: its header has no {_MARK!r}",
            "read it with safetensors.numpy.load_file and give the arrays to Variable.load",
        )
    try:
        about = json.loads(metadata[_MARK])
        later = about["format"] > FORMAT
        about["global_step"], about["extra"], about["variables"]
    except (ValueError, KeyError, TypeError):
        raise DataLossError(f"{path} has a damaged header: its {_MARK!r} is {metadata[_MARK][:60]!r}") from None
    if later:
        raise UnimplementedError(f"{path} has format {about['format']}, this pslab reads up to {FORMAT}", f"pslab {about.get('pslab')} wrote it")
    return about  # type: ignore[no-any-return]


def _dtype(path: str, name: str, code: str) -> np.dtype[Any]:
    if code not in _DTYPES:
        raise DataLossError(f"{path} has {name!r} of type {code}, which pslab does not write")
    return _DTYPES[code]


def _others(directory: str, without: str = "") -> str:
    """A hint that names the checkpoints of ``directory``."""
    try:
        found = sorted(n for n in os.listdir(directory) if n.endswith(DATA_SUFFIX) and os.path.join(directory, n) != without)
    except OSError:
        return f"there is no directory {directory}"
    if not found:
        return f"there is no other checkpoint in {directory}"
    shown = ", ".join(name.removesuffix(DATA_SUFFIX) for name in found[:8])
    return f"{directory} has {shown}" + (f" and {len(found) - 8} more" if len(found) > 8 else "")
