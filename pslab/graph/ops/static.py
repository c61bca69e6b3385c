"""What can be known of a tensor's value before the graph runs, and shapes given as values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

_MOST = 1 << 12
"""Elements of a packed value that are worth knowing: it is a shape or a slice's bounds, and a graph from a stranger must not make us reserve more."""
_MOST_AXES = 64


def constant_value(tensor: Tensor) -> np.ndarray[Any, Any] | None:
    """The value of ``tensor`` if the graph alone tells it, else None."""
    op = tensor.op
    if op.type == "Const":
        return op.attrs["value"]  # type: ignore[no-any-return]
    if op.type in ("Identity", "Cast"):
        value = constant_value(op.inputs[0])
        return None if value is None else value.astype(tensor.dtype.as_numpy_dtype)
    if op.type == "Pack":
        elements = tensor.shape.num_elements()
        if elements is None or elements > _MOST:
            return None
        if elements == 0:
            return np.zeros(tensor.shape.as_tuple(), tensor.dtype.as_numpy_dtype)
        parts = [constant_value(t) for t in op.inputs]
        return None if any(p is None for p in parts) else np.stack(parts, axis=op.attrs["axis"])  # type: ignore[arg-type]
    return None


def constant_shape(tensor: Tensor) -> TensorShape:
    """What is known of the shape that ``tensor``, a vector of integers, will hold."""
    rank = tensor.shape.dim(0)
    if rank is None or rank > _MOST_AXES:
        return TensorShape(None)
    return TensorShape(_known_dimensions(tensor) if rank else ())


def _known_dimensions(tensor: Tensor) -> Sequence[int | None] | None:
    """The values of a vector that is not empty, None for those that are not known."""
    op = tensor.op
    value = constant_value(tensor)
    if value is not None:
        return [int(d) for d in value]
    if op.type == "Shape":
        return op.inputs[0].shape.dims
    if op.type == "Pack":
        parts = [constant_value(t) for t in op.inputs]
        return [None if p is None else int(p) for p in parts]
    if op.type == "ConcatV2":
        known = [constant_shape(t).dims for t in op.inputs]
        return None if any(dims is None for dims in known) else [d for dims in known for d in dims or ()]
    return [None] * int(tensor.shape[0])


def shape_argument(shape: Any) -> tuple[list[Tensor], tuple[int, ...] | None]:
    """A shape that a program gives, as ``(inputs, attribute)`` of an op: an attribute where it is known now, else a tensor to be computed.

    Raises:
        ShapeError: it is no vector of integers.
    """
    if isinstance(shape, TensorShape):
        return [], shape.as_tuple()
    tensor = convert_to_tensor(np.zeros(0, np.int32) if isinstance(shape, list | tuple) and not shape else shape)
    if tensor.shape.ndims == 0:
        value = constant_value(tensor)
        if value is not None:  # TensorFlow takes a lone dimension too
            return [], (int(value),)
    if not tensor.dtype.is_integer or not tensor.shape.is_compatible_with([None]):
        raise ShapeError(f"a shape is a list of integers, not a {tensor.dtype.name} of shape {tensor.shape}: {shape!r}")
    value = constant_value(tensor)
    return ([tensor], None) if value is None else ([], tuple(int(d) for d in value))


def inferred_shape(attribute: Any, inputs: tuple[Tensor, ...]) -> TensorShape:
    """The static shape that `shape_argument` stands for, from the op that got it."""
    return TensorShape(attribute) if attribute is not None else constant_shape(inputs[-1])


def runtime_shape(attribute: Any, inputs: tuple[Any, ...]) -> tuple[int, ...]:
    """The shape that `shape_argument` stands for, when the op runs."""
    return attribute if attribute is not None else tuple(inputs[-1].tolist())


def is_symbolic(value: Any) -> bool:
    """Whether ``value`` is a tensor or a variable."""
    return isinstance(value, Tensor) or hasattr(value, "_as_tensor")


def integer(value: Any, what: str) -> int:
    """``value`` as an int: an axis or a count, which must be known when the graph is built.

    Raises:
        ShapeError: it is not known, or is no integer.
    """
    if is_symbolic(value):
        value = constant_value(convert_to_tensor(value))
    array = np.asarray(value)
    if array.dtype.kind not in "iu" or array.size != 1:
        raise ShapeError(f"{what} must be an integer that is known when the graph is built, not {value!r}")
    return int(array.reshape(()))
