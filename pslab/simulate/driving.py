"""Simulated tasks: they drive the partitions of a plan, as `pslab.runtime` does, and compute nothing."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from pslab.graph.node import Node
from pslab.graph.plan import Partition, StepPlan
from pslab.simulate.events import Events, Mail, Process
from pslab.simulate.machines import NS, Machines
from pslab.simulate.sizes import Sizes
from pslab.sync.quorum import Quorum


@dataclass
class Phases:
    """Where a worker's time has gone, in seconds, over some steps.

    Attributes:
        steps: how many.
        wall: from their beginning to their end.
        compute: in ops.
        wait: for a rule of consistency.
        push: sending.
        pull: receiving.
    """

    steps: int = 0
    wall: float = 0.0
    compute: float = 0.0
    wait: float = 0.0
    push: float = 0.0
    pull: float = 0.0


@dataclass
class Rules:
    """The state behind the ops that make workers wait: what `pslab.sync` keeps on the ps tasks, in numbers alone."""

    step: int = 0
    chosen: int = 0
    gathered: Counter[str] = field(default_factory=Counter)
    ticks: defaultdict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    staleness: dict[str, int] = field(default_factory=dict)

    def run(self, node: Node, read_step: int) -> None:
        """An op that does not wait has run."""
        attrs = node.attrs
        match node.type:
            case "AssignAdd" if attrs["variable"] == "global_step":
                self.step += 1
            case "AccumulatorApplyGradient":
                never_stale = not node.inputs[1].startswith("Identity")
                self.gathered[attrs["accumulator"]] += never_stale or read_step >= self.step
            case "QuorumTake":
                self.gathered[attrs["accumulator"]] = 0
            case "QuorumBring":
                self.gathered[attrs["quorum"]] += 1
            case "QuorumChoose":
                self.chosen, self.gathered[attrs["quorum"]] = self.gathered[attrs["quorum"]], 0
            case "TakeChosen":
                self.gathered[attrs["accumulator"]] -= self.chosen
            case "ClockTick":
                self.ticks[attrs["clock"]][attrs["worker"]] += 1
                self.ticks[attrs["clock"]] |= Counter(dict.fromkeys(range(attrs["workers"]), 0))
                self.staleness[attrs["clock"]] = attrs["staleness"]

    def ready(self, node: Node, read_step: int) -> bool:
        """Whether an op that waits may go on."""
        attrs = node.attrs
        match node.type:
            case "StepAfter":
                return self.step > read_step
            case "QuorumReady":
                return all(self.gathered[a] >= _required(node) for a in attrs["accumulators"])
            case "QuorumBrought":
                return self.gathered[attrs["quorum"]] >= _required(node)
            case "ChosenReady":
                return all(self.gathered[a] >= self.chosen for a in attrs["accumulators"])
            case "ClockRead":
                ticks = self.ticks[attrs["clock"]]
                workers = len(ticks)
                return not workers or ticks[attrs["worker"]] - min(ticks.values()) <= self.staleness[attrs["clock"]]
        return True


def _required(node: Node) -> int:
    return Quorum(range(node.attrs["workers"]), node.attrs["most"], node.attrs["backup"]).required


class Driver:
    """A loop that runs a plan again and again.

    Args:
        plan: what it runs.
        machines: what it runs on.
        mail: how its tasks hear of each other.
        rules: what makes them wait.
        sizes: bytes of messages.
        compute: seconds that a task computes in a run, by task.
        around: seconds that the loop of a worker takes for a step besides.
        apart: steps before each run that need no other task.

    Attributes:
        phases: of each worker that takes part.
        runs: how many runs have ended.
    """

    _ids = itertools.count()

    def __init__(
        self,
        plan: StepPlan,
        machines: Machines,
        mail: Mail,
        rules: Rules,
        sizes: Sizes,
        compute: Mapping[str, float],
        around: float = 0.0,
        apart: int = 0,
    ) -> None:
        self._plan = plan
        self._machines = machines
        self._events: Events = machines.events
        self._mail = mail
        self._rules = rules
        self._sizes = sizes
        self._compute = compute
        self._apart = apart
        self._around = around if plan.master.startswith("worker:") else 0.0
        self._id = next(Driver._ids)
        self._read_step = 0
        self._ended: dict[str, int] = {}
        self.runs = 0
        self.phases = {task: Phases() for task, part in plan.partitions.items() if task.startswith("worker:") and any(s.nodes for s in part.stages)}

    def loop(self) -> Process:
        """Run for ever."""
        for run in itertools.count():
            began = self._events.now
            alone = self._compute.get(self._plan.master, 0.0) * self._apart
            if busy := alone + self._around * (1 + self._apart):
                yield self._machines.compute(busy)
            yield from self._run(run, alone)
            self.runs += 1
            for phases in self.phases.values():
                phases.steps += 1 + self._apart
                phases.wall += (self._events.now - began) / NS

    def _run(self, run: int, alone: float) -> Process:
        plan, waits = self._plan, dict.fromkeys(self._plan.partitions, 0.0)
        others = [part for task, part in plan.partitions.items() if task != plan.master]
        for part in others:
            self._events.begin(self._remote(part, run, waits))
            if part.rides is None:
                yield from self._send(plan.master, part.task, self._sizes.start(part), ("start", part.task, run))
        mine = Phases(compute=alone)
        yield from self._drive(plan.partitions[plan.master], run, mine)
        pulling = self._events.now
        for part in others:
            yield from self._mail.take((self._id, "done", part.task, run))
        mine.pull += (self._events.now - pulling) / NS
        waited = min(mine.pull, max((waits[part.task] for part in others), default=0.0))
        mine.pull, mine.wait = mine.pull - waited, mine.wait + waited
        if plan.master in self.phases:
            self._note(plan.master, mine)

    def _remote(self, part: Partition, run: int, waits: dict[str, float]) -> Process:
        idle = self._ended.get(part.task, self._events.now)
        if part.rides is None:
            yield from self._mail.take((self._id, "start", part.task, run))
        else:  # it begins where its first message does
            yield from self._mail.take((self._id, part.rides.index, run))
            self._mail.post((self._id, part.rides.index, run), self._events.now)
        mine = Phases(wait=(self._events.now - idle) / NS)
        waited = mine.wait
        yield from self._drive(part, run, mine)
        waits[part.task] = mine.wait - waited
        if part.task in self.phases:
            self._note(part.task, mine)
        self._ended[part.task] = self._events.now
        yield from self._send(part.task, part.master, self._sizes.done(part), ("done", part.task, run))

    def _drive(self, part: Partition, run: int, phases: Phases) -> Process:
        heaviest = max(part.stages, key=lambda stage: len(stage.nodes), default=None)
        for stage in part.stages:
            began = self._events.now
            for cut in stage.receives:
                yield from self._mail.take((self._id, cut.index, run))
            phases.pull += (self._events.now - began) / NS
            began = self._events.now
            if stage is heaviest and (seconds := self._compute.get(part.task, 0.0)):
                yield self._machines.compute(seconds)
            for node in stage.nodes:
                self._rules.run(node, self._read_step)
            phases.compute += (self._events.now - began) / NS
            began = self._events.now
            for cut in stage.sends:
                riding = cut.source == part.master and self._plan.partitions[cut.destination].rides
                size = self._sizes.cut(cut) + (self._sizes.fed(self._plan.partitions[cut.destination]) if riding == cut else 0)
                yield from self._send(cut.source, cut.destination, size, (cut.index, run))
            phases.push += (self._events.now - began) / NS
            began = self._events.now
            for node in stage.waits:
                yield self._until(node)
            phases.wait += (self._events.now - began) / NS
            if any(node.type == "StepAfter" for node in stage.waits):
                self._read_step = self._rules.step

    def _until(self, node: Node) -> Callable[[], bool]:
        return lambda: self._rules.ready(node, self._read_step)

    def _send(self, source: str, destination: str, size: float, key: tuple[object, ...]) -> Process:
        end, due = self._machines.send(source, destination, size)
        self._mail.post((self._id, *key), due)
        yield end

    def _note(self, task: str, mine: Phases) -> None:
        total = self.phases[task]
        total.compute += mine.compute
        total.wait += mine.wait
        total.push += mine.push
        total.pull += mine.pull
