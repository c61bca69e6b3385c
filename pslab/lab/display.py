"""What the verbs of ``%pslab`` show: plain text in a terminal, small tables in JupyterLab."""

from __future__ import annotations

import html
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pslab.train.distances import ALL
from pslab.train.loop import OUT_OF_DATA
from pslab.train.race import DROPPED

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from pslab.cluster import ClusterStatus
    from pslab.lab.costs import Cost
    from pslab.lab.status import LabStatus, LoopState
    from pslab.train.merge_gap import MergeGap
    from pslab.train.stepping import Passage

_CELL = "text-align:left;padding:2px 14px 2px 0;font-family:var(--jp-code-font-family,monospace);font-size:13px"


class Shown:
    """A heading, a table and a note, in text and in HTML.

    Args:
        heading: one line.
        columns: headings of the table's columns.
        rows: its rows.
        note: a line below, or an empty string.
    """

    def __init__(self, heading: str, columns: Sequence[str] = (), rows: Sequence[Sequence[Any]] = (), note: str = "") -> None:
        self._heading = heading
        self._columns = columns
        self._rows = [[str(cell) for cell in row] for row in rows]
        self._note = note

    def __repr__(self) -> str:
        lines = [self._heading]
        if self._rows:
            table = [list(self._columns), *self._rows] if self._columns else self._rows
            widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
            lines += ["  " + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in table]
        return "\n".join([*lines, *([self._note] if self._note else [])])

    def _repr_html_(self) -> str:
        parts = [f"<div style='color:var(--jp-content-font-color1,inherit)'>{html.escape(self._heading)}"]
        if self._rows:
            head = "".join(f"<th style='{_CELL};opacity:.65'>{html.escape(c)}</th>" for c in self._columns)
            head = f"<tr>{head}</tr>" if head else ""
            body = "".join("<tr>" + "".join(f"<td style='{_CELL}'>{html.escape(c)}</td>" for c in row) + "</tr>" for row in self._rows)
            parts.append(f"<table style='margin:4px 0'>{head}{body}</table>")
        if self._note:
            parts.append(f"<div style='opacity:.75'>{html.escape(self._note)}</div>")
        return "".join([*parts, "</div>"])


def show_cluster(status: ClusterStatus, note: str = "") -> Shown:
    """The tasks of a cluster, and a note; its own by default."""
    rows = [(t.name, t.state, t.pid, t.host, f"{t.memory / 1e6:.0f} MB", t.restarts or "", t.delay) for t in status.tasks]
    kind = "processes" if status.processes else "threads of one process"
    return Shown(
        f"cluster of {len(status.tasks) - 1} tasks, {kind}",
        ("task", "state", "pid", "host", "memory", "restarts", "slower by"),
        rows,
        note or status.note,
    )


def show_status(status: LabStatus) -> Shown:
    """How the training fares."""
    figures = [("loss", status.loss), *status.metrics.items()]
    said = ", ".join(f"{name} {value:.4g}" for name, value in figures if not math.isnan(value))
    speed = "" if math.isnan(status.steps_per_s) or status.state != "running" else f", {status.steps_per_s:,.0f} worker steps/s"
    dropped = f", {status.dropped} gradient{'s' if status.dropped > 1 else ''} dropped" if status.dropped else ""
    compression = f", {status.compression}" if status.compression else ""
    heading = (
        f"{status.state}: {status.model} on {status.dataset}, {status.replication} {status.update}{compression}, "
        f"step {status.global_step} of {status.target_step}{speed}{dropped}" + (f" — {said}" if said else "")
    )
    rows = [(loop.name, _what_it_does(loop, status), loop.step) for loop in status.workers]
    slow = "; ".join(f"{task} is slow: {delay} more in each step" for task, delay in status.slow.items())
    divided = "; ".join(f"{worker} has {what}" for worker, what in status.divided.items())
    told = (status.message, "" if status.state == OUT_OF_DATA else out_of_data(status), slow, divided)
    return Shown(heading, ("loop", "state", "steps in this mode"), rows, "; ".join(said for said in told if said))


