"""The demonstration: one model, four modes, a checkpoint that moves to another cluster, one picture."""

from __future__ import annotations

import contextlib
import dataclasses
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from pslab.errors import DeadlineExceededError, UsageError
from pslab.lab.lab import Lab
from pslab.trace.summary import summarise
from pslab.train.strategy import ALL_MODES, Strategy

if TYPE_CHECKING:
    import pandas


@dataclass(frozen=True)
class ModeFacts:
    """What was measured of one mode.

    Attributes:
        replication: ``"between-graph"`` or ``"in-graph"``.
        update: ``"sync"`` or ``"async"``.
        steps: updates of the parameters.
        worker_steps_per_s: steps per second, summed over the workers.
        test_accuracy: share of the test set that is classified rightly.
        bytes_pushed_per_step: bytes that a worker sends per step, counted at the transport.
        bytes_pulled_per_step: bytes that a worker receives per step.
        bytes_fed_per_step: bytes that come to a worker as feeds per step.
        staleness_mean: mean number of updates by others between a read and the update that follows from it.
        staleness_max: the greatest of them.
        wait_share: share of the workers' time spent waiting for others.
    """

    replication: str
    update: str
    steps: int
    worker_steps_per_s: float
    test_accuracy: float
    bytes_pushed_per_step: float
    bytes_pulled_per_step: float
    bytes_fed_per_step: float
    staleness_mean: float
    staleness_max: float
    wait_share: float


@dataclass(frozen=True)
class DemoFacts:
    """What the demonstration found.

    Attributes:
        modes: the four modes.
        checkpoint: path of the checkpoint of the last mode.
        picture: path of the picture.
        saved_accuracy: test accuracy when the checkpoint was written.
        restored_accuracy: test accuracy after it was restored onto ``restored_ps`` parameter servers.
        restored_ps: how many those were.
    """

    modes: tuple[ModeFacts, ...]
    checkpoint: str
    picture: str
    saved_accuracy: float
    restored_accuracy: float
    restored_ps: int

    def to_json(self) -> str:
        """The facts as JSON."""
        return json.dumps(dataclasses.asdict(self), indent=2) + "\n"


Progress = Callable[[str, int, int], None]
"""Told what is done now, how much of it, and how much there is to do."""


def run_demo(directory: Path, steps: int, ps: int, workers: int, progress: Progress) -> DemoFacts:
    """Train an MLP on the digits in all four modes, and move it to a cluster with one more ps.

    Args:
        directory: where the checkpoint and the picture go; made if it is not there.
        steps: updates per mode.
        ps: parameter servers.
        workers: workers.
        progress: told how far it is.

    Raises:
        UsageError: the directory cannot be made, or a number is less than 1.
    """
    if steps < 1:
        raise UsageError(f"steps must be at least 1, found {steps}")
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {directory}: {error.strerror}", "give another --out") from None
    directory = directory.resolve()
    lab = Lab()
    try:
        progress("starting the cluster", 0, 1)
        lab.cluster.start(ps=ps, workers=workers)
        lab.data("digits")
        lab.model("mlp", hidden=[128])
        frames: dict[str, pandas.DataFrame] = {}
        modes = []
        for strategy in ALL_MODES:
            modes.append(_train(lab, strategy, steps, progress))
            frames[str(strategy)] = lab.metrics()
        picture = directory / "modes.png"
        _draw(frames, picture)
        checkpoint = lab.save(directory / "digits")
        progress(f"restoring into {ps + 1} ps", 0, 1)
        lab.cluster.stop()
        lab.cluster.start(ps=ps + 1, workers=workers)
        lab.restore(checkpoint)
        restored = lab.evaluate()["accuracy"]
        return DemoFacts(tuple(modes), checkpoint, str(picture), modes[-1].test_accuracy, restored, ps + 1)
    finally:
        lab.cluster.stop()


def _train(lab: Lab, strategy: Strategy, steps: int, progress: Progress) -> ModeFacts:
    lab.mode(strategy)
    lab.reset()
    lab.train(steps)
    while (status := lab.status()).state == "running":
        progress(str(strategy), status.global_step, steps)
        with contextlib.suppress(DeadlineExceededError):
            lab.wait(timeout=0.1)
    progress(str(strategy), steps, steps)
    if status.state != "done":
        raise UsageError(f"the training in mode {strategy} is {status.state}: {status.message}")
    summary = summarise(lab.records())
    return ModeFacts(
        str(strategy.replication),
        str(strategy.update),
        status.global_step,
        summary.worker_steps_per_s,
        lab.evaluate()["accuracy"],
        summary.bytes_pushed_per_step,
        summary.bytes_pulled_per_step,
        summary.bytes_fed_per_step,
        summary.staleness_mean,
        summary.staleness_max,
        summary.wait_share,
    )


def _draw(frames: dict[str, pandas.DataFrame], path: Path) -> None:
    from pslab.lab.figures import comparison_figure

    comparison_figure(frames).savefig(path)
