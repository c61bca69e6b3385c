"""Ops where values come from: constants, placeholders; and those that only pass them on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, as_array, constant_in, convert_to_tensor
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import DType, as_dtype
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def _infer_const(op: Operation) -> infer.Inferred:
    value = op.attrs["value"]
    return [(as_dtype(value.dtype), TensorShape(value.shape))]


register("Const", infer=_infer_const, kernel=lambda xp, *, value: xp.asarray(value), gradient=not_differentiable)


def constant(value: Any, dtype: DType | Any = None, shape: Sequence[int] | None = None, name: str | None = "Const") -> Tensor:
    """A constant tensor (TensorFlow's ``tf.constant``).

    Args:
        value: a number, a (nested) list or an array.
        dtype: element type; by default float32 for Python floats, int32 for Python ints, an array's own.
        shape: shape to fill; if it has more elements than ``value``, the last element is repeated.
        name: name of the op.

    Raises:
        ShapeError: ``value`` has more elements than ``shape``, or none where ``shape`` has some.
    """
    array = as_array(value, None if dtype is None else as_dtype(dtype))
    if shape is not None:
        count = TensorShape(shape).num_elements()
        if count is None or array.size > count or array.size == 0 < count:
            raise ShapeError(f"a constant of {array.size} values does not fill shape {tuple(shape)} of {count}")
        flat = array.ravel()
        array = np.concatenate([flat, np.repeat(flat[-1:], count - flat.size)]).reshape(tuple(shape))
    return constant_in(get_default_graph(), array, name)


def _unfed(state: Any, name: str, xp: Any, *, dtype: str, shape: tuple[int | None, ...] | None) -> Any:
    wanted = TensorShape(shape)
    raise InvalidArgumentError(f"placeholder {name!r} ({dtype}, shape {wanted}) was not fed", f"run(..., feed_dict={{{name}: value}})")


register(
    "Placeholder",
    infer=lambda op: [(as_dtype(op.attrs["dtype"]), TensorShape(op.attrs["shape"]))],
    kernel=_unfed,
    gradient=not_differentiable,
    stateful=True,  # so that it may refuse: a value must be fed in its place
)


def placeholder(dtype: DType | Any, shape: Any = None, name: str | None = None) -> Tensor:
    """A tensor whose value is fed with each `Session.run` (TensorFlow's ``tf.placeholder``).

    Args:
        dtype: element type.
        shape: static shape; None where the rank, or a dimension, is not known before the value is fed.
        name: name of the op.
    """
    return apply_one("Placeholder", (), name, dtype=as_dtype(dtype).name, shape=TensorShape(shape).dims)


def _default(xp: Any, x: Any, *, shape: tuple[int | None, ...] | None) -> Any:
    return x


register(
    "PlaceholderWithDefault",
    infer=lambda op: [(op.inputs[0].dtype, TensorShape(op.attrs["shape"]))],
    kernel=_default,
    gradient=lambda op, g: [g],
    view=True,
)


def placeholder_with_default(input: Any, shape: Any, name: str | None = None) -> Tensor:
    """A tensor that may be fed, and has the value of ``input`` where it is not.

    Args:
        input: the default, a tensor or what makes one.
        shape: static shape of what may be fed; None for what is left open.
        name: name of the op.

    Raises:
        ShapeError: ``input`` does not fit ``shape``.
    """
    x = convert_to_tensor(input)
    wanted = TensorShape(shape)
    if not x.shape.is_compatible_with(wanted):
        raise ShapeError(f"the default has shape {x.shape}, which does not fit {wanted}")
    return apply_one("PlaceholderWithDefault", [x], name, shape=wanted.dims)


register("NoOp", infer=lambda op: [], kernel=lambda xp: None, gradient=not_differentiable)


def no_op(name: str | None = None) -> Operation:
    """An op that does nothing but wait for its control inputs."""
    return get_default_graph().create_op("NoOp", (), {}, name)


def group(*inputs: Any, name: str | None = None) -> Operation:
    """An op that is done when all of ``inputs`` (ops, tensors, variables or lists of them) are."""
    flat: list[Any] = []
    for item in inputs:
        flat.extend(item if isinstance(item, list | tuple) else [item])
    graph = get_default_graph()
    if flat:
        graph = getattr(flat[0], "graph", graph)
    with graph.control_dependencies(flat):
        return graph.create_op("NoOp", (), {}, name or "group_deps")


register("Identity", infer=infer.like_first, kernel=lambda xp, x: x, gradient=lambda op, g: [g], view=True)


def identity(input: Any, name: str | None = None) -> Tensor:
    """A tensor with the value of ``input``; a place to hang a name, a device or control dependencies on."""
    if hasattr(input, "read_value"):
        return input.read_value(name)  # type: ignore[no-any-return]
    return apply_one("Identity", [input], name)


register("StopGradient", infer=infer.like_first, kernel=lambda xp, x: x, gradient=not_differentiable, view=True)


def stop_gradient(input: Any, name: str | None = None) -> Tensor:
    """A tensor with the value of ``input`` that gradients do not flow through."""
    return apply_one("StopGradient", [input], name)


def tuple_(tensors: Sequence[Any], name: str | None = None) -> list[Tensor]:
    """The same tensors, each available only when all are (TensorFlow's ``tf.tuple``)."""
    values = [convert_to_tensor(t) for t in tensors]
    graph = values[0].graph
    with graph.name_scope(name or "tuple"), graph.control_dependencies(values):
        return [identity(t) for t in values]
