"""Distances between replicas as tables for people."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pslab.train.distances import Distance

if TYPE_CHECKING:
    import pandas

    from pslab.train.divergence_history import Look
    from pslab.train.strategy import Strategy


def divergence_table(distances: Sequence[Distance]) -> pandas.DataFrame:
    """A row per pair and parameter, and one for all parameters."""
    import pandas

    return pandas.DataFrame(list(distances), columns=list(Distance._fields))


def divergence_history_table(looks: Sequence[Look], strategies: Sequence[Strategy]) -> pandas.DataFrame:
    """The same over time; ``time`` is in seconds since the first look."""
    import pandas

    rows = [(look.time - looks[0].time, look.global_step, str(strategies[look.strategy]), *d) for look in looks for d in look.distances]
    return pandas.DataFrame(rows, columns=["time", "global_step", "mode", *Distance._fields])
