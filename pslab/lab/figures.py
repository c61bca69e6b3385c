"""Still figures of a training, by matplotlib: what a report or a slide shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pslab.lab.chart import averaged, in_bytes, in_seconds, legend_below, modes, say, scale_divergence, scale_loss, styled
from pslab.lab.palette import DASHES, FLOWS, INK, MARKERS, PHASES, SERIES

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_DIVERGENCE = "‖θ worker − θ ps‖ / ‖θ ps‖"
_LONGEST = 32
"""Letters of a mode's name that a slanted one may have."""
_TITLES = ("Loss", "Divergence, just before the update", "Bytes per worker step", "Time per worker step")


def training_figure(frame: pandas.DataFrame) -> Figure:
    """One training: loss, divergence of each worker, bytes per step, time per step; a line where the mode was changed.

    Observed steps cost more than others, and are left out of bytes and times.

    Args:
        frame: a table as `pslab.lab.tables.metrics_table` makes it.
    """
    with styled():
        figure, axes = _panels()
        if not len(frame):
            return _nothing_yet(figure, axes)
        loss, divergence, sizes, times = axes
        usual = frame[~frame["observed"]]
        _draw_loss(loss, frame)
        _draw_divergence(divergence, frame[frame["divergence"].notna()])
        _draw_bytes(sizes, usual)
        _draw_times(times, usual)
        begins = _mode_begins(frame)
        for ax in axes:
            if not ax.has_data():
                say(ax, "no step was observed yet" if ax is divergence else "each step so far was observed")
                continue
            ax.set_xlabel("global step")
            ax.set_xlim(*_span(frame))
            ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
            for step in begins:
                ax.axvline(step, color=INK, linewidth=1, linestyle=(0, (4, 3)))
            legend_below(ax)
            if ax in (loss, divergence):
                _name_modes(ax, begins)
        return figure


def comparison_figure(frames: Mapping[str, pandas.DataFrame]) -> Figure:
    """Several trainings side by side: loss over steps, divergence, and what a step costs in bytes and time.

    Args:
        frames: a table per mode, by the mode's name.
    """
    with styled():
        figure, axes = _panels()
        if not any(len(frame) for frame in frames.values()):
            return _nothing_yet(figure, axes)
        loss, divergence, sizes, times = axes
        for number, (mode, frame) in enumerate(frames.items()):
            style = _series(number)
            loss.plot(*averaged(frame, "loss"), label=mode, **style)
            seen = frame[frame["divergence"].notna()]
            marker = {"color": style["color"], "marker": MARKERS[number % len(MARKERS)], "linestyle": "none", "markersize": 6, "alpha": 0.8}
            divergence.plot(seen["global_step"], seen["divergence"], label=mode, **marker)
        loss.set(xlabel="global step", ylabel="mean loss on a batch")
        scale_loss(loss, np.concatenate([line.get_ydata() for line in loss.lines]))
        divergence.set(xlabel="global step", ylabel=_DIVERGENCE)
        scale_divergence(divergence, np.concatenate([frame["divergence"].to_numpy(float) for frame in frames.values()]))
        usual = {mode: frame[~frame["observed"]] for mode, frame in frames.items()}
        _bars(sizes, usual, {name: (f"bytes_{name}", colour, hatch) for name, (colour, _, hatch) in FLOWS.items()})
        sizes.set_xlabel("bytes on the wire")
        in_bytes(sizes.xaxis)
        _bars(times, usual, {name: (name, *PHASES[name]) for name in PHASES})
        times.set_xlabel("time")
        in_seconds(times.xaxis)
        for ax in axes:
            legend_below(ax)
        return figure


def _panels() -> tuple[Figure, list[Axes]]:
    figure = Figure(figsize=(13, 9.5), layout="constrained", dpi=100)
    axes = list(figure.subplots(2, 2).flat)
    for ax, title in zip(axes, _TITLES, strict=True):
        ax.set_title(title)
    return figure, axes


def _nothing_yet(figure: Figure, axes: list[Axes]) -> Figure:
    for ax in axes:
        say(ax, "no steps yet")
    return figure


def _series(number: int) -> dict[str, Any]:
    """What a worker's or a mode's line looks like."""
    return {"color": SERIES[number % len(SERIES)], "linestyle": DASHES[number % len(DASHES)]}


def _by_worker(frame: pandas.DataFrame) -> list[tuple[int, pandas.DataFrame]]:
    return [(worker, frame[frame["worker"] == worker]) for worker in sorted(int(w) for w in frame["worker"].unique())]


def _draw_loss(ax: Axes, frame: pandas.DataFrame) -> None:
    for worker, mine in _by_worker(frame):
        ax.plot(mine["global_step"], mine["loss"], color=SERIES[worker % len(SERIES)], alpha=0.25, linewidth=0.7)
    for worker, mine in _by_worker(frame):
        ax.plot(*averaged(mine, "loss"), marker="o" if len(mine) == 1 else "", label=f"worker:{worker}", **_series(worker))
    ax.set_ylabel("loss on the worker's batch")
    scale_loss(ax, frame["loss"].to_numpy(float))