def out_of_data(status: LabStatus) -> str:
    """Who is out of data; empty where nobody is."""
    return f"out of data: {', '.join(status.out_of_data)}" if status.out_of_data else ""


def _what_it_does(loop: LoopState, status: LabStatus) -> str:
    """Between-graph and sync, a worker is ahead: when the last update is made it is within a step, whose gradient is not asked for."""
    return "waiting" if loop.state == "running" and status.state in ("paused", "done") else loop.state


def show_figures(heading: str, figures: Mapping[str, float]) -> Shown:
    """Numbers by name."""
    return Shown(heading, (), [(name, f"{value:.4f}") for name, value in figures.items()])


def show_table(heading: str, table: pandas.DataFrame) -> Shown:
    """A table, its fractions in few digits."""
    rows = [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row] for row in table.itertuples(index=False)]
    return Shown(heading, tuple(str(c).replace("_", " ") for c in table.columns), rows)


def show_cost(cost: Cost) -> Shown:
    """A step, predicted and measured."""
    rows = [(name, *(f"{seconds * 1e3:.2f} ms" for seconds in row)) for name, row in zip(cost.table.index, cost.table.to_numpy(), strict=True)]
    ratio = cost.predicted.step / cost.measured["wall"]
    heading = f"a worker's step, predicted and measured ({cost.steps} steps): {ratio:.2f} of the measured; links: {cost.network}"
    return Shown(heading, ("", *cost.table.columns), rows, cost.why)


def show_divergence(table: pandas.DataFrame) -> Shown:
    """The distances over all parameters, a row per pair."""
    overall = table[table["parameter"] == ALL]
    figures = zip(overall["first"], overall["second"], overall["distance"], overall["cosine"], strict=True)
    rows = [(f"{a} – {b}", f"{distance:.3g}", "" if math.isnan(cosine) else f"{cosine:+.3f}") for a, b, distance, cosine in figures]
    return Shown("the replicas at their last commits, all parameters", ("pair", "‖Δθ‖ / ‖θ ps‖", "cosine of displacements"), rows)


def show_merge_gap(merged: MergeGap) -> Shown:
    """The losses of the replicas, that of their average, and the gap."""
    rows = [(worker, f"{loss:.4f}") for worker, loss in merged.losses.items()]
    rows += [("average of the parameters", f"{merged.average:.4f}"), ("gap", f"{merged.gap:+.4f}")]
    return Shown(f"loss on the test set, at the commits of step {merged.global_step}", (), rows)


def show_passages(passages: Sequence[Passage]) -> Shown:
    """What happened to messages that were let in, and what waits now."""
    rows = [(p.message, "" if p.read is None else p.read, _stale(p), p.updates, p.global_step) for p in passages]
    waiting = [*map(str, passages[-1].waiting), *(f"worker:{worker} for slower ones" for worker in passages[-1].held)]
    columns = ("message", "computed at version", "stale", "version now", "global step")
    return Shown("let in, one after the other", columns, rows, f"waiting now: {', '.join(waiting) or 'nothing'}")


def _stale(passage: Passage) -> str:
    dropped = ", dropped" if passage.outcome == DROPPED else ""
    return "" if passage.staleness is None else f"{passage.staleness}{dropped}"


def show_predictions(outputs: Mapping[str, Any]) -> Shown:
    """A row per example."""
    names = list(outputs)
    count = len(outputs[names[0]]) if names else 0
    rows = [(i, *(_short(outputs[name][i]) for name in names)) for i in range(count)]
    return Shown(f"{count} examples of the test set", ("example", *names), rows)


def _short(value: Any) -> str:
    text = str(value)
    return text if len(text) <= 40 else text[:39] + "…"


def kept(figure: Figure, path: str | Path | None) -> Figure:
    """The figure, written to ``path`` if there is one."""
    if path is not None:
        figure.savefig(Path(path).expanduser())
    return figure
