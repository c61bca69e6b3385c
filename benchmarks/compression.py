"""What compression costs and saves: the digits' test accuracy against updates, and against bytes pushed, for each way to compress.

python benchmarks/compression.py [--steps 600] [--figure FILE]

Two workers train the MLP synchronously, between-graph, with the same seeds; after every few updates it is tested. Bytes are those that the transport counted,
headers included.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass, replace

import numpy as np
from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator

import pslab
from pslab.errors import UsageError
from pslab.lab.chart import STYLE, in_bytes
from pslab.lab.palette import BLUE, GREEN, GREY, ORANGE, PURPLE, VERMILION
from pslab.trace.summary import summarise
from pslab.train.compression import Compression, Float16, Int8, OneBit, RandomK, TopK
from pslab.train.strategy import Strategy
from pslab.train.updates import Sync

EVERY = 10
"""Updates between two tests."""
WANTED = 0.93
"""Test accuracy that is to be reached."""
WORKERS = 2
FORMATS: dict[str, tuple[Compression | None, str, str]] = {
    "none": (None, GREY, "-"),
    "float16": (Float16(), PURPLE, "-"),
    "int8": (Int8(), BLUE, "-"),
    "one-bit": (OneBit(), GREEN, "-"),
    "random-k 1 %": (RandomK(0.01), ORANGE, "-"),
    "top-k 1 %": (TopK(0.01), VERMILION, "-"),
}
"""Ways to compress, with a colour and a line style each; those with error feedback are shown without it, too."""


@dataclass(frozen=True)
class Course:
    """How a training went.

    Attributes:
        accuracies: test accuracy after each `EVERY` updates, from none on.
        bytes_per_update: bytes that all workers together push.
    """

    accuracies: np.ndarray
    bytes_per_update: float

    @property
    def steps(self) -> np.ndarray:
        """Updates at each test."""
        return EVERY * np.arange(len(self.accuracies))

    @property
    def steps_to_wanted(self) -> int | None:
        """Updates after which the accuracy is reached; None if it is not."""
        reached = np.flatnonzero(self.accuracies >= WANTED)
        return int(self.steps[reached[0]]) if len(reached) else None


def course(lab: pslab.Lab, compression: Compression | None, steps: int) -> Course:
    lab.mode(Strategy(update=Sync(), compression=compression))
    lab.model("mlp", hidden=(128,), learning_rate=0.1, seed=1)
    lab.train(1, wait=True)
    lab.reset()
    accuracies = [lab.evaluate()["accuracy"]]
    for _ in range(steps // EVERY):
        lab.train(EVERY, wait=True)
        accuracies.append(lab.evaluate()["accuracy"])
    return Course(np.array(accuracies), WORKERS * summarise(lab.records()).bytes_pushed_per_step)


def formats() -> dict[str, tuple[Compression | None, str, str]]:
    """All that are compared."""
    found = {}
    for name, (compression, colour, dash) in FORMATS.items():
        found[name] = compression, colour, dash
        if compression is not None and compression.error_feedback:
            found[f"{name}, no feedback"] = (replace(compression, error_feedback=False), colour, ":")
    return found


def table(courses: dict[str, Course]) -> str:
    whole = courses["none"].bytes_per_update
    lines = [f"{'compression':28}{'kB/update':>10}{'saved':>8}{f'updates to {WANTED:.0%}':>17}{'MB pushed':>11}{'accuracy at the end':>21}"]
    for name, one in courses.items():
        steps = one.steps_to_wanted
        pushed = "" if steps is None else f"{steps * one.bytes_per_update / 1e6:.2f}"
        lines.append(
            f"{name:28}{one.bytes_per_update / 1e3:10.1f}{f'{whole / one.bytes_per_update:.1f}×':>8}"
            f"{'not reached' if steps is None else steps:>17}{pushed:>11}{one.accuracies[-1]:21.3f}"
        )
    return "\n".join(lines)


def draw(courses: dict[str, Course]) -> Figure:
    with rc_context(STYLE):
        figure = Figure(figsize=(13, 6.2), layout="constrained", dpi=100)
        by_steps, by_bytes = figure.subplots(1, 2, sharey=True)
        for name, (_, colour, dash) in formats().items():
            one = courses[name]
            style = {"color": colour, "linestyle": dash, "label": name, "linewidth": 2.4 if dash == "-" else 1.8}
            by_steps.plot(one.steps, one.accuracies, **style)
            by_bytes.plot(one.steps[1:] * one.bytes_per_update, one.accuracies[1:], **style)
        by_steps.set(title="Accuracy by updates", xlabel="updates", ylabel="test accuracy", ylim=(0, 1))
        by_bytes.set(title="Accuracy by bytes", xlabel="bytes pushed by all workers", xscale="log")
        in_bytes(by_bytes.xaxis)
        by_bytes.xaxis.set_major_locator(LogLocator())
        for ax in (by_steps, by_bytes):
            ax.axhline(WANTED, color=GREY, linewidth=1, linestyle=(0, (4, 3)))
        by_bytes.text(0.01, WANTED + 0.01, f"{WANTED:.0%}", transform=by_bytes.get_yaxis_transform(), ha="left", va="bottom", color=GREY, fontsize=11)
        handles, labels = by_steps.get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=4, handlelength=2.2)
        return figure


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=600, help="updates of each training (600)")
    parser.add_argument("--figure", metavar="FILE", help="write a picture there")
    options = parser.parse_args()
    if options.steps < EVERY:
        raise UsageError(f"--steps must be at least {EVERY}, found {options.steps}")
    lab = pslab.Lab()
    lab.data("digits", batch_size=32, seed=0)
    lab.cluster.start(ps=1, workers=WORKERS, processes=False)
    try:
        courses = {name: course(lab, compression, options.steps) for name, (compression, _, _) in formats().items()}
    finally:
        lab.cluster.stop()
    print(table(courses))
    if options.figure:
        draw(courses).savefig(options.figure)


if __name__ == "__main__":
    main()
