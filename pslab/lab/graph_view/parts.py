"""What is in the plans of a mode: ops, fed values and messages, and what flows between them."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import product
from math import prod

from pslab.graph.node import Node, op_of
from pslab.graph.plan import Partition, StepPlan
from pslab.graph.registry import op_def
from pslab.simulate.sizes import Sizes
from pslab.train.plans import PlannedStep

_OWN = re.compile(r"^tower_\d+/|own_[^/]+\.\d+/")
"""What the names of replicas differ in."""
FED, ANSWER, CHIEFS = "fed", "answer", "the chief's "
"""What a message is called that is no cut; and before that, where its master has another plan."""

_THROUGH_STATE = {
    ("AccumulatorApplyGradient", "AccumulatorTakeGradient"): "accumulator",
    ("AccumulatorApplyGradient", "QuorumTake"): "accumulator",
    ("MailboxPut", "MailboxTake"): "mailbox",
    ("AssignAdd", "StepAfter"): "variable",
}
"""Which ops take what which others have left in their task's state, and the attribute that both have then."""


class Kind(StrEnum):
    """What a part is."""

    OP = "op"
    STATE = "state"
    FED = "fed"
    SEND = "send"
    RECEIVE = "receive"


class Flow(StrEnum):
    """What goes along a wire: a tensor, nothing but the turn, what an op has left in its task's state, or a message."""

    TENSOR = "tensor"
    WAIT = "wait"
    STATE = "state"
    MESSAGE = "message"


@dataclass(frozen=True)
class Part:
    """Something that a task does in a step.

    Attributes:
        task: the task.
        kind: what it is.
        name: an op's full name, or what is said of a message.
        replica: what it is called on each replica that has it, or its likes.
        node: the op; None of a message, and of a fed tensor whose op is in no plan.
        returned: whether a value of it is returned to who drives the step.
    """

    task: str
    kind: Kind
    name: str
    replica: str
    node: Node | None = field(default=None, compare=False)
    returned: bool = field(default=False, compare=False)

    @cached_property
    def scope(self) -> tuple[str, ...]:
        """The scopes it is in, outermost first; messages are in none."""
        return () if self.kind in (Kind.SEND, Kind.RECEIVE) else tuple(self.replica.split("/")[:-1])


@dataclass(frozen=True)
class Wire:
    """What goes from one part to another.

    Attributes:
        source: where from.
        target: where to.
        flow: what.
        tensors: names of the tensors.
        bytes: of these, with headers if it is a message.
        loops: numbers of the steps that it is part of: the workers', and after them the chief's.
    """

    source: Part
    target: Part
    flow: Flow
    tensors: tuple[str, ...] = ()
    bytes: float = 0.0
    loops: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Parts:
    """All that a mode's steps do, but for constants.

    Attributes:
        parts: in the order in which the plans have them.
        wires: between them.
    """

    parts: Sequence[Part]
    wires: Sequence[Wire]

    @classmethod
    def of(cls, steps: Sequence[PlannedStep], batch: int, measured: Mapping[str, float]) -> Parts:
        """The parts of several steps, each op of a task once.

        Args:
            steps: the steps of all loops.
            batch: the length of an axis that is not known.
            measured: bytes of tensors that were measured, by name.
        """
        parts: dict[Part, Part] = {}
        wires: dict[tuple[Part, Part, Flow], Wire] = {}
        masters: set[str] = set()
        for loop, step in enumerate(steps):
            of_chief = step.plan.master.startswith("worker:") and step.plan.master in masters
            masters.add(step.plan.master)
            read = _Reading(loop, step, batch, measured, CHIEFS if of_chief else "")
            for part in read.parts():
                before = parts.get(part)
                parts[part] = part if before is None else replace(before, returned=before.returned or part.returned)
            for wire in read.wires:
                key = wire.source, wire.target, wire.flow
                same = wires.get(key)
                wires[key] = wire if same is None else replace(wire, loops=same.loops | wire.loops)
        drawn = [part for part in parts.values() if not _is_constant(part)]
        kept = [wire for wire in wires.values() if not _is_constant(wire.source)]
        return cls(drawn, [*kept, *_left_behind(drawn)])


