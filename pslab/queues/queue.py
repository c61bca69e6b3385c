"""Queues (TensorFlow 1's ``tf.FIFOQueue`` and its like)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, UsageError
from pslab.graph.build import apply_op, convert_to_tensor
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import as_dtype, int32, int64
from pslab.graph.operation import Operation
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


class QueueBase:
    """A queue on the task that was the current device when it was made. Its elements are tuples of tensors.

    Queues with one ``shared_name`` on one task are one queue, for all graphs, sessions and processes that use it.

    Attributes:
        name: its name in the graph.
        dtypes: of the components of an element.
        shapes: static shapes of the components.
        names: of the components; elements are dicts then, as in ``enqueue({"image": …})``.
        queue_ref: the op that stands for the queue in the graph.
        attrs: what every op of the queue is told of it.
    """

    _kind = "fifo"
    _pads = False

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: Any,
        names: Sequence[str] | str | None,
        shared_name: str | None,
        name: str,
        min_after_dequeue: int = 0,
        seed: int | None = None,
    ) -> None:
        self.dtypes = [as_dtype(d) for d in (dtypes if isinstance(dtypes, list | tuple) else [dtypes])]
        self.shapes = _shapes(shapes, len(self.dtypes))
        self.names = [names] if isinstance(names, str) else list(names) if names is not None else None
        if self.names is not None and len(self.names) != len(self.dtypes):
            raise UsageError(f"a queue of {len(self.dtypes)} components cannot have {len(self.names)} names")
        if not self.dtypes:
            raise UsageError("the elements of a queue need components: expected at least one dtype, found none")
        if not isinstance(capacity, int | np.integer) or capacity == 0:
            raise UsageError(f"the capacity of a queue is an integer other than 0, found {capacity!r}", "a negative capacity is none")
        if not isinstance(shared_name, str | None):
            raise UsageError(f"the shared_name of a queue is a string, found {shared_name!r}")
        with get_default_graph().control_dependencies(None):
            self.queue_ref = apply_op("NoOp", [], name)
        self.name = self.queue_ref.name
        self._short_name = self.name.rpartition("/")[2]  # of ops, which have a scope of their own
        self.attrs: dict[str, Any] = {
            "queue": shared_name or self.name,
            "kind": self._kind,
            "capacity": capacity,
            "min_after_dequeue": min_after_dequeue,
            "seed": seed,
            "dtypes": tuple(d.name for d in self.dtypes),
            "shapes": None if self.shapes is None else tuple(s.dims for s in self.shapes),
            "pads": self._pads,
        }

    @classmethod
    def of_ops(cls, queue_ref: Operation, op: Operation, names: Sequence[str] | None) -> QueueBase:
        """The queue that ``op``, of a graph that was read from a file, works on.

        Raises:
            InvalidArgumentError: ``op`` works on no queue.
        """
        if not op.type.startswith("Queue"):
            raise InvalidArgumentError(f"{op.name!r} ({op.type}) works on no queue")
        self = cls.__new__(cls)
        self.attrs = dict(op.attrs)
        self.queue_ref, self.name = queue_ref, queue_ref.name
        self._short_name = self.name.rpartition("/")[2]
        self.names = None if names is None else list(names)
        self.dtypes = [as_dtype(d) for d in self.attrs["dtypes"]]
        self.shapes = None if self.attrs["shapes"] is None else [TensorShape(s) for s in self.attrs["shapes"]]
        return self

    @staticmethod
    def from_list(index: Any, queues: Sequence[QueueBase]) -> QueueBase:
        """The queue at a position, known while the graph is built, of a list."""
        return queues[int(index)]

    def enqueue(self, vals: Any, name: str | None = None) -> Operation:
        """An op that puts one element in, once there is room.

        Raises:
            ShapeError: the values do not fit the queue's components.
            CancelledError: (when it runs) the queue is closed.
        """
        return self._op("QueueEnqueue", self._values(vals), name or f"{self._short_name}_enqueue")

    def enqueue_many(self, vals: Any, name: str | None = None) -> Operation:
        """An op that puts in as many elements as the values have along their first axis, once there is room for them."""
        return self._op("QueueEnqueueMany", self._values(vals), name or f"{self._short_name}_EnqueueMany")

    def dequeue(self, name: str | None = None) -> Any:
        """Tensors of one element, taken once there is one.

        Raises:
            OutOfRangeError: (when it runs) the queue is closed and empty.
        """
        return self._element(self._op("QueueDequeue", [], name or f"{self._short_name}_Dequeue"))

    def dequeue_many(self, n: Any, name: str | None = None) -> Any:
        """Tensors of ``n`` elements, along a new first axis, taken once there are as many.

        Raises:
            ShapeError: the queue was not told its shapes.
            OutOfRangeError: (when it runs) the queue is closed and has fewer.
        """
        return self._element(self._op("QueueDequeueMany", [convert_to_tensor(n, int32)], name or f"{self._short_name}_DequeueMany"))

    def dequeue_up_to(self, n: Any, name: str | None = None) -> Any:
        """As `dequeue_many`, but of what is left in a closed queue at most ``n`` elements, at least one."""
        return self._element(self._op("QueueDequeueUpTo", [convert_to_tensor(n, int32)], name or f"{self._short_name}_DequeueUpTo"))

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """An op that closes the queue: nothing more goes in, what is in it can be taken out. Who waits to put something in is cancelled in any case."""
        return self._op("QueueClose", [], name or f"{self._short_name}_Close")

    def reopen(self, name: str | None = None) -> Operation:
        """An op that empties the queue and opens it, if it was closed: for the next program on the same servers. TensorFlow has no such op."""
        return self._op("QueueReopen", [], name or f"{self._short_name}_Reopen")

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements, an int32 scalar."""
        return self._op("QueueSize", [], name or f"{self._short_name}_Size").outputs[0]

    def is_closed(self, name: str | None = None) -> Tensor:
        """Whether it is closed, a bool scalar."""
        return self._op("QueueIsClosed", [], name or f"{self._short_name}_Is_Closed").outputs[0]

    def _op(self, type: str, inputs: list[Tensor], name: str) -> Operation:
        graph = self.queue_ref.graph
        with graph.as_default(), graph.colocate_with(self.queue_ref):
            return apply_op(type, inputs, name, **self.attrs)

    def _values(self, vals: Any) -> list[Tensor]:
        if self.names is not None:
            if not isinstance(vals, Mapping) or set(vals) != set(self.names):
                raise UsageError(f"the queue's elements are dicts of {', '.join(self.names)}, found {vals!r:.80}")
            vals = [vals[n] for n in self.names]
        elif isinstance(vals, Mapping):
            raise UsageError("the queue's components have no names, so its elements are no dicts")
        elif not isinstance(vals, list | tuple):
            vals = [vals]
        elif len(vals) != len(self.dtypes) and len(self.dtypes) == 1:
            vals = [vals]  # one component, given as a list of numbers
        if len(vals) != len(self.dtypes):
            raise UsageError(f"the queue's elements have {len(self.dtypes)} components, found {len(vals)}")
        return [convert_to_tensor(v, d) for v, d in zip(vals, self.dtypes, strict=True)]

    def _element(self, op: Operation) -> Any:
        tensors = list(op.outputs)
        if self.names is not None:
            return dict(zip(self.names, tensors, strict=True))
        return tensors if len(tensors) > 1 else tensors[0]


