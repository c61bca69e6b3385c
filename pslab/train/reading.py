"""How examples come to a tower, in the three ways of TensorFlow 1: fed at each step, read from files by ops of the graph, or preloaded onto the task.

What is fed travels from who drives the step to who computes it; what ops read, or a variable holds, is on the worker already.
"""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from time import monotonic
from typing import TYPE_CHECKING, Any

import numpy as np

from pslab.data.batches import Batches
from pslab.data.batching import batch
from pslab.data.division import Division
from pslab.data.input_producers import string_input_producer
from pslab.data.readers import NumpyReader
from pslab.errors import DeadlineExceededError, OutOfRangeError, UsageError
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.ops.gathering import gather
from pslab.graph.ops.sources import placeholder
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.queues.coordinator import Coordinator
from pslab.queues.queue_runner import QueueRunner
from pslab.runtime.session import Session

if TYPE_CHECKING:
    from pslab.train.job import Job
    from pslab.train.model import Features

Arrays = Sequence[Any]
PATIENCE_S = 0.5
"""Seconds in which threads that fill queues come to their end by themselves; then their session is closed."""
GRACE_S = 10.0
"""Seconds that they have after that."""


class Reading(StrEnum):
    """A way for examples to come in."""

    FEEDING = "feeding"
    FILES = "files"
    PRELOADED = "preloaded"


@dataclass(frozen=True)
class Source:
    """Where a tower's batches come from.

    Attributes:
        x: a batch of examples.
        y: their labels.
        feeds: what a step is fed.
        take: from a worker's batches, the values of ``feeds`` for the next step.
        preloaded: variables that hold all examples and all labels; none where nothing is preloaded.
        runners: what fills the queues that ``x`` and ``y`` are taken from.
    """

    x: Tensor
    y: Tensor
    feeds: Sequence[Tensor]
    take: Callable[[Batches], Arrays]
    preloaded: Sequence[Variable] = ()
    runners: Sequence[QueueRunner] = ()


def check_passes(reading: Reading, division: Division) -> None:
    """Whether it can be known when so many passes are over.

    Raises:
        UsageError: it cannot.
    """
    if reading is Reading.FILES and division.passes is not None:
        raise UsageError(f"files are read again and again, found passes={division.passes}", "reading='feeding' or 'preloaded', or passes=None")


def fed(features: Features) -> Source:
    """Batches that are fed."""
    x = placeholder(np.dtype(features.x_dtype), [None, *features.x_shape], name="x")
    y = placeholder(np.dtype(features.y_dtype), [None, *features.y_shape], name="y")
    return Source(x, y, [x, y], next)


def source_of(job: Job, worker: int) -> Source:
    """The batches of a worker, in the job's way; the ops are built on the current device, the worker's."""
    if job.reading is Reading.FEEDING:
        return fed(job.features)
    with get_default_graph().name_scope(readers_of(job.epoch_id)):
        return _preloaded(job.features) if job.reading is Reading.PRELOADED else _from_file(job, worker)


def _preloaded(features: Features) -> Source:
    """All examples are in variables of the worker; a step is fed which rows to take."""
    rows = placeholder(np.int64, [None], name="rows")
    variables, taken = [], []
    for name, dtype, shape in (("x", features.x_dtype, features.x_shape), ("y", features.y_dtype, features.y_shape)):
        examples = placeholder(np.dtype(dtype), [None, *shape], name=f"all_{name}")
        variable = Variable(examples, trainable=False, collections=[], validate_shape=False, name=f"preloaded_{name}")
        part = gather(variable, rows)
        part.set_shape([None, *shape])
        variables.append(variable)
        taken.append(part)
    return Source(taken[0], taken[1], [rows], lambda batches: (batches.next_rows(),), variables)


def _from_file(job: Job, worker: int) -> Source:
    """Ops read the worker's file again and again, and gather its rows to batches."""
    features, graph, size = job.features, get_default_graph(), job.division.sizes(job.workers)[worker]
    before = len(graph.get_collection(GraphKeys.QUEUE_RUNNERS))
    files = string_input_producer([str(share_path(job, worker))], shuffle=False)
    dtypes = [np.dtype(features.x_dtype), np.dtype(features.y_dtype)]
    reader = NumpyReader(names=["x", "y"], dtypes=dtypes, shapes=[features.x_shape, features.y_shape])
    _, read = reader.read_up_to(files, size)
    x, y = batch(list(read), size, capacity=4 * size, enqueue_many=True)
    return Source(x, y, [], lambda batches: (), (), graph.get_collection(GraphKeys.QUEUE_RUNNERS)[before:])


class Supply:
    """What brings a session the examples of its steps: the threads that fill its queues, which end together.

    Args:
        session: the session.
    """

    def __init__(self, session: Session) -> None:
        self._session = session
        self._coord = Coordinator()
        self._threads: list[threading.Thread] = []

    def begin(self, source: Source, batches: Batches) -> None:
        """Do what is to be done before a source's first batch: preload the examples, begin to fill the queues."""
        for variable, examples in zip(source.preloaded, (batches.x, batches.y), strict=False):
            self._session.run(variable.initializer, {variable.initial_value: examples})
        for runner in source.runners:
            self._threads += runner.create_threads(self._session, coord=self._coord, daemon=True, start=True)

    @contextmanager
    def explained(self) -> Iterator[None]:
        """A block in which a batch is taken: if there is none because a thread has failed, its error is raised in place of the queue's."""
        try:
            yield
        except OutOfRangeError:
            self._coord.raise_requested_exception()
            raise

    def end(self) -> None:
        """Ask the threads to stop, close the session, and wait for them.

        Raises:
            DeadlineExceededError: threads have not ended in time; it names them.
        """
        self._coord.request_stop()
        self._wait(PATIENCE_S)
        self._session.close()
        self._wait(GRACE_S)
        if alive := [thread.name for thread in self._threads if thread.is_alive()]:
            raise DeadlineExceededError(f"expected the threads that fill queues to end in {GRACE_S:g} s, but there are still {', '.join(alive)}")

    def _wait(self, seconds: float) -> None:
        deadline = monotonic() + seconds
        for thread in self._threads:
            thread.join(max(0.0, deadline - monotonic()))


def share_path(job: Job, worker: int) -> Path:
    """The file that a worker reads its examples from, on its own machine."""
    return Path(tempfile.gettempdir()) / f"pslab-{job.epoch_id}-worker-{worker}.npz"


def write_share(job: Job, worker: int, batches: Batches) -> Path:
    """Write a worker's examples to its file."""
    path = share_path(job, worker)
    x, y = batches.share()
    np.savez(path, x=x, y=y)
    return path


def readers_of(epoch_id: str) -> str:
    """How the names of an epoch's readers, queues and preloaded variables begin, on whichever tower they are: a scope of the root."""
    return f"reading_{epoch_id}/"
