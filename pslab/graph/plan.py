"""The plan of a step: what each task runs, and what travels between them. Immutable plain data that a person can print."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pslab.errors import DataLossError
from pslab.graph.node import Node
from pslab.graph.packing import pack, unpack


@dataclass(frozen=True, slots=True)
class Cut:
    """All tensors that leave one task for another after one stage: one message.

    Attributes:
        index: number of the cut within the plan.
        source: task that sends, such as ``"worker:0"``.
        destination: task that receives.
        stage: the stage of the source after which it is sent.
        tensors: names of the tensors, in the order they travel; empty where only a control dependency crosses.
    """

    index: int
    source: str
    destination: str
    stage: int
    tensors: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Stage:
    """A stretch of a task's program: receive, compute, send, wait.

    Attributes:
        receives: cuts to receive first.
        nodes: ops to run then, in order.
        sends: cuts to send then.
        waits: blocking ops to wait for at last.
    """

    receives: tuple[Cut, ...]
    nodes: tuple[Node, ...]
    sends: tuple[Cut, ...]
    waits: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Partition:
    """One task's part of a step.

    Attributes:
        task: the task's name.
        master: the task that drives the step.
        feeds: names of the tensors fed to this part, in the order they arrive.
        fetches: names of the tensors whose values this part returns, in order.
        stages: its program.
        rides: the cut from the master in whose message this part's start rides, or None where the master must start it by a message of its own.
    """

    task: str
    master: str
    feeds: tuple[str, ...]
    fetches: tuple[str, ...]
    stages: tuple[Stage, ...]
    rides: Cut | None

    def pack(self) -> bytes:
        """Encode for another task."""
        return pack((self.task, self.master, self.feeds, self.fetches, tuple(_plain_stage(s) for s in self.stages), _plain_cut(self.rides)))

    @classmethod
    def unpack(cls, data: bytes) -> Partition:
        """Decode what `pack` encoded.

        Raises:
            DataLossError: the bytes are not a partition.
        """
        try:
            task, master, feeds, fetches, stages, rides = unpack(data)
            return cls(task, master, feeds, fetches, tuple(_stage(s) for s in stages), None if rides is None else Cut(*rides))
        except (TypeError, ValueError) as error:
            raise DataLossError(f"the bytes received are not a partition of a plan: {error}") from None


@dataclass(frozen=True, slots=True)
class StepPlan:
    """What one `Session.run` does.

    Attributes:
        master: the task that drives the step.
        partitions: each task's part, by the task's name.
        cuts: all messages between tasks.
        fetches: for each fetch, the task that returns its value; None where the value was fed.
    """

    master: str
    partitions: Mapping[str, Partition]
    cuts: tuple[Cut, ...]
    fetches: tuple[tuple[str, str | None], ...]

    def __str__(self) -> str:
        lines = [f"StepPlan driven by {self.master}; partitions: {len(self.partitions)}, cuts: {len(self.cuts)}"]
        for name, part in self.partitions.items():
            lines.append(f"  {name}")
            if part.feeds:
                lines += _lines("fed", ", ".join(part.feeds))
            for number, stage in enumerate(part.stages):
                for cut in stage.receives:
                    lines += _lines("receive", f"#{cut.index} from {cut.source}: {', '.join(cut.tensors) or 'control'}")
                if stage.nodes:
                    lines += _lines(f"stage {number}", ", ".join(f"{n.name} ({n.type})" for n in stage.nodes))
                for cut in stage.sends:
                    lines += _lines("send", f"#{cut.index} to {cut.destination}: {', '.join(cut.tensors) or 'control'}")
                for node in stage.waits:
                    lines += _lines("wait", f"{node.name} ({node.type})")
            if part.fetches:
                lines += _lines("return", ", ".join(part.fetches))
        return "\n".join(lines)


def _lines(what: str, text: str) -> list[str]:
    return textwrap.wrap(text, 100, initial_indent=f"    {what:<8} ", subsequent_indent=" " * 13, break_long_words=False, break_on_hyphens=False)


def _plain_cut(cut: Cut | None) -> Any:
    return None if cut is None else (cut.index, cut.source, cut.destination, cut.stage, cut.tensors)


def _plain_stage(stage: Stage) -> Any:
    return (
        tuple(_plain_cut(c) for c in stage.receives),
        tuple(n.to_plain() for n in stage.nodes),
        tuple(_plain_cut(c) for c in stage.sends),
        tuple(n.to_plain() for n in stage.waits),
    )


def _stage(plain: Any) -> Stage:
    receives, nodes, sends, waits = plain
    return Stage(tuple(Cut(*c) for c in receives), tuple(Node(*n) for n in nodes), tuple(Cut(*c) for c in sends), tuple(Node(*n) for n in waits))
