"""The end of an input pipeline: a queue that gathers single examples to batches (TensorFlow 1's ``tf.train.batch`` and its like).

A batch is taken from the queue; queue runners put in what the tensors give, each time they are run. ``tensors`` is a list, a dict or a single tensor, and a
batch comes in the same form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pslab.errors import GraphError
from pslab.graph.build import convert_to_tensor
from pslab.graph.default_names import name_scope
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.queues.queue import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from pslab.queues.queue_runner import QueueRunner, add_queue_runner

MakeQueue = Callable[[list[Any], list[TensorShape]], QueueBase]
"""From dtypes and shapes of an example's components to a queue."""


def batch(
    tensors: Any,
    batch_size: Any,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of the examples as they come.

    Args:
        tensors: of an example.
        batch_size: examples per batch.
        num_threads: how many put examples in at once. With more than one, their order is not sure.
        capacity: of the queue.
        enqueue_many: whether the tensors hold many examples along their first axis, not one.
        shapes: of an example; those of the tensors by default.
        dynamic_pad: whether examples of different shapes are filled up with zeros; their ranks must be known.
        allow_smaller_final_batch: whether what is left at the end comes as a smaller batch.
        shared_name: of the queue.
        name: of the ops.

    Raises:
        GraphError: a shape is not known as far as it must be.
        OutOfRangeError: (when it runs) the input is at its end, and there are too few examples for a batch.
    """
    with name_scope(name, "batch", _components(tensors)) as scope:
        queue = _in_order(capacity, dynamic_pad, shared_name)
        return _batches([tensors], num_threads, queue, batch_size, enqueue_many, shapes, allow_smaller_final_batch, scope)


def batch_join(
    tensors_list: Sequence[Any],
    batch_size: Any,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Any = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `batch`, from several sources, with a thread each: ``tensors_list`` has the tensors of each, all alike."""
    with name_scope(name, "batch_join", _all_components(tensors_list)) as scope:
        queue = _in_order(capacity, dynamic_pad, shared_name)
        return _batches(tensors_list, 1, queue, batch_size, enqueue_many, shapes, allow_smaller_final_batch, scope)


def shuffle_batch(
    tensors: Any,
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """Batches of examples that are drawn from those in the queue.

    Args:
        tensors: of an example.
        batch_size: examples per batch.
        capacity: of the queue.
        min_after_dequeue: how many examples stay in the queue, so that there is a choice: the more, the better they are shuffled.
        num_threads: how many put examples in at once.
        seed: of the drawing.
        enqueue_many: whether the tensors hold many examples along their first axis, not one.
        shapes: of an example; those of the tensors by default.
        allow_smaller_final_batch: whether what is left at the end comes as a smaller batch.
        shared_name: of the queue.
        name: of the ops.

    Raises:
        GraphError: a shape is not fully known.
        OutOfRangeError: (when it runs) the input is at its end, and there are too few examples for a batch.
    """
    with name_scope(name, "shuffle_batch", _components(tensors)) as scope:
        queue = _shuffled(capacity, min_after_dequeue, seed, shared_name)
        return _batches([tensors], num_threads, queue, batch_size, enqueue_many, shapes, allow_smaller_final_batch, scope)


def shuffle_batch_join(
    tensors_list: Sequence[Any],
    batch_size: Any,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Any = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> Any:
    """As `shuffle_batch`, from several sources, with a thread each: ``tensors_list`` has the tensors of each, all alike."""
    with name_scope(name, "shuffle_batch_join", _all_components(tensors_list)) as scope:
        queue = _shuffled(capacity, min_after_dequeue, seed, shared_name)
        return _batches(tensors_list, 1, queue, batch_size, enqueue_many, shapes, allow_smaller_final_batch, scope)


def _in_order(capacity: int, dynamic_pad: bool, shared_name: str | None) -> MakeQueue:
    def make(dtypes: list[Any], shapes: list[TensorShape]) -> QueueBase:
        if dynamic_pad:
            return PaddingFIFOQueue(capacity, dtypes, _known(shapes, "rank", lambda s: s.ndims is not None), shared_name=shared_name)
        return FIFOQueue(capacity, dtypes, _known(shapes, "shape", TensorShape.is_fully_defined), shared_name=shared_name)

    return make


def _shuffled(capacity: int, min_after_dequeue: int, seed: int | None, shared_name: str | None) -> MakeQueue:
    def make(dtypes: list[Any], shapes: list[TensorShape]) -> QueueBase:
        known = _known(shapes, "shape", TensorShape.is_fully_defined)
        return RandomShuffleQueue(capacity, min_after_dequeue, dtypes, known, seed=seed, shared_name=shared_name)

    return make


def _known(shapes: list[TensorShape], what: str, holds: Callable[[TensorShape], bool]) -> list[TensorShape]:
    for shape in shapes:
        if not holds(shape):
            raise GraphError(f"the {what} of an example must be known, found {', '.join(map(str, shapes))}", "set_shape tells it; or give shapes")
    return shapes


def _batches(
    sources: Sequence[Any],
    threads: int,
    make_queue: MakeQueue,
    batch_size: Any,
    enqueue_many: bool,
    shapes: Any,
    smaller: bool,
    name: str,
) -> Any:
    if not _all_components(sources):
        raise GraphError("there are no tensors to batch: expected at least one component of an example")
    examples = [[convert_to_tensor(t) for t in _components(source)] for source in sources]
    dtypes = [t.dtype for t in examples[0]]
    if any([t.dtype for t in example] != dtypes for example in examples):
        raise GraphError(f"the sources must have the same dtypes, found {[[t.dtype.name for t in example] for example in examples]}")
    if shapes is None:
        shapes = [_common(tensors, enqueue_many) for tensors in zip(*examples, strict=True)]
    queue = make_queue(dtypes, [TensorShape(s) for s in shapes])
    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    add_queue_runner(QueueRunner(queue, [enqueue(example) for example in examples] * threads))
    taken = queue.dequeue_up_to(batch_size, name) if smaller else queue.dequeue_many(batch_size, name)
    return _like(sources[0], taken if isinstance(taken, list) else [taken])


def _common(tensors: Sequence[Tensor], enqueue_many: bool) -> TensorShape:
    """What is known of the shape of an example's component, whichever source it comes from: where they differ, nothing."""
    shapes = [t.shape[1:] if enqueue_many else t.shape for t in tensors]
    ranks = {s.ndims for s in shapes}
    if None in ranks or len(ranks) > 1:
        return TensorShape(None)
    return TensorShape(axis[0] if len(set(axis)) == 1 else None for axis in zip(*shapes, strict=True))


def _components(tensors: Any) -> list[Any]:
    """The tensors of an example, in order."""
    if isinstance(tensors, Mapping):
        return [tensors[key] for key in sorted(tensors)]
    return list(tensors) if isinstance(tensors, list | tuple) else [tensors]


def _all_components(sources: Sequence[Any]) -> list[Any]:
    if not sources:
        raise GraphError("there are no tensors to batch: expected a list of at least one source")
    return [t for source in sources for t in _components(source)]


def _like(tensors: Any, components: list[Tensor]) -> Any:
    """A batch's components in the form in which an example's were given."""
    if isinstance(tensors, Mapping):
        return dict(zip(sorted(tensors), components, strict=True))
    return components if isinstance(tensors, list | tuple) else components[0]
