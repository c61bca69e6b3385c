"""Building ops: values become tensors, tensors become operations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.errors import GraphError
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import DType, as_dtype, string
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.strings import as_strings
from pslab.graph.tensor import Tensor


def apply(type: str, inputs: Sequence[Any], name: str | None = None, **attrs: Any) -> Any:
    """Add an op of ``type`` to the graph of its inputs, or to the default graph.

    Inputs that are not tensors become constants. Returns the op's output; a tuple of them if there are several; the op itself if there is none.
    """
    op = apply_op(type, inputs, name, **attrs)
    if len(op.outputs) == 1:
        return op.outputs[0]
    return op.outputs or op


def apply_one(type: str, inputs: Sequence[Any], name: str | None = None, **attrs: Any) -> Tensor:
    """Like `apply`, for an op type of one output."""
    return apply_op(type, inputs, name, **attrs).outputs[0]


def apply_op(type: str, inputs: Sequence[Any], name: str | None = None, **attrs: Any) -> Operation:
    """Like `apply`, but returns the operation."""
    tensors = [convert_to_tensor(value) for value in inputs]
    graph = tensors[0].graph if tensors else get_default_graph()
    return graph.create_op(type, tensors, attrs, name)


def convert_to_tensor(value: Any, dtype: DType | Any = None, name: str | None = None, like: Tensor | None = None) -> Tensor:
    """Return ``value`` as a tensor: itself, a variable's value, or a constant.

    Args:
        value: a `Tensor`, a variable, or anything `numpy.asarray` takes. Python floats become float32, Python ints int32, as in TensorFlow.
        dtype: the element type wanted.
        name: name of the constant, if one is made.
        like: a tensor whose dtype a Python number or list takes on.

    Raises:
        GraphError: a tensor of another dtype than ``dtype``, or a value that makes no array.
    """
    wanted = None if dtype is None else as_dtype(dtype)
    if hasattr(value, "_as_tensor"):
        value = value._as_tensor()
    if isinstance(value, Tensor):
        if wanted is not None and value.dtype is not wanted:
            raise GraphError(f"{value.name} has dtype {value.dtype.name}, but {wanted.name} is wanted", "use pslab.cast")
        return value
    if isinstance(value, list | tuple) and any(isinstance(v, Tensor) or hasattr(v, "_as_tensor") for v in value):
        return apply_one("Pack", [convert_to_tensor(v, dtype, like=like) for v in value], name, axis=0)
    if wanted is None and like is not None and not isinstance(value, np.ndarray | np.generic):
        wanted = like.dtype
    array = as_array(value, wanted)
    graph = like.graph if like is not None else get_default_graph()
    return constant_in(graph, array, name)


def as_array(value: Any, dtype: DType | None) -> np.ndarray[Any, Any]:
    """``value`` as an array of its own, of ``dtype``, or of TensorFlow's default type for Python numbers.

    Raises:
        GraphError: it makes no array of numbers, or would lose its fraction.
    """
    python = not isinstance(value, np.ndarray | np.generic)
    try:
        array = np.array(value)
    except ValueError as error:
        raise GraphError(f"cannot make a tensor of {type(value).__name__}: {error}") from None
    if array.dtype.kind in "SUO":
        if (strings := as_strings(value)) is None:
            raise GraphError(f"cannot make a tensor of {type(value).__name__}: {value!r}")
        array = strings
    if dtype is None and python:
        dtype = {"f": as_dtype("float32"), "i": as_dtype("int32")}.get(array.dtype.kind)
        if dtype is not None and dtype.is_integer and array.size and (array.max() > dtype.max or array.min() < dtype.min):
            dtype = as_dtype("int64")
    if dtype is None:
        return array
    if array.dtype.kind != "O" and dtype is string and array.size:
        raise GraphError(f"a value of {array.dtype} is no string: {value!r:.80}", "use pslab.as_string")
    if array.dtype.kind == "f" and dtype.is_integer and array.size:
        raise GraphError(f"a value of {array.dtype} cannot be a {dtype.name} without losing its fraction: {value!r}", "use pslab.cast")
    return array.astype(dtype.as_numpy_dtype, copy=False)


def constant_in(graph: Graph, array: np.ndarray[Any, Any], name: str | None = None) -> Tensor:
    """A constant of ``graph`` that holds ``array``."""
    return graph.create_op("Const", (), {"value": array}, name or "Const").outputs[0]
