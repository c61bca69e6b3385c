"""The cost of a step: predicted, with what it is that makes it take so long."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pslab.errors import FailedPreconditionError
from pslab.graph.plan import StepPlan
from pslab.runtime.transport.network import Network
from pslab.simulate.driving import Driver, Phases, Rules
from pslab.simulate.events import Events, Mail
from pslab.simulate.machines import NS, Machines
from pslab.simulate.sizes import Sizes

WARM_UP, RUNS = 4, 20
"""Runs of each worker that are simulated first, and those that count."""


@dataclass(frozen=True)
class Workload:
    """What is to be run, and on what.

    Attributes:
        plans: what each loop runs again and again: each worker's step, the chief's, the client's.
        network: the shape of the links.
        compute: seconds that a worker computes for a step, by task, with a core of its own.
        around: seconds that a worker's loop takes for a step besides: the next batch, its record.
        cores: how many tasks compute at once; None for as many as there are.
        commit_every: steps of a worker per run of its plan; the others need no other task.
        overhead: seconds that a message takes on top of what the network says: encoding it, waking a thread.
        batch: examples of a batch.
        sizes: bytes of tensors that were measured, by name; others are by their static shapes.
    """

    plans: Sequence[StepPlan]
    network: Network
    compute: Mapping[str, float]
    around: float = 0.0
    cores: int | None = None
    commit_every: int = 1
    overhead: float = 2e-4
    batch: int = 1
    sizes: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Prediction:
    """A worker's step, predicted: means in seconds.

    Attributes:
        step: all of it.
        compute: in ops, and waiting for a core.
        wait: for a rule of consistency.
        push: sending.
        pull: receiving.
        bottleneck: ``"network"`` (the links as such), ``"ps"`` (what meets at the ports of the ps tasks) or ``"cores"`` (computing).
        without: what a step would take if the links took no time (``"network"``), the ports of the ps tasks took none (``"ps"``), or computing took none
            (``"cores"``).
        ports: the share of the time for which each task's port is busy, in its busier direction.
    """

    step: float
    compute: float
    wait: float
    push: float
    pull: float
    bottleneck: str
    without: Mapping[str, float]
    ports: Mapping[str, float]


def predict(workload: Workload) -> Prediction:
    """Predict what a step costs: its plan is run on simulated ports and cores, with simulated time.

    The bottleneck is what would save the most, if it took no time. Of what the network costs, it is the ps tasks' where their ports alone make
    a quarter of it.

    Raises:
        FailedPreconditionError: the loops wait for each other for ever.
    """
    phases, ports = simulate(workload)
    servers = frozenset(task for plan in workload.plans for task in plan.partitions if task.startswith("ps:"))
    without = {
        "network": simulate(replace(workload, network=Network()))[0].wall,
        "ps": simulate(workload, servers)[0].wall,
        "cores": simulate(replace(workload, compute={}, around=0.0))[0].wall,
    }
    saved = {name: phases.wall - wall for name, wall in without.items()}
    bottleneck = "cores" if saved["cores"] >= saved["network"] else "ps" if saved["ps"] >= saved["network"] / 4 else "network"
    return Prediction(phases.wall, phases.compute, phases.wait, phases.push, phases.pull, bottleneck, without, ports)


def simulate(workload: Workload, free: frozenset[str] = frozenset()) -> tuple[Phases, dict[str, float]]:
    """Run a workload; ``free`` are tasks whose ports take no time.

    Returns:
        The mean step of a worker, and the share of the time for which each task's port is busy.
    """
    events, mail, rules = Events(), Mail(), Rules()
    machines = Machines(events, workload.network, workload.cores, workload.overhead, free)
    loops = [
        Driver(plan, machines, mail, rules, Sizes(plan, workload.batch, workload.sizes), workload.compute, workload.around, workload.commit_every - 1)
        for plan in workload.plans
    ]
    working = [loop for loop in loops if loop.phases]
    for loop in loops:
        events.begin(loop.loop())
    _run(events, working, WARM_UP)
    begun, busy = [replace(p) for loop in working for p in loop.phases.values()], machines.busy()
    began = events.now
    _run(events, working, WARM_UP + RUNS)
    took = (events.now - began) / NS
    ended = [p for loop in working for p in loop.phases.values()]
    steps = sum(e.steps - b.steps for b, e in zip(begun, ended, strict=True))
    mean = {name: sum(getattr(e, name) - getattr(b, name) for b, e in zip(begun, ended, strict=True)) / steps for name in _PHASES}
    return Phases(steps, **mean), {task: (seconds - busy.get(task, 0.0)) / took for task, seconds in machines.busy().items()} if took else {}


_PHASES = ("wall", "compute", "wait", "push", "pull")


def _run(events: Events, loops: Sequence[Driver], runs: int) -> None:
    if not events.run(lambda: all(loop.runs >= runs for loop in loops)):
        raise FailedPreconditionError("the loops of this mode wait for each other for ever, as far as the cost model knows")