def _draw_divergence(ax: Axes, seen: pandas.DataFrame) -> None:
    if not len(seen):
        return
    for worker, mine in _by_worker(seen):
        marker = {"marker": MARKERS[worker % len(MARKERS)], "markersize": 6, "linewidth": 1}
        ax.plot(mine["global_step"], mine["divergence"], label=f"worker:{worker}", **(_series(worker) | marker))
    ax.set_ylabel(_DIVERGENCE)
    scale_divergence(ax, seen["divergence"].to_numpy(float))


def _draw_bytes(ax: Axes, usual: pandas.DataFrame) -> None:
    if not len(usual):
        return
    for name, (colour, dash, _) in FLOWS.items():
        steps, sizes = averaged(usual, f"bytes_{name}")
        if np.any(sizes > 0) or name != "fed":
            ax.plot(steps, sizes, color=colour, linestyle=dash, marker="o" if len(steps) == 1 else "", label=name)
    ax.set_ylabel("bytes on the wire")
    ax.set_ylim(0, 1.1 * ax.dataLim.ymax or 1)
    in_bytes(ax.yaxis)


def _draw_times(ax: Axes, usual: pandas.DataFrame) -> None:
    if not len(usual):
        return
    known = usual.fillna(dict.fromkeys(PHASES, 0.0))
    curves = [averaged(known, name) for name in PHASES]
    steps, values = curves[0][0], np.array([times for _, times in curves])
    if len(steps) == 1:  # an area needs a width
        steps, values = steps[0] + np.array([-0.5, 0.5]), np.repeat(values, 2, axis=1)
    areas = ax.stackplot(steps, values, labels=list(PHASES), colors=[colour for colour, _ in PHASES.values()])
    for area, (_, hatch) in zip(areas, PHASES.values(), strict=True):
        area.set(hatch=hatch, edgecolor="white", linewidth=0)
    ax.set_ylabel("time")
    ax.set_ylim(0, 1.1 * values.sum(axis=0).max(initial=0) or 1)
    in_seconds(ax.yaxis)


def _span(frame: pandas.DataFrame) -> tuple[float, float]:
    """The global steps shown, with a little room on both sides."""
    first, last = float(frame["global_step"].min()), float(frame["global_step"].max())
    room = max(1.0, 0.03 * (last - first))
    return first - room, last + room


def _mode_begins(frame: pandas.DataFrame) -> dict[float, str]:
    """The global step where each stretch of a mode begins; empty where there is only one. Steps of two modes mix by a few where one ends."""
    ordered = frame.sort_values("global_step", kind="stable")
    mode_of = modes(ordered)
    if mode_of.nunique() < 2:
        return {}
    steps = ordered["global_step"].to_numpy(float)
    nearest = 0.02 * np.ptp(steps)
    begins: dict[float, str] = {}
    for step, mode in zip(steps[mode_of.ne(mode_of.shift())], mode_of[mode_of.ne(mode_of.shift())], strict=True):
        if not begins or step - max(begins) >= nearest:
            begins[float(step)] = mode
        else:
            begins[max(begins)] = mode
    return begins


def _name_modes(ax: Axes, begins: Mapping[float, str]) -> None:
    """Write each mode above where it begins, slanted where level names would meet."""
    steps = list(begins)
    low, high = ax.get_xlim()
    slanted = any(gap < 0.24 * (high - low) for gap in np.diff([*steps, high]))
    style: dict[str, Any] = {"rotation": 30, "rotation_mode": "anchor"} if slanted else {}
    for step, mode in begins.items():
        words = _cut(mode) if slanted else _in_lines(mode)
        ax.text(step, 1.015, words, transform=ax.get_xaxis_transform(), fontsize=11, color=INK, ha="left", va="bottom", **style)
    if begins:
        longest, lines = max(len(_cut(mode)) for mode in begins.values()), max(_in_lines(mode).count("\n") + 1 for mode in begins.values())
        ax.set_title(ax.get_title(loc="left"), pad=30 + 3.2 * longest if slanted else 8 + 16 * lines)


def _cut(mode: str) -> str:
    return mode if len(mode) <= _LONGEST else mode[: _LONGEST - 1] + "…"


def _in_lines(mode: str) -> str:
    return mode.replace(" ", "\n", 1).replace(", ", ",\n")


def _bars(ax: Axes, frames: Mapping[str, pandas.DataFrame], parts: Mapping[str, tuple[str, str, str]]) -> None:
    """One stacked bar per mode: the means of some columns."""
    names = list(frames)
    left = np.zeros(len(names))
    for label, (column, colour, hatch) in parts.items():
        widths = np.array([float(np.nan_to_num(frame[column].mean())) for frame in frames.values()])
        ax.barh(range(len(names)), widths, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0, height=0.6, label=label)
        left += widths
    ax.set_yticks(range(len(names)), [_in_lines(name) for name in names])
    ax.invert_yaxis()
    ax.grid(visible=False, axis="y")
    ax.set_xlim(0, left.max() * 1.08 or 1)
