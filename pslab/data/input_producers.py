"""The beginning of an input pipeline: queues of names or numbers, epoch after epoch (TensorFlow 1's ``tf.train.string_input_producer`` and its like)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.errors import GraphError, InvalidArgumentError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.collections import GraphKeys
from pslab.graph.default_names import control_dependencies, name_scope
from pslab.graph.dtypes import string
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.ops.arrays import range_
from pslab.graph.ops.gathering import gather
from pslab.graph.ops.random import random_shuffle
from pslab.graph.ops.shapes import shape
from pslab.graph.ops.sources import identity
from pslab.graph.registry import not_differentiable, register
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.queues.queue import FIFOQueue
from pslab.queues.queue_runner import QueueRunner, add_queue_runner


def _not_empty(xp: Any, value: Any) -> Any:
    if not value.size:
        raise InvalidArgumentError("there is no input: an empty list would be gone through for ever", "did a pattern match no file?")
    return value


register("NotEmpty", infer=infer.like_first, kernel=_not_empty, gradient=not_differentiable, host_only=True, view=True)


def limit_epochs(tensor: Any, num_epochs: int | None = None, name: str | None = None) -> Tensor:
    """``tensor``, which can be had ``num_epochs`` times and is followed by an `OutOfRangeError`; for ever if None.

    The times are counted by a local variable ``epochs``, to be initialised.

    Raises:
        GraphError: ``num_epochs`` is no integer, or less than 1.
    """
    value = convert_to_tensor(tensor)
    if num_epochs is None:
        return value
    if not isinstance(num_epochs, int | np.integer) or num_epochs < 1:
        raise GraphError(f"num_epochs must be an integer of at least 1, found {num_epochs!r}")
    with name_scope(name, "limit_epochs", [value]) as scope:
        epochs = Variable(np.int64(0), trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], name="epochs")
        with control_dependencies([epochs.count_up_to(num_epochs)]):
            return identity(value, name=scope)


def input_producer(
    input_tensor: Any,
    element_shape: Any = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue of the rows of a tensor, epoch after epoch, and a queue runner that fills it.

    Args:
        input_tensor: rows along its first axis.
        element_shape: shape of a row, where the tensor's own is not fully known.
        num_epochs: how often the rows come; for ever if None.
        shuffle: whether each epoch has an order of its own.
        seed: of the orders.
        capacity: of the queue.
        shared_name: of the queue.
        summary_name: changes nothing.
        name: of the ops.
        cancel_op: closes the queue when the coordinator stops.

    Raises:
        GraphError: the tensor has no rows, or the shape of a row is not fully known.
        InvalidArgumentError: (when it runs) there are no rows, though they are to come for ever.
    """
    with name_scope(name, "input_producer", [input_tensor]):
        rows = convert_to_tensor(input_tensor, name="input_tensor")
        if rows.shape.ndims == 0:
            raise GraphError(f"an input producer needs rows, found the scalar {rows.name!r}", "a list of one is a vector")
        row_shape = rows.shape[1:].merge_with(element_shape)
        if not row_shape.is_fully_defined():
            raise GraphError(f"the shape of an element must be fully known, found {row_shape}", "give element_shape")
        if shuffle:
            rows = random_shuffle(rows, seed=seed)
        rows = apply_one("NotEmpty", [rows]) if num_epochs is None else limit_epochs(rows, num_epochs)
        queue = FIFOQueue(capacity, [rows.dtype], [row_shape], shared_name=shared_name, name=name or "input_producer")
        add_queue_runner(QueueRunner(queue, [queue.enqueue_many([rows])], cancel_op=cancel_op))
        return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: Operation | None = None,
) -> FIFOQueue:
    """A queue of strings, usually names of files; see `input_producer`.

    Raises:
        GraphError: there is no string.
        InvalidArgumentError: (when it runs) there is none, if that was not known before.
    """
    if isinstance(string_tensor, list | tuple) and not string_tensor:
        raise GraphError("string_input_producer needs strings, found an empty list", "did a pattern match no file?")
    with name_scope(name, "input_producer", [string_tensor]) as scope:
        strings = apply_one("NotEmpty", [convert_to_tensor(string_tensor, string)])
        return input_producer(strings, [], num_epochs, shuffle, seed, capacity, shared_name, name=scope, cancel_op=cancel_op)


def range_input_producer(
    limit: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """A queue of the integers from 0 to ``limit`` - 1; see `input_producer`."""
    with name_scope(name, "input_producer", [limit]) as scope:
        return input_producer(range_(limit), [], num_epochs, shuffle, seed, capacity, shared_name, name=scope)


def slice_input_producer(
    tensor_list: Sequence[Any],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[Tensor]:
    """One row of each tensor, the same of all, another each time; see `input_producer`.

    Raises:
        GraphError: there are no tensors.
    """
    if not tensor_list:
        raise GraphError("slice_input_producer needs at least one tensor")
    with name_scope(name, "input_producer", tensor_list):
        tensors = [convert_to_tensor(t) for t in tensor_list]
        index = range_input_producer(_rows_of(tensors), num_epochs, shuffle, seed, capacity, shared_name).dequeue()
        return [gather(t, index) for t in tensors]


def _rows_of(tensors: Sequence[Tensor]) -> Any:
    """How many rows the tensors have, if that is known of any; else it is found when it runs."""
    known = next((t.shape[0] for t in tensors if t.shape.ndims and t.shape.dim(0) is not None), None)
    return int(known) if known is not None else shape(tensors[0])[0]