class FIFOQueue(QueueBase):
    """A queue that gives its elements in the order in which they came (``tf.FIFOQueue``).

    Args:
        capacity: how many elements it holds; negative for any number.
        dtypes: of the components.
        shapes: static shapes of the components; needed for `dequeue_many`.
        names: of the components.
        shared_name: what the queue is known by on its task; by default the name of its op.
        name: of the op.
    """

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None, name: str = "fifo_queue"
    ) -> None:
        super().__init__(capacity, dtypes, shapes, names, shared_name, name)


class RandomShuffleQueue(QueueBase):
    """A queue that gives its elements in random order (``tf.RandomShuffleQueue``).

    Args:
        capacity: how many elements it holds.
        min_after_dequeue: how many stay in it while it is open, so that there is a choice; fewer than the capacity.
        dtypes: of the components.
        shapes: static shapes of the components.
        names: of the components.
        seed: of the order.
        shared_name: as for `FIFOQueue`.
        name: of the op.

    Raises:
        UsageError: all that it holds would have to stay in it.
    """

    _kind = "random"

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: Any,
        shapes: Any = None,
        names: Any = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        if 0 <= capacity <= min_after_dequeue:
            raise UsageError(
                f"the capacity of a queue must be greater than min_after_dequeue, {min_after_dequeue}; found {capacity}", "a larger capacity"
            )
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, min_after_dequeue, seed)


class PaddingFIFOQueue(QueueBase):
    """A `FIFOQueue` whose `dequeue_many` fills elements of different shapes up with zeros (``tf.PaddingFIFOQueue``). ``shapes`` are needed."""

    _pads = True

    def __init__(
        self, capacity: int, dtypes: Any, shapes: Any, names: Any = None, shared_name: str | None = None, name: str = "padding_fifo_queue"
    ) -> None:
        if shapes is None:
            raise UsageError(
                "a PaddingFIFOQueue needs the shapes of its components, found none", "None stands for an axis that is filled up: [[None]]"
            )
        super().__init__(capacity, dtypes, shapes, names, shared_name, name)


class PriorityQueue(QueueBase):
    """A queue that gives the element with the least priority first, an int64 scalar which precedes the components (``tf.PriorityQueue``)."""

    _kind = "priority"

    def __init__(
        self, capacity: int, types: Any, shapes: Any = None, names: Any = None, shared_name: str | None = None, name: str = "priority_queue"
    ) -> None:
        kinds = list(types) if isinstance(types, list | tuple) else [types]
        given = None if shapes is None else [(), *(shapes if isinstance(shapes, list | tuple) else [shapes])]
        super().__init__(capacity, [int64, *kinds], given, names, shared_name, name)


def _shapes(shapes: Any, count: int) -> list[TensorShape] | None:
    if shapes is None:
        return None
    if isinstance(shapes, TensorShape) or not shapes or not isinstance(shapes[0], list | tuple | TensorShape):
        shapes = [shapes]
    if len(shapes) != count:
        raise UsageError(f"a queue of {count} components needs as many shapes, found {len(shapes)}")
    return [TensorShape(s) for s in shapes]
