"""An experiment in a few rows: a row per point, means over its runs and how far they spread."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from pslab.lab.chart import bytes_said, seconds_said
from pslab.lab.display import Shown
from pslab.lab.sweep import Sweep

if TYPE_CHECKING:
    import pandas

OUTCOMES = ("reached", "not reached", "done", "failed")


def summary(sweep: Sweep) -> pandas.DataFrame:
    """A row per point: how many of its runs ended how, means of the figures, and beside each the standard deviation over the seeds as ``…_std``."""
    import pandas

    table = sweep.table
    figures = [c for c in table.columns if c not in (*sweep.plan.keys, "seed", "outcome", "message")]
    rows = []
    for point in sweep.plan.points:
        mine = table
        for key, value in point.items():
            mine = mine[mine[key] == value.label]
        outcomes = {outcome: int((mine["outcome"] == outcome).sum()) for outcome in OUTCOMES}
        numbers = mine[figures].astype(float)
        spread = {name: part for c in figures for name, part in ((c, numbers[c].mean()), (f"{c}_std", numbers[c].std()))}
        rows.append({**{key: value.label for key, value in point.items()}, "runs": len(mine), **outcomes, **spread})
    return pandas.DataFrame(rows)


def show_sweep(sweep: Sweep) -> Shown:
    """What a notebook shows of it."""
    plan, table = sweep.plan, summary(sweep)
    target = plan.until.target
    tested = "test_accuracy" if "test_accuracy" in table else "test_loss"
    columns = [
        *plan.keys,
        *([target] if target else []),
        "seconds",
        "updates",
        "bytes",
        tested.replace("_", " "),
        "staleness",
    ]
    costs = ("seconds_to_target", "steps_to_target", "bytes_to_target") if target else ("seconds", "steps", "bytes")
    rows = []
    for _, row in table.iterrows():
        reached = [f"{row['reached']} of {row['runs']}"] if target else []
        cells = [
            _spread(row, costs[0], seconds_said),
            _spread(row, costs[1], lambda value: f"{value:,.0f}"),
            _spread(row, costs[2], bytes_said),
            _spread(row, tested, lambda value: f"{value:.3f}"),
            _spread(row, "staleness_mean", lambda value: f"{value:.2f}"),
        ]
        rows.append([*(row[key] for key in plan.keys), *reached, *cells])
    return Shown(f"sweep over {', '.join(plan.keys)}, until {plan.until}: {len(sweep)} of {sweep.planned} runs", columns, rows, _note(sweep))


def _spread(row: pandas.Series, name: str, said: Callable[[float], str]) -> str:
    mean, std = float(row[name]), float(row[f"{name}_std"])
    if math.isnan(mean):
        return "–"
    return said(mean) if math.isnan(std) else f"{said(mean)} ± {said(std)}"


def _note(sweep: Sweep) -> str:
    table = sweep.table
    failed = table[table["outcome"] == "failed"]
    notes = [f"{len(failed)} failed, the first with: {failed['message'].iloc[0]}"] if len(failed) else []
    if sweep.missing:
        notes.append(how_to_go_on(sweep))
    return "; ".join(notes)


def how_to_go_on(sweep: Sweep) -> str:
    """What to do about runs that are missing."""
    how = f"path={str(sweep.path)!r}" if sweep.path else "resume= and this result (%pslab sweep: --resume)"
    return f"{len(sweep)} of {sweep.planned} runs are there; the same again with {how} goes on"
