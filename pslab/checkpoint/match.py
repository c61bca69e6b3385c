"""Whether a checkpoint has what is wanted of it: everything that is wrong, in one error, before anything is touched."""

from __future__ import annotations

import difflib
from collections.abc import Mapping
from typing import Any

from pslab.checkpoint.files import Checkpoint
from pslab.errors import InvalidArgumentError, NotFoundError
from pslab.graph.dtypes import DType, as_dtype
from pslab.graph.shape import TensorShape

Wanted = Mapping[str, tuple[DType | Any, TensorShape | Any]]
"""From a name in the checkpoint to the dtype and the (partly known) shape it should have."""


def match(checkpoint: Checkpoint, wanted: Wanted) -> None:
    """Check that ``checkpoint`` has everything in ``wanted``. It may have more.

    Raises:
        NotFoundError: a name is missing. The message lists every mismatch, of whatever kind.
        InvalidArgumentError: all names are there, but a dtype or a shape differs. The message lists every mismatch.
    """
    missing = [name for name in wanted if name not in checkpoint]
    problems = [_missing(checkpoint, name) for name in missing]
    for name, (dtype, shape) in wanted.items():
        if name in checkpoint:
            problems.extend(_mismatches(checkpoint, name, as_dtype(dtype), TensorShape(shape)))
    if not problems:
        return
    message = "\n  ".join([f"checkpoint {checkpoint.path} does not fit {len(problems)} of {len(wanted)} variables:", *problems])
    if not missing:
        raise InvalidArgumentError(message, "build the model as it was when it was saved, or restore a subset: Saver([variables])")
    if len(missing) == len(wanted):
        raise NotFoundError(message, f"nothing matches; the checkpoint has {', '.join(map(repr, checkpoint)) or 'nothing'}")
    raise NotFoundError(message, "restore a subset, Saver([variables]), or give the names in the file: Saver({name: variable})")


def _missing(checkpoint: Checkpoint, name: str) -> str:
    close = difflib.get_close_matches(name, checkpoint.names, n=1)
    return f"{name!r} is not in it" + (f" (it has {close[0]!r})" if close else "")


def _mismatches(checkpoint: Checkpoint, name: str, dtype: DType, shape: TensorShape) -> list[str]:
    found_dtype, found_shape = as_dtype(checkpoint.dtypes[name]), TensorShape(checkpoint.shapes[name])
    differences = []
    if found_shape.dims is not None and not shape.is_compatible_with(found_shape):
        differences.append(f"has shape {found_shape}, expected {shape}")
    if found_dtype is not dtype:
        differences.append(f"is {found_dtype.name}, expected {dtype.name}")
    return [f"{name!r} {' and '.join(differences)}"] if differences else []
