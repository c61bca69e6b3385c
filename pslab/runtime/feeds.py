"""Fed values: checked against the tensors they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError
from pslab.graph.graph import Graph
from pslab.graph.strings import as_strings
from pslab.graph.tensor import Tensor


def feedable(graph: Graph, key: Any) -> Tensor:
    """The tensor that a key of a ``feed_dict`` names.

    Raises:
        InvalidArgumentError: it names an op that has no single output.
    """
    element = graph.as_graph_element(key)
    if isinstance(element, Tensor):
        return element
    if len(element.outputs) == 1:
        return element.outputs[0]
    raise InvalidArgumentError(f"op {element.name!r} cannot be fed: it has {len(element.outputs)} outputs", "feed one of its tensors")


def fed_value(tensor: Tensor, value: Any) -> np.ndarray[Any, Any]:
    """``value`` as an array of ``tensor``'s dtype, of a shape its static shape allows.

    Raises:
        InvalidArgumentError: it is not.
    """
    wanted = tensor.dtype.as_numpy_dtype
    if wanted.kind == "O":
        value = _strings(tensor, value)
    elif type(value) is not np.ndarray or value.dtype != wanted:
        value = _convert(tensor, value, wanted)
    dims = tensor.shape.dims
    if dims is not None and (len(dims) != value.ndim or any(d is not None and d != n for d, n in zip(dims, value.shape, strict=True))):
        raise InvalidArgumentError(f"{tensor.name} has shape {tensor.shape}, but a value of shape {value.shape} was fed", origin_hint(tensor))
    return value  # type: ignore[no-any-return]


def _strings(tensor: Tensor, value: Any) -> np.ndarray[Any, Any]:
    _refuse_symbols(tensor, value)
    strings = as_strings(value)
    if strings is None:
        raise InvalidArgumentError(f"{tensor.name} is string, but a value of {np.asarray(value).dtype} was fed", origin_hint(tensor))
    return strings


def _convert(tensor: Tensor, value: Any, wanted: np.dtype[Any]) -> np.ndarray[Any, Any]:
    _refuse_symbols(tensor, value)
    try:
        found = np.asarray(value)
    except ValueError as error:
        raise InvalidArgumentError(f"{tensor.name} was fed something that makes no array: {error}", origin_hint(tensor)) from None
    exact = found.dtype.kind == "i" and wanted.kind in "biu" and _in_range(found, wanted)
    if not exact and not _castable(found.dtype, wanted):
        raise InvalidArgumentError(f"{tensor.name} is {tensor.dtype.name}, but a value of {found.dtype} was fed", origin_hint(tensor))
    return found.astype(wanted)


def _refuse_symbols(tensor: Tensor, value: Any) -> None:
    if isinstance(value, Tensor) or hasattr(value, "_as_tensor"):
        raise InvalidArgumentError(f"{tensor.name} was fed a symbol, {value!r}", "feed numbers: run it first, or build it into the graph")


def _castable(found: np.dtype[Any], wanted: np.dtype[Any]) -> bool:
    if found.kind in "iu" and wanted.kind in "iu":
        return np.can_cast(found, wanted, "safe")
    return found.kind in "biufc" and np.can_cast(found, wanted, "same_kind")


def _in_range(found: np.ndarray[Any, Any], wanted: np.dtype[Any]) -> bool:
    least, most = (0, 1) if wanted.kind == "b" else (np.iinfo(wanted).min, np.iinfo(wanted).max)
    return found.size == 0 or bool(found.min() >= least and found.max() <= most)


def origin_hint(tensor: Tensor) -> str:
    """Where the tensor was built, as a hint."""
    return f"it was built at {tensor.op.origin}"