class _Reading:
    """One plan, as parts and wires. ``whose`` tells its messages from those of another plan of the same master."""

    def __init__(self, loop: int, step: PlannedStep, batch: int, measured: Mapping[str, float], whose: str) -> None:
        self._loops = frozenset([loop])
        self._whose = whose
        self._plan: StepPlan = step.plan
        feeds = {t.name: float(t.dtype.size * prod(batch if d is None else d for d in t.shape.dims or ())) for t in step.feeds}
        self._sizes = Sizes(step.plan, batch, {**feeds, **measured})
        self._fed_nodes = {t.name: Node.of(t.op) for t in step.feeds}
        self._ops = {node.name: _op(part, node) for part in self._plan.partitions.values() for node in _nodes(part)}
        self._fed = {(part.task, tensor): self._fed_part(part, tensor) for part in self._plan.partitions.values() for tensor in part.feeds}
        self._cut_of = {(tensor, cut.destination): cut for cut in self._plan.cuts for tensor in cut.tensors}
        self.wires = list(self._wires())

    def parts(self) -> Iterator[Part]:
        yield from self._fed.values()
        yield from self._ops.values()
        for wire in self.wires:
            yield from (part for part in (wire.source, wire.target) if part.node is None)

    def _wires(self) -> Iterator[Wire]:
        for part in self._plan.partitions.values():
            for node in _nodes(part):
                for tensor in node.inputs:
                    yield from self._taken(part, tensor, self._ops[node.name])
                for name in node.controls:
                    yield from self._waited_for(part, name, self._ops[node.name])
            yield from self._messages_with_the_master(part)
        for cut in self._plan.cuts:
            yield self._message(cut.source, cut.destination, f"#{cut.index}", cut.tensors, self._sizes.cut(cut))

    def _taken(self, part: Partition, tensor: str, user: Part) -> Iterator[Wire]:
        size = self._sizes.tensor(tensor)
        fed, maker = self._fed.get((part.task, tensor)), self._ops.get(op_of(tensor))
        if fed is not None:
            yield self._wire(fed, user, Flow.TENSOR, (tensor,), size)
        elif maker is not None and maker.task == part.task:
            yield self._wire(maker, user, Flow.TENSOR, (tensor,), size)
        elif maker is not None:
            cut = self._cut_of[tensor, part.task]
            wire = self._message(cut.source, cut.destination, f"#{cut.index}", cut.tensors, 0)
            yield self._wire(maker, wire.source, Flow.TENSOR, (tensor,), size)
            yield self._wire(wire.target, user, Flow.TENSOR, (tensor,), size)

    def _waited_for(self, part: Partition, name: str, user: Part) -> Iterator[Wire]:
        first = self._ops.get(name)
        if first is None:
            return
        if first.task == part.task:
            yield self._wire(first, user, Flow.WAIT)
            return
        theirs = self._plan.partitions[first.task].stages
        begun = next(i for i, stage in enumerate(theirs) if any(n.name == name for n in (*stage.nodes, *stage.waits)))
        cut = next((c for stage in theirs[begun:] for c in stage.sends if c.destination == part.task), None)
        if cut is not None:
            wire = self._message(cut.source, cut.destination, f"#{cut.index}", cut.tensors, 0)
            yield self._wire(first, wire.source, Flow.WAIT)
            yield self._wire(wire.target, user, Flow.WAIT)

    def _messages_with_the_master(self, part: Partition) -> Iterator[Wire]:
        master = self._plan.master
        if part.task == master:
            return
        if part.feeds:
            wire = self._message(master, part.task, FED, part.feeds, self._sizes.start(part))
            yield wire
            yield from (
                self._wire(wire.target, self._fed[part.task, tensor], Flow.TENSOR, (tensor,), self._sizes.tensor(tensor)) for tensor in part.feeds
            )
        if part.fetches:
            wire = self._message(part.task, master, ANSWER, part.fetches, self._sizes.done(part))
            yield from (
                self._wire(self._ops[op_of(t)], wire.source, Flow.TENSOR, (t,), self._sizes.tensor(t)) for t in part.fetches if op_of(t) in self._ops
            )
            yield wire

    def _message(self, source: str, destination: str, which: str, tensors: tuple[str, ...], size: float) -> Wire:
        # the number of a cut is that of its plan; in another worker's plan the same message has the same number, and other ends
        which = self._whose + which
        ends = f"{source} → {destination} {which}"
        send = Part(source, Kind.SEND, ends, f"to {_kin(source, destination)} {which}")
        receive = Part(destination, Kind.RECEIVE, ends, f"from {_kin(destination, source)} {which}")
        return self._wire(send, receive, Flow.MESSAGE, tensors, size)

    def _wire(self, source: Part, target: Part, flow: Flow, tensors: tuple[str, ...] = (), size: float = 0.0) -> Wire:
        return Wire(source, target, flow, tensors, size, self._loops)

    def _fed_part(self, part: Partition, tensor: str) -> Part:
        return Part(part.task, Kind.FED, op_of(tensor), own_name(op_of(tensor)), self._fed_nodes.get(tensor))


def _kin(task: str, other: str) -> str:
    """What a task calls another: workers call each other so that all say the same of their likes."""
    return "a worker" if task.startswith("worker:") and other.startswith("worker:") else other


def own_name(name: str) -> str:
    """What an op is called on each replica."""
    return _OWN.sub("", name)


def _op(part: Partition, node: Node) -> Part:
    kind = Kind.STATE if op_def(node.type).stateful else Kind.OP
    return Part(part.task, kind, node.name, own_name(node.name), node, any(op_of(t) == node.name for t in part.fetches))


def _is_constant(part: Part) -> bool:
    return part.node is not None and part.node.type == "Const" and not part.returned


def _nodes(part: Partition) -> Iterator[Node]:
    for stage in part.stages:
        yield from stage.nodes
        yield from stage.waits


def _left_behind(parts: Iterable[Part]) -> Iterator[Wire]:
    """What goes through the state of a task from one loop's step to another's: gradients that are gathered, items in a mailbox, the global step."""
    ops = [(part, part.node) for part in parts if part.node is not None]
    for (gives, takes), attr in _THROUGH_STATE.items():
        left: defaultdict[tuple[str, str], list[Part]] = defaultdict(list)
        taken: defaultdict[tuple[str, str], list[Part]] = defaultdict(list)
        for part, node in ops:
            if attr in node.attrs and node.type in (gives, takes):
                (left if node.type == gives else taken)[part.task, node.attrs[attr]].append(part)
        for place, takers in taken.items():
            # the items of a mailbox are taken in the order in which they came
            pairs = zip(left[place], takers, strict=False) if attr == "mailbox" else product(left[place], takers)
            yield from (Wire(giver, taker, Flow.STATE) for giver, taker in pairs)
