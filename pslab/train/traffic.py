"""What goes between the tasks of a training: per link, and per variable."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from pslab.graph.node import Node, op_of
from pslab.graph.plan import Partition, StepPlan
from pslab.runtime.tally import Weight
from pslab.runtime.transport import Sent


class TaskTraffic(NamedTuple):
    """What one task has sent.

    Attributes:
        sent: messages, bytes and seconds by receiver.
        tensors: tensors that were weighed.
    """

    sent: Mapping[str, Sent]
    tensors: Sequence[Weight]


class LinkTraffic(NamedTuple):
    """What went one way over a link.

    Attributes:
        source: the task that sent.
        destination: the task that received.
        sent: messages, bytes with headers, and seconds of sending.
        steps: worker steps that it belongs to: of the worker at one of its ends, or of all where none is.
    """

    source: str
    destination: str
    sent: Sent
    steps: int


class VariableTraffic(NamedTuple):
    """What of a variable went one way in a run of a plan, without headers.

    Attributes:
        variable: its name; empty for what belongs to no single one.
        direction: ``"push"`` to a ps, or ``"pull"`` from one.
        ps: the ps.
        worker: the task at the other end.
        arrays: arrays that travel for it.
        bytes: mean of the runs that were weighed.
    """

    variable: str
    direction: str
    ps: str
    worker: str
    arrays: int
    bytes: float


@dataclass(frozen=True)
class Traffic:
    """All traffic of an epoch.

    Attributes:
        tasks: what each task has sent.
        steps: steps that each worker made.
    """

    tasks: Mapping[str, TaskTraffic]
    steps: Mapping[str, int]

    def links(self) -> list[LinkTraffic]:
        """Per link and direction."""
        every = sum(self.steps.values())
        return [
            LinkTraffic(task, peer, sent, next((self.steps[t] for t in (task, peer) if t in self.steps), every))
            for task, traffic in self.tasks.items()
            for peer, sent in traffic.sent.items()
        ]

    def variables(self, plans: Iterable[StepPlan]) -> list[VariableTraffic]:
        """Per variable and direction, between a ps and who is no ps.

        Args:
            plans: of the steps; tensors that are in none of them (those of a first read, or of an observation) are left out.
        """
        about: dict[tuple[str, str], str] = {}
        for plan in plans:
            variables = variables_in(plan)
            about |= {(tensor, to): variables[tensor] for tensor, to in _journeys(plan) if tensor in variables}
        found: defaultdict[tuple[str, str, str, str], list[float]] = defaultdict(list)
        for task, traffic in self.tasks.items():
            for weight in traffic.tensors:
                ends = task, weight.to
                if (weight.tensor, weight.to) in about and sum(end.startswith("ps:") for end in ends) == 1:
                    direction, ps, worker = ("push", weight.to, task) if weight.to.startswith("ps:") else ("pull", task, weight.to)
                    found[about[weight.tensor, weight.to], direction, ps, worker].append(weight.bytes / weight.times)
        return [VariableTraffic(*key, len(sizes), sum(sizes)) for key, sizes in sorted(found.items())]


def _journeys(plan: StepPlan) -> Iterator[tuple[str, str]]:
    """Each tensor that travels, and where it goes."""
    for cut in plan.cuts:
        yield from ((tensor, cut.destination) for tensor in cut.tensors)
    for part in plan.partitions.values():
        yield from ((tensor, plan.master) for tensor in part.fetches)


def variables_in(plan: StepPlan) -> dict[str, str]:
    """For each tensor that goes to or from a ps: the variable it is for, or an empty string where that is not a single one.

    A tensor from a ps is for the variable that the op is about that makes it, or that its inputs come from. One to a ps is for the variable that the ops
    there are about that take it.
    """
    about: dict[str, str] = {}
    for name, part in plan.partitions.items():
        if name.startswith("ps:"):
            about |= _variables_of(part)
    return about


def _variables_of(part: Partition) -> dict[str, str]:
    nodes = {n.name: n for stage in part.stages for n in (*stage.nodes, *stage.waits)}
    makers = {node.name: [op_of(tensor) for tensor in node.inputs] for node in nodes.values()}
    users: defaultdict[str, list[str]] = defaultdict(list)
    for node in nodes.values():
        for tensor in node.inputs:
            users[tensor].append(node.name)
    beyond = {node.name: [user for i in range(len(node.outputs)) for user in users[node.output(i)]] for node in nodes.values()}
    leaving = [*part.fetches, *(tensor for stage in part.stages for cut in stage.sends for tensor in cut.tensors)]
    coming = [tensor for stage in part.stages for cut in stage.receives for tensor in cut.tensors]
    return {
        **{tensor: _nearest(nodes, [op_of(tensor)], makers) for tensor in leaving},
        **{tensor: _nearest(nodes, users[tensor], beyond) for tensor in coming},
    }


def _nearest(nodes: Mapping[str, Node], begin: Sequence[str], ways: Mapping[str, Sequence[str]]) -> str:
    """The variable that the nearest ops on the ``ways`` are about which are about one; empty if that is not a single one."""
    found, seen, ahead = set(), set(begin), [*begin]
    while ahead:
        name = ahead.pop()
        if name in nodes and (variable := _variable_of(nodes[name])):
            found.add(variable)
        else:
            ahead += [further for further in ways.get(name, ()) if further not in seen]
            seen.update(ahead)
    return found.pop() if len(found) == 1 else ""


def _variable_of(node: Node) -> str:
    """The variable an op is about; empty if there is none. An accumulator is called as its variable is, in its epoch."""
    return str(node.attrs.get("variable", "")) or str(node.attrs.get("accumulator", "")).partition("/")[2]
