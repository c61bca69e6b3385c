"""Plans to be drawn."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import pslab as tf
from pslab.lab.graph_view.parts import Parts
from pslab.train.costing import steps_of
from pslab.train.plans import PlannedStep, sketch
from pslab.train.strategy import Strategy

MODES = {
    "async": Strategy(),
    "sync": Strategy(update=tf.Sync()),
    "in-graph async": Strategy("in-graph"),
    "in-graph sync": Strategy("in-graph", tf.Sync()),
    "ring": Strategy(update=tf.RingAllReduce()),
    "pipeline": Strategy("in-graph", tf.Pipeline(2)),
    "int8": Strategy(compression=tf.Int8()),
}


@cache
def steps(mode: str, ps: int = 1, workers: int = 2) -> Sequence[PlannedStep]:
    """The steps of a mode, of a small MLP on the digits."""
    lab = tf.Lab()
    data = lab.data("digits")
    model = lab.model("mlp", hidden=[32], stages=2 if mode == "pipeline" else 1)
    return steps_of(sketch(model, data, MODES[mode], ps, workers))


def parts(mode: str, ps: int = 1, workers: int = 2) -> Parts:
    """All that they do."""
    return Parts.of(steps(mode, ps, workers), 64, {})
