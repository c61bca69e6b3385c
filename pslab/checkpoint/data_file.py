"""A data file: arrays by name in the safetensors format (https://huggingface.co/docs/safetensors tells it), with pslab's mark in its header.

The header carries a checksum of each array, and one of what it says itself, so that a file of which a byte was changed is noticed, and the array named.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from pslab import __version__
from pslab.checkpoint.atomic import named_errors
from pslab.errors import DataLossError, ResourceExhaustedError, UnimplementedError, UsageError

FORMAT = 2
"""Version of the files' layout. A reader refuses those of later versions; those of version 1 have no checksums."""

Array = np.ndarray[Any, Any]

_MARK, _CHECK = "pslab", "pslab.crc32"
_DTYPES = {
    "BOOL": np.dtype(np.bool_),
    **{f"F{bits}": np.dtype(f"float{bits}") for bits in (16, 32, 64)},
    **{f"I{bits}": np.dtype(f"int{bits}") for bits in (8, 16, 32, 64)},
    **{f"U{bits}": np.dtype(f"uint{bits}") for bits in (8, 16, 32, 64)},
}


def storable(name: str, value: Any) -> Array:
    """``value`` as an array that a data file holds as ``name``.

    Raises:
        UnimplementedError: its dtype is not to be held.
        UsageError: ``name`` cannot be one.
    """
    array = np.asarray(value, order="C")  # the library writes the buffer as it lies, whatever the strides
    if array.dtype.newbyteorder("=") not in _DTYPES.values():
        raise UnimplementedError(f"a checkpoint cannot hold {name!r}: its dtype is {array.dtype}", "leave it out of the Saver's var_list")
    if not isinstance(name, str) or name == "__metadata__" or name != name.encode("utf-8", "replace").decode():
        raise UsageError(f"{name!r} cannot be the name of an array in a checkpoint")
    return array.astype(array.dtype.newbyteorder("="), copy=False)


def describe(arrays: Mapping[str, Array], devices: Mapping[str, str], **about: Any) -> dict[str, Any]:
    """What a file of these arrays says of itself."""
    variables = {
        name: {"dtype": array.dtype.name, "shape": array.shape, "device": devices.get(name, ""), "crc32": checksum(array)}
        for name, array in arrays.items()
    }
    return {"format": FORMAT, "pslab": __version__, **about, "variables": variables}


def as_text(about: Mapping[str, Any]) -> str:
    """What a file says of itself, as the text that it keeps.

    Raises:
        UsageError: it is no plain data.
    """
    try:
        return json.dumps(about)
    except (TypeError, ValueError) as error:
        raise UsageError(f"the meta of a checkpoint must be plain JSON data: {error}") from None


def checksum(array: Array) -> int:
    """CRC-32 of an array's bytes."""
    return zlib.crc32(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)


def write_data(staged: str, arrays: Mapping[str, Array], about: str, path: str) -> None:
    """Write to ``staged`` the data file that will be at ``path``.

    Raises:
        ResourceExhaustedError: the disk does not take it.
    """
    try:
        save_file(dict(arrays), staged, metadata={_MARK: about, _CHECK: str(zlib.crc32(about.encode()))})
    except SafetensorError as error:  # names and dtypes were checked, so it is the disk
        raise ResourceExhaustedError(f"cannot write checkpoint {path}: {error}", "free some space, or choose another disk") from None


class DataFile:
    """A data file that is open for reading.

    Attributes:
        path: where it is.
        about: what its header says.
        shapes: shapes by name.
        dtypes: NumPy dtypes by name.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: it is truncated, changed, or not a data file of pslab's.
        UnimplementedError: a later version of pslab wrote it.
    """

    def __init__(self, path: str) -> None:
        self.path = path
        with named_errors("read checkpoint", path), open(path, "rb"):
            pass
        self._file = _opened(path)
        try:
            self.about = _about(path, self._file.metadata() or {})
            slices = {name: self._file.get_slice(name) for name in sorted(self._file.keys())}
            self.shapes: dict[str, tuple[int, ...]] = {name: tuple(s.get_shape()) for name, s in slices.items()}
            self.dtypes: dict[str, np.dtype[Any]] = {name: _dtype(path, name, s.get_dtype()) for name, s in slices.items()}
            self._check_header()
        except BaseException:
            self.close()
            raise

    def read(self, name: str) -> Array:
        """The array ``name``, as the caller's own.

        Raises:
            DataLossError: its bytes are not those that were written, or the file was cut short since it was opened.
        """
        try:
            array = np.asarray(self._file.get_tensor(name))
        except SafetensorError as error:
            raise DataLossError(f"cannot read {name!r} of checkpoint {self.path}: {error}") from None
        written = self.about["variables"][name].get("crc32")
        if written is not None and checksum(array) != written:
            raise DataLossError(
                f"{name!r} of checkpoint {self.path} is damaged: its checksum is {checksum(array):08x}, written was {written:08x}",
                "restore an earlier checkpoint",
            )
        return array

    def close(self) -> None:
        """Let go of the file."""
        self._file.__exit__(None, None, None)

    def _check_header(self) -> None:
        written = self.about["variables"]
        if set(written) != set(self.shapes):
            raise DataLossError(f"{self.path} has a damaged header: {sorted(set(written) ^ set(self.shapes))} are told of in one half of it only")
        for name, shape in self.shapes.items():
            if (tuple(written[name]["shape"]), written[name]["dtype"]) != (shape, self.dtypes[name].name):
                raise DataLossError(
                    f"{self.path} has a damaged header: {name!r} is {written[name]['dtype']} of shape {written[name]['shape']} in one half of it"
                )


def _opened(path: str) -> Any:
    try:
        # reading with pread: a file that somebody truncates raises an error, where a mapped one would kill the process
        return safe_open(path, framework="np", backend="pread")
    except SafetensorError as error:
        raise DataLossError(f"{path} is truncated, or is not a checkpoint: {error} ({os.path.getsize(path)} bytes)") from None


def _about(path: str, metadata: Mapping[str, str]) -> dict[str, Any]:
    if _MARK not in metadata:
        raise DataLossError(
            f"{path} is a safetensors file, but not a checkpoint of pslab's: its header has no {_MARK!r}",
            "read it with safetensors.numpy.load_file and give the arrays to Variable.load",
        )
    text = metadata[_MARK]
    try:
        about = json.loads(text)
        version = about["format"] + 0
        about["global_step"], about["extra"]
        for one in about["variables"].values():
            tuple(one["shape"]), one["dtype"], one.get("crc32")
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise DataLossError(f"{path} has a damaged header: its {_MARK!r} is {text[:60]!r}") from None
    check = metadata.get(_CHECK, "" if version == FORMAT else None)
    if check is not None and check != str(zlib.crc32(text.encode())):
        raise DataLossError(f"{path} has a damaged header: what it says has not the checksum that it was written with")
    if version > FORMAT:
        raise UnimplementedError(f"{path} has format {version}, this pslab reads up to {FORMAT}", f"pslab {about.get('pslab')} wrote it")
    return about  # type: ignore[no-any-return]


def _dtype(path: str, name: str, code: str) -> np.dtype[Any]:
    if code not in _DTYPES:
        raise DataLossError(f"{path} has {name!r} of type {code}, which pslab does not write")
    return _DTYPES[code]
