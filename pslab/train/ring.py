"""All-reduce in a ring: the exchange itself, and the graph of a worker that trains by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pslab.errors import UsageError
from pslab.graph.dtypes import DType, int64
from pslab.graph.operation import Operation
from pslab.graph.ops.joining import concat, split
from pslab.graph.ops.math import add, divide, maximum
from pslab.graph.ops.shapes import reshape
from pslab.graph.ops.sources import identity, placeholder
from pslab.graph.tensor import Tensor
from pslab.sync.claim_ops import claim, try_claim
from pslab.sync.mailbox_ops import mailbox_put, mailbox_take
from pslab.train.epoch_names import resources_of
from pslab.train.job import Job
from pslab.train.leaving import Leaving, leaving
from pslab.train.replica import PS_0, Replica, worker_device
from pslab.train.resident import Resident, build_copy, reside


class Hop(NamedTuple):
    """One exchange of a ring, as worker 0 of n takes part in it; worker i sends and receives the chunks i further on, modulo n.

    Attributes:
        sends: the chunk that goes to the right neighbour.
        receives: the chunk that comes from the left one.
        adds: whether it is added to one's own, rather than put in its place.
    """

    sends: int
    receives: int
    adds: bool


def hops(workers: int) -> list[Hop]:
    """The exchanges of an all-reduce: n−1 in which sums grow (reduce-scatter), n−1 in which they go round (all-gather).

    After the first n−1, worker i has the whole sum of chunk i+1.
    """
    rounds = range(workers - 1)
    return [*(Hop(-k, -k - 1, True) for k in rounds), *(Hop(1 - k, -k, False) for k in rounds)]


def chunk_sizes(elements: int, workers: int) -> list[int]:
    """``elements`` in as many chunks as there are workers, of sizes that differ by one at most."""
    return [elements // workers + (chunk < elements % workers) for chunk in range(workers)]


class Buffers:
    """Tensors as flat buffers, one per dtype, each cut into a chunk per worker.

    Args:
        tensors: of fully known shapes.
        workers: number of chunks.

    Raises:
        UsageError: a shape is not known.
    """

    def __init__(self, tensors: Sequence[Tensor], workers: int) -> None:
        self._tensors = tensors
        self._dtypes: list[DType] = list(dict.fromkeys(t.dtype for t in tensors))
        self.chunks: list[list[Tensor]] = [[] for _ in range(workers)]
        for dtype in self._dtypes:
            flat = concat([reshape(t, [-1]) for t in self._of(dtype)], 0)
            for chunk, part in zip(self.chunks, split(flat, chunk_sizes(sum(_count(t) for t in self._of(dtype)), workers)), strict=True):
                chunk.append(part)

    def tensors(self) -> list[Tensor]:
        """The tensors again, of what the chunks hold now."""
        made: dict[Tensor, Tensor] = {}
        for number, dtype in enumerate(self._dtypes):
            mine = self._of(dtype)
            parts = split(concat([chunk[number] for chunk in self.chunks], 0), [_count(t) for t in mine])
            made.update((t, reshape(part, t.shape.as_list())) for t, part in zip(mine, parts, strict=True))
        return [made[t] for t in self._tensors]

    def _of(self, dtype: DType) -> list[Tensor]:
        return [t for t in self._tensors if t.dtype is dtype]


def _count(tensor: Tensor) -> int:
    count = tensor.shape.num_elements()
    if count is None:
        raise UsageError(f"a ring exchanges tensors of known shapes, but {tensor.name} is {tensor.shape}", "give its variable a static shape")
    return count


@dataclass(frozen=True)
class Exchanged:
    """What an exchange gives to one worker.

    Attributes:
        tensors: the sums, or means.
        word: the greatest of the words that the workers sent along.
        puts: ops on the right neighbour, which must run in the step.
    """

    tensors: Sequence[Tensor]
    word: Tensor
    puts: Sequence[Operation]


def all_reduce(tensors: Sequence[Tensor], worker: int, workers: int, mailbox: str, word: Tensor, mean: bool = True) -> Exchanged:
    """A worker's part of an all-reduce with the others, each of which runs its own in its own graph. Build it on the worker's device.

    The sum of a chunk is made in the order of the ring, the same on all workers bit for bit. No worker can be more than n messages ahead of its right
    neighbour: its next one would be made of what that has not sent yet.

    Args:
        tensors: what is summed up, elementwise; the same dtypes and shapes on all workers.
        worker: index of this one.
        workers: n.
        mailbox: a name for the exchange, the same on all workers, and of no other exchange.
        word: an int64 scalar to go round with the first n−1 messages.
        mean: whether sums are divided by n.

    Raises:
        UsageError: a shape is not known.
    """
    graph = tensors[0].graph
    buffers = Buffers(tensors, workers)
    chunks, puts, taken = buffers.chunks, list[Operation](), list[Operation]()
    for number, hop in enumerate(hops(workers)):
        mine = (worker + hop.receives) % workers
        if mean and not hop.adds and number == workers - 1:
            whole = (worker + 1) % workers
            chunks[whole] = [divide(part, float(workers)) for part in chunks[whole]]
        sent = [*chunks[(worker + hop.sends) % workers], *([word] if hop.adds else [])]
        expected = [*chunks[mine], *([word] if hop.adds else [])]
        with graph.device(worker_device((worker + 1) % workers)):
            puts.append(mailbox_put(mailbox, sent, workers, name=f"put_{number}"))
        with graph.control_dependencies([*taken[-1:], *(t.op for t in sent)]):  # who waits before sending, waits for ever
            received = mailbox_take(mailbox, expected, workers, name=f"take_{number}")
        taken.append(received[0].op)
        if hop.adds:
            word = maximum(word, received.pop())
            received = [add(theirs, own) for theirs, own in zip(received, chunks[mine], strict=True)]
        chunks[mine] = received
    return Exchanged(buffers.tensors(), word, puts)


@dataclass(frozen=True)
class RingGraph:
    """A worker's graph: its own copy of the model, and its part of the exchange.

    Attributes:
        replica: the model.
        resident: its copy of the parameters.
        paused: placeholder of the nanoseconds that the maker of updates stood still before this step; 0 on the others.
        stood: the same for all workers: what the ring brought.
        next_step: the updates that this copy has had after the step; running it makes one.
        pushes: further ops of a step, which hand chunks to the right neighbour.
        granted: whether the next update is claimed already; None but on the worker that claims for all.
        claim: waits until the next update is claimed; None likewise.
        leaving: how the worker leaves, when it is out of data.
    """

    replica: Replica
    resident: Resident
    paused: Tensor
    stood: Tensor
    next_step: Tensor
    pushes: Sequence[Operation]
    granted: Tensor | None
    claim: Tensor | None
    leaving: Leaving

    @property
    def feeds(self) -> list[Tensor]:
        """What a step takes."""
        return [*self.replica.tower.source.feeds, self.paused]

    @property
    def results(self) -> list[Tensor]:
        """The loss and the metrics."""
        return [self.replica.tower.loss, *self.replica.tower.metrics.values()]


def ring_replica(job: Job, worker: int) -> RingGraph:
    """A worker's graph. Worker 0 claims the updates and counts them on the first ps; the others cannot go on without it."""
    replica = build_copy(job, worker)
    with replica.on_worker():
        paused = placeholder(int64, [], name="paused")
        with replica.graph.control_dependencies([g.op for g in replica.gradients]):
            word = identity(paused)  # in the message of the first chunk
        with replica.graph.name_scope("all_reduce"):
            exchanged = all_reduce(replica.gradients, worker, job.workers, f"{resources_of(job.epoch_id)}ring", word)
        updates = replica.optimizer.update(zip(exchanged.tensors, replica.variables, strict=True))
        resident = reside(job, replica.graph)
        next_step = resident.count_after([u.op for u in updates])[0]
        granted = waiting = None
        if worker == 0:
            counted = replica.count_after([next_step.op])
            with replica.graph.device(PS_0):
                with replica.graph.control_dependencies([counted]):
                    granted = try_claim(job.epoch_id)
                with replica.graph.control_dependencies(None):
                    waiting = claim(job.epoch_id)
    return RingGraph(replica, resident, paused, exchanged.word, next_step, exchanged.puts, granted, waiting, leaving(job, replica))
