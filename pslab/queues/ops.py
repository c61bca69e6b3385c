"""Queues as stateful ops: resources of the task that an op is placed on, shared by all who use the same key there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.dtypes import as_dtype, bool_, int32
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.static import constant_value
from pslab.graph.registry import NOT_YET, not_differentiable, register
from pslab.graph.shape import TensorShape, scalar
from pslab.queues.rules import ByPriority, Element, FirstInFirstOut, Order, Queue, Shuffled

QUEUES = "queue/"
"""Beginning of the resource key of every queue; its shared name follows."""


def _orders(kind: str, seed: int | None) -> Order:
    if kind == "random":
        return Shuffled(seed)
    return ByPriority() if kind == "priority" else FirstInFirstOut()


def queue_of(state: Any, *, queue: str, kind: str, capacity: int, min_after_dequeue: int, seed: int | None, dtypes: Any, shapes: Any) -> Queue:
    """The queue that `QueueBase.attrs` tell of. It is made by the first op that touches it. Call it under the monitor."""
    sizes = None if shapes is None else tuple(None if s is None else tuple(s) for s in shapes)
    described = (kind, tuple(dtypes), sizes, capacity, min_after_dequeue)
    made_as, found = state.resource(QUEUES + queue, lambda: (described, Queue(queue, _orders(kind, seed), capacity, min_after_dequeue)))
    if made_as != described:
        raise InvalidArgumentError(
            f"shared queue {queue!r} is {_described(*made_as)}; here it is to be {_described(*described)}", "the same, or another shared_name"
        )
    return found  # type: ignore[no-any-return]


def _described(kind: str, dtypes: tuple[str, ...], shapes: Any, capacity: int, least: int) -> str:
    components = dtypes if shapes is None else [f"{d} {TensorShape(s)}" for d, s in zip(dtypes, shapes, strict=True)]
    return f"a {kind} queue of {', '.join(components)} with capacity {capacity}" + (f" and min_after_dequeue {least}" if least else "")


def _checked(values: tuple[Any, ...], shapes: Any, batched: bool) -> None:
    """The values at run time fit the queue's shapes, and each other's first axis."""
    if batched and any(np.ndim(v) == 0 for v in values):
        raise InvalidArgumentError("many elements are put in along a first axis, but a value is a scalar", "enqueue puts in one")
    for value, shape in zip(values, shapes or [None] * len(values), strict=True):
        found = np.shape(value)[1:] if batched else np.shape(value)
        if shape is not None and not TensorShape(shape).is_compatible_with(found):
            raise InvalidArgumentError(f"the queue takes elements of shape {TensorShape(shape)}, found {found}")
    if batched and len({np.shape(v)[0] for v in values}) != 1:
        raise InvalidArgumentError(f"the components of a batch have {', '.join(str(np.shape(v)[0]) for v in values)} elements: expected as many each")


def _stacked(elements: list[Element], kept: int, pads: bool, dtypes: Any, shapes: Any) -> tuple[Any, ...] | Any:
    """The components of many elements, each along a new first axis."""
    if not elements:
        columns = [np.zeros((0, *(d or 0 for d in TensorShape(s))), as_dtype(d).as_numpy_dtype) for s, d in zip(shapes, dtypes, strict=True)]
    else:
        columns = [_padded(parts) if pads else np.stack(parts) for parts in zip(*elements, strict=True)]
    return tuple(columns) if kept > 1 else columns[0]


def _padded(parts: tuple[np.ndarray[Any, Any], ...]) -> Any:
    """Parts of different shapes, each filled up with zeros, or empty strings, to the greatest along every axis."""
    shape = tuple(max(axes) for axes in zip(*(np.shape(p) for p in parts), strict=True))
    dtype = np.asarray(parts[0]).dtype
    padded = np.full((len(parts), *shape), b"" if dtype.hasobject else 0, dtype)
    for index, part in enumerate(parts):
        padded[index, ...][tuple(slice(0, n) for n in part.shape)] = part
    return padded


def _enqueue(state: Any, name: str, xp: Any, *values: Any, pads: bool, **queue: Any) -> Any:
    _checked(values, queue["shapes"], batched=False)
    return queue_of(state, **queue).enqueue_many([tuple(np.array(v) for v in values)])


def _enqueue_many(state: Any, name: str, xp: Any, *values: Any, pads: bool, **queue: Any) -> Any:
    _checked(values, queue["shapes"], batched=True)
    rows = [[v[i, ...] for i in range(len(v))] for v in map(np.array, values)]  # with the dots an element stays an array, whatever its dtype
    return queue_of(state, **queue).enqueue_many(list(zip(*rows, strict=True)))


def _dequeue(state: Any, name: str, xp: Any, *, pads: bool, **queue: Any) -> Any:
    taken = queue_of(state, **queue).dequeue_many(1)
    if taken is NOT_YET:
        return taken
    return taken[0] if len(taken[0]) > 1 else taken[0][0]


def _dequeue_many(state: Any, name: str, xp: Any, count: Any, *, pads: bool, **queue: Any) -> Any:
    return _many(queue_of(state, **queue).dequeue_many, count, pads, queue)


def _dequeue_up_to(state: Any, name: str, xp: Any, count: Any, *, pads: bool, **queue: Any) -> Any:
    return _many(queue_of(state, **queue).dequeue_up_to, count, pads, queue)


def _many(take: Callable[[int], Any], count: Any, pads: bool, queue: dict[str, Any]) -> Any:
    if int(count) < 0:
        raise InvalidArgumentError(f"cannot take {int(count)} elements")
    taken = take(int(count))
    return taken if taken is NOT_YET else _stacked(taken, len(queue["dtypes"]), pads, queue["dtypes"], queue["shapes"])


def _close(state: Any, name: str, xp: Any, *, pads: bool, **queue: Any) -> None:
    queue_of(state, **queue).close()


def _reopen(state: Any, name: str, xp: Any, *, pads: bool, **queue: Any) -> None:
    queue_of(state, **queue).reopen()


def _size(state: Any, name: str, xp: Any, *, pads: bool, **queue: Any) -> Any:
    return np.asarray(queue_of(state, **queue).size(), np.int32)


def _is_closed(state: Any, name: str, xp: Any, *, pads: bool, **queue: Any) -> Any:
    return np.asarray(queue_of(state, **queue).closed)


# Shape rules


def _components(op: Operation) -> list[tuple[Any, TensorShape]]:
    dtypes = [as_dtype(d) for d in op.attrs["dtypes"]]
    shapes = op.attrs["shapes"]
    return [(d, TensorShape(None if shapes is None else shapes[i])) for i, d in enumerate(dtypes)]


def _infer_enqueue(op: Operation) -> infer.Inferred:
    return _fitting(op, batched=False)


def _infer_enqueue_many(op: Operation) -> infer.Inferred:
    return _fitting(op, batched=True)


def _fitting(op: Operation, batched: bool) -> infer.Inferred:
    components = _components(op)
    if len(components) != len(op.inputs):
        raise ShapeError(f"the queue has {len(components)} components, found {len(op.inputs)} values")
    for value, (dtype, shape) in zip(op.inputs, components, strict=True):
        if value.dtype is not dtype:
            raise ShapeError(f"the queue takes {dtype.name}, but {value.name} is {value.dtype.name}")
        if batched and value.shape.ndims == 0:
            raise ShapeError(f"many elements are put in along a first axis, but {value.name} is a scalar")
        found = value.shape[1:] if batched and value.shape.ndims is not None else TensorShape(None) if batched else value.shape
        if not shape.is_compatible_with(found):
            raise ShapeError(f"the queue takes elements of shape {shape}, but {value.name} gives {found}")
    return []


def _infer_dequeue(op: Operation) -> infer.Inferred:
    return _components(op)


def _infer_dequeue_many(op: Operation) -> infer.Inferred:
    return _batches(op, constant_value(op.inputs[0]))


def _infer_dequeue_up_to(op: Operation) -> infer.Inferred:
    return _batches(op, None)


def _batches(op: Operation, count: Any) -> infer.Inferred:
    if op.attrs["shapes"] is None:
        raise ShapeError("many elements at once are to be had only from a queue that was told their shapes")
    length = None if count is None else int(count)
    return [(dtype, TensorShape([length, *shape])) for dtype, shape in _components(op)]


def _register(type: str, shape_rule: Callable[[Operation], infer.Inferred], kernel: Callable[..., Any], **fields: Any) -> None:
    register(type, infer=shape_rule, kernel=kernel, gradient=not_differentiable, stateful=True, host_only=True, **fields)


_register("QueueEnqueue", _infer_enqueue, _enqueue, blocking=True)
_register("QueueEnqueueMany", _infer_enqueue_many, _enqueue_many, blocking=True)
_register("QueueDequeue", _infer_dequeue, _dequeue, blocking=True)
_register("QueueDequeueMany", _infer_dequeue_many, _dequeue_many, blocking=True)
_register("QueueDequeueUpTo", _infer_dequeue_up_to, _dequeue_up_to, blocking=True)
_register("QueueClose", lambda op: [], _close, signals=True)
_register("QueueReopen", lambda op: [], _reopen, signals=True)
_register("QueueSize", lambda op: [(int32, scalar())], _size)
_register("QueueIsClosed", lambda op: [(bool_, scalar())], _is_closed)
