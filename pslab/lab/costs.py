"""What training costs, as tables for people: traffic per link and per variable, and a step predicted beside the measured one."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pslab.errors import FailedPreconditionError
from pslab.simulate.cost import Prediction, predict
from pslab.train.costing import PHASES, measured_step, steps_of, workload

if TYPE_CHECKING:
    from collections.abc import Mapping

    import pandas

    from pslab.runtime.transport import Network
    from pslab.train.job import Job
    from pslab.train.traffic import Traffic
    from pslab.train.trainer import Trainer

_WARM_UP = 2
"""Commits of each worker that are not typical: connections are opened, plans are registered."""


def links_table(traffic: Traffic) -> pandas.DataFrame:
    """One row per link and direction: messages, bytes with headers, seconds of sending; in all, and per step of the worker at its end."""
    import pandas

    rows = []
    for link in traffic.links():
        steps = max(link.steps, 1)
        each = (link.sent.messages / steps, link.sent.bytes / steps, link.sent.seconds / steps)
        rows.append((link.source, link.destination, *link.sent, *each))
    columns = ["from", "to", "messages", "bytes", "seconds", "messages_per_step", "bytes_per_step", "seconds_per_step"]
    return pandas.DataFrame(rows, columns=columns).sort_values(["from", "to"], ignore_index=True)


def variables_table(traffic: Traffic, job: Job) -> pandas.DataFrame:
    """One row per variable, direction and pair of tasks: arrays, and bytes without headers, per commit and per step."""
    import pandas

    found = traffic.variables(step.plan for step in steps_of(job))
    rows = [(v.variable, v.direction, v.ps, v.worker, v.arrays, v.bytes, v.bytes / job.strategy.commit_every) for v in found]
    return pandas.DataFrame(rows, columns=["variable", "direction", "ps", "task", "arrays", "bytes_per_commit", "bytes_per_step"])


@dataclass(frozen=True, repr=False)
class Cost:
    """A worker's step in the present mode, predicted and measured; printed, a table.

    Attributes:
        predicted: what the cost model says.
        measured: mean seconds by phase (`pslab.train.costing.PHASES`) of the steps that were made.
        steps: how many those are.
        network: the shape of the links.
    """

    predicted: Prediction
    measured: Mapping[str, float]
    steps: int
    network: Network

    @property
    def bottleneck(self) -> str:
        """``"network"``, ``"ps"`` or ``"cores"``."""
        return self.predicted.bottleneck

    @property
    def table(self) -> pandas.DataFrame:
        """Seconds of a step and its parts: a row predicted, a row measured."""
        import pandas

        found = self.predicted
        rows = {"predicted": [found.step, found.compute, found.wait, found.push, found.pull], "measured": [self.measured[name] for name in PHASES]}
        return pandas.DataFrame.from_dict(rows, orient="index", columns=["step", *PHASES[1:]])

    @property
    def why(self) -> str:
        """What the bottleneck is, in a sentence."""
        name, found = self.bottleneck, self.predicted
        what = {
            "network": "the network: if links took no time",
            "ps": "the ps tasks' ports, where messages queue: if these took no time",
            "cores": "the cores: if computing took no time",
        }
        busiest = max(found.ports, key=found.ports.__getitem__, default=None)
        port = f"; the port of {busiest} is busy {found.ports[busiest]:.0%} of the time" if busiest is not None else ""
        return f"bottleneck: {what[name]}, a step would take {found.without[name] * 1e3:.3g} ms, not {found.step * 1e3:.3g} ms{port}"

    def __repr__(self) -> str:
        return f"{(self.table * 1e3).map('{:.2f} ms'.format)}\n{self.why}"


def cost_of(trainer: Trainer, network: Network, cores: int | None) -> Cost:
    """The cost of a step of a trainer's present mode.

    Args:
        trainer: what trains.
        network: the shape of the links.
        cores: how many tasks compute at once.

    Raises:
        FailedPreconditionError: no step was made in this mode yet.
    """
    job = trainer.job()
    records = trainer.records()
    mine = records[records["strategy"] == job.epoch]
    if not len(mine) or trainer.strategies[-1] != job.strategy:
        raise FailedPreconditionError(f"no step was made in the mode {job.strategy} yet", "lab.train(steps=50), or %pslab train --steps 50")
    every = job.strategy.commit_every
    usual = mine[mine["step"] > _WARM_UP * every]
    usual = usual if len(usual) > every else mine
    found = predict(workload(job, network, usual, cores, tensor_sizes(trainer.traffic())))
    return Cost(found, measured_step(usual, every), len(usual), network)


def tensor_sizes(traffic: Traffic) -> dict[str, float]:
    """Mean bytes of each tensor that was weighed."""
    found: defaultdict[str, list[float]] = defaultdict(list)
    for task in traffic.tasks.values():
        for weight in task.tensors:
            found[weight.tensor].append(weight.bytes / weight.times)
    return {tensor: sum(sizes) / len(sizes) for tensor, sizes in found.items()}
