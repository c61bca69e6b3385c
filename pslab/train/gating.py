"""Gates in a training graph: what a step does to the state of a ps waits until it is let in.

A worker's step comes to a ps in one message, or two: what it brings, and in-graph, where it does not know the parameters yet, before that what it reads.
Where contributions are gathered, the answer and what the chief does may have to wait, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from pslab.graph.device import DeviceSpec
from pslab.graph.operation import Operation
from pslab.graph.partition import prune
from pslab.graph.tensor import Tensor
from pslab.sync.gate_ops import gate_enter, gate_leave
from pslab.train import between_graph, in_graph
from pslab.train.between_graph import ChiefGraph, ReplicaGraph
from pslab.train.epoch_names import resources_of
from pslab.train.in_graph import TowersGraph, TowersStep
from pslab.train.job import Gates, Job

COMMIT, READ, UPDATE = "commit", "read", "update"
"""What is said of a message at a gate."""


def worker_graph(job: Job, worker: int) -> ReplicaGraph:
    """A between-graph worker's graph with the job's gates."""
    graph = between_graph.worker_graph(job, worker)
    if job.gates is Gates.NONE:
        return graph
    fetches = [graph.staleness, graph.next_step, graph.paused_ns, *graph.next_parameters, graph.replica.tower.loss, *graph.distances]
    wanted = [t.op for t in (*fetches, *((graph.granted,) if graph.granted is not None else ()))]
    _, brought = _on_each_ps(worker, [*wanted, *graph.further], graph.feeds)
    answered = _answers([*wanted, *graph.further], graph.feeds) if job.gates is Gates.ALL and job.strategy.gathered else []
    stays = [(COMMIT, there) for there in brought] + [(READ, there) for there in answered]
    return replace(graph, further=[*graph.further, *(_stay(job, worker, what, there) for what, there in stays)])


def chief(job: Job) -> ChiefGraph:
    """The chief's graph with the job's gates."""
    graph = between_graph.chief(job)
    if job.gates is not Gates.ALL:
        return graph
    ops = prune([graph.next_step.op, graph.granted.op], [])
    stays, later = [], set[Operation]()
    for entry in reversed(graph.entered):  # what follows the last one is its own, what precedes that is of the one before
        behind = _behind(ops, [entry], [])
        mine = [op for op in ops if op in behind and op not in later and _task(op) == _task(entry) and op.definition.stateful]
        stays.append(_stay(job, job.workers, UPDATE, _Message(_task(entry), mine, entry.control_inputs)))
        later |= set(mine)
    return replace(graph, further=stays)


def tower_steps(job: Job) -> list[tuple[TowersGraph, TowersStep]]:
    """The steps of in-graph replication, each with its graph: one that all share, or, their reads and commits gated, one of its own."""
    graph = in_graph.towers_graph(job)
    if job.gates is Gates.NONE:
        return [(graph, step) for step in graph.steps]
    graphs = [in_graph.towers_graph(job) for _ in graph.steps]  # towers of one graph share what they read
    return [(own, _gated_tower(job, own.steps[i])) for i, own in enumerate(graphs)]


def _gated_tower(job: Job, step: TowersStep) -> TowersStep:
    (tower,), (worker,) = step.towers, step.workers
    wanted = [t.op for t in (step.staleness, step.next_step, step.granted, tower.loss, *step.distances)]
    read, brought = _on_each_ps(worker, [*wanted, *step.further], step.feeds)
    stays = [(READ, there) for there in read] + [(COMMIT, there) for there in brought]
    return replace(step, further=[*step.further, *(_stay(job, worker, what, there) for what, there in stays)])


@dataclass(frozen=True)
class _Message:
    """What comes to a ps at once: the ops there on its state, and those on the worker that it comes from."""

    task: str
    ops: Sequence[Operation]
    sources: Sequence[Operation]


def _on_each_ps(worker: int, wanted: Sequence[Operation], feeds: Sequence[Tensor]) -> tuple[list[_Message], list[_Message]]:
    """Of a step, what each ps does before something comes from the worker, and then."""
    ops, mine = prune(wanted, feeds), f"worker:{worker}"
    brought = _behind(ops, [op for op in ops if _task(op) == mine], feeds)
    held = _held(ops, feeds)
    early, late = [], []
    for task in sorted({_task(op) for op in ops if _on_ps(op)}):
        here = [op for op in ops if _task(op) == task and op.definition.stateful and op not in held]
        sources = dict.fromkeys(n for op in ops if _task(op) == task for n in _needs(op, feeds) if _task(n) == mine)
        early.append(_Message(task, [op for op in here if op not in brought], []))
        late.append(_Message(task, [op for op in here if op in brought], list(sources)))
    return [m for m in early if m.ops], [m for m in late if m.ops]


def _answers(wanted: Sequence[Operation], feeds: Sequence[Tensor]) -> list[_Message]:
    """Of a step, what each ps does when it has been held up."""
    ops = prune(wanted, feeds)
    held = _held(ops, feeds)
    found = []
    for task in sorted({_task(op) for op in held if _on_ps(op)}):
        here = [op for op in ops if op in held and _task(op) == task and op.definition.stateful and not op.definition.blocking]
        found.append(_Message(task, here, list(dict.fromkeys(n for op in here for n in _needs(op, feeds) if n in held and n not in here))))
    return found


def _held(ops: Sequence[Operation], feeds: Sequence[Tensor]) -> set[Operation]:
    """The ops that hold a worker up on a ps, and those behind."""
    return _behind(ops, [op for op in ops if op.definition.blocking and _on_ps(op)], feeds)


def _stay(job: Job, worker: int, what: str, message: _Message) -> Operation:
    """Let a message wait at the gate of its task; the op that ends its stay there."""
    graph, name = message.ops[0].graph, resources_of(job.epoch_id)
    with graph.as_default(), graph.device(message.ops[0].device):
        with graph.control_dependencies(message.sources):
            enter = gate_enter(name, worker, what)
        for op in message.ops:
            op.add_control_input(enter)
        with graph.control_dependencies(message.ops):
            return gate_leave(name, worker)


def _behind(ops: Iterable[Operation], first: Iterable[Operation], feeds: Sequence[Tensor]) -> set[Operation]:
    """The ops that wait for one of ``first``, and those themselves; ``ops`` are in order."""
    found = set(first)
    for op in ops:
        if any(need in found for need in _needs(op, feeds)):
            found.add(op)
    return found


def _needs(op: Operation, feeds: Sequence[Tensor]) -> list[Operation]:
    return [*(t.op for t in op.inputs if not any(t is f for f in feeds)), *op.control_inputs]


def _task(op: Operation) -> str:
    return DeviceSpec.from_string(op.device).task_name


def _on_ps(op: Operation) -> bool:
    return _task(op).startswith("ps:")
