"""Still figures of a training, by matplotlib: what a report or a slide shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter

from pslab.lab.palette import DASHES, FLOWS, PHASES, SERIES

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_STYLE: dict[str, Any] = {"linewidth": 1.6}
_BUCKETS = 200
"""Points that a curve over steps is averaged into."""


def training_figure(frame: pandas.DataFrame) -> Figure:
    """One training: loss, divergence of each worker, bytes per step, time per step; a line where the mode was changed.

    Args:
        frame: a table as `pslab.lab.tables.metrics_table` makes it.
    """
    figure = Figure(figsize=(12, 7.5), layout="constrained", dpi=110)
    axes = figure.subplots(2, 2)
    if not len(frame):
        return _nothing_yet(figure, axes)
    _draw_loss(axes[0, 0], frame)
    _draw_divergence(axes[0, 1], frame)
    usual = frame[~frame["observed"]]
    _draw_bytes(axes[1, 0], usual)
    _draw_times(axes[1, 1], usual)
    for ax in axes.flat:
        _mark_modes(ax, frame, label=ax is axes[0, 0] or ax is axes[0, 1])
        ax.set_xlabel("global step")
    return figure


def comparison_figure(frames: Mapping[str, pandas.DataFrame]) -> Figure:
    """Several trainings side by side: loss over steps, divergence, and what a step costs in bytes and time.

    Args:
        frames: a table per mode, by the mode's name.
    """
    figure = Figure(figsize=(12, 7.5), layout="constrained", dpi=110)
    axes = figure.subplots(2, 2)
    if not any(len(frame) for frame in frames.values()):
        return _nothing_yet(figure, axes)
    for number, (mode, frame) in enumerate(frames.items()):
        colour, dash = SERIES[number % len(SERIES)], DASHES[number % len(DASHES)]
        axes[0, 0].plot(*_averaged(frame, "loss"), color=colour, linestyle=dash, label=mode, **_STYLE)
        seen = frame[frame["divergence"].notna()]
        axes[0, 1].plot(seen["global_step"], seen["divergence"], "o", markersize=4, color=colour, label=mode, alpha=0.7)
    axes[0, 0].set(title="Loss", xlabel="global step", ylabel="loss", yscale="log")
    axes[0, 0].legend(frameon=False)
    axes[0, 1].set(title="Divergence of the replicas, just before their updates", xlabel="global step", ylabel=_DIVERGENCE)
    _scale_divergence(axes[0, 1], np.concatenate([frame["divergence"].to_numpy() for frame in frames.values()]))
    axes[0, 1].legend(frameon=False)
    _bars(axes[1, 0], frames, {name: (f"bytes_{name}", *FLOWS[name][:1], "") for name in FLOWS})
    axes[1, 0].set(title="Bytes per worker step")
    axes[1, 0].xaxis.set_major_formatter(FuncFormatter(_bytes))
    _bars(axes[1, 1], frames, {name: (name, *PHASES[name]) for name in PHASES})
    axes[1, 1].set(title="Time per worker step")
    axes[1, 1].xaxis.set_major_formatter(FuncFormatter(_seconds))
    return figure


_DIVERGENCE = "‖θ worker − θ ps‖ / ‖θ ps‖"


def _nothing_yet(figure: Figure, axes: Any) -> Figure:
    for ax, title in zip(axes.flat, ("Loss", "Divergence", "Bytes per step", "Time per step"), strict=True):
        ax.set(title=title, xticks=[], yticks=[])
        ax.text(0.5, 0.5, "no steps yet", ha="center", va="center", transform=ax.transAxes, color="0.5")
    return figure


def _draw_loss(ax: Axes, frame: pandas.DataFrame) -> None:
    for worker, mine in _by_worker(frame):
        colour, dash = SERIES[worker % len(SERIES)], DASHES[worker % len(DASHES)]
        ax.plot(mine["global_step"], mine["loss"], color=colour, alpha=0.15, linewidth=0.8)
        ax.plot(*_averaged(mine, "loss"), color=colour, linestyle=dash, label=f"worker:{worker}", **_STYLE)
    ax.set(title="Loss", ylabel="loss on the worker's batch")
    if (frame["loss"] > 0).all():
        ax.set_yscale("log")
    ax.legend(frameon=False, loc="lower left")


def _draw_divergence(ax: Axes, frame: pandas.DataFrame) -> None:
    seen = frame[frame["divergence"].notna()]
    for worker, mine in _by_worker(seen):
        colour, dash = SERIES[worker % len(SERIES)], DASHES[worker % len(DASHES)]
        ax.plot(
            mine["global_step"], mine["divergence"], color=colour, linestyle=dash, marker="o", markersize=3, linewidth=0.7, label=f"worker:{worker}"
        )
    ax.set(title="Divergence of each replica, just before its update", ylabel=_DIVERGENCE)
    _scale_divergence(ax, frame["divergence"].to_numpy())
    if len(seen):
        ax.legend(frameon=False, loc="best")


def _scale_divergence(ax: Axes, values: np.ndarray[Any, Any]) -> None:
    """Logarithmic, but with a zero: synchronous replicas do not diverge at all."""
    positive = values[values > 0]
    if len(positive):
        ax.set_yscale("symlog", linthresh=float(np.quantile(positive, 0.05)))
        ax.set_ylim(bottom=-0.2 * float(np.quantile(positive, 0.05)))


def _draw_bytes(ax: Axes, frame: pandas.DataFrame) -> None:
    for name, (colour, dash) in FLOWS.items():
        steps, sizes = _averaged(frame, f"bytes_{name}")
        if np.any(sizes > 0):
            ax.plot(steps, sizes, color=colour, linestyle=dash, label=name, **_STYLE)
    ax.set(title="Bytes per worker step", ylabel="bytes on the wire")
    ax.set_ylim(bottom=0)
    ax.yaxis.set_major_formatter(FuncFormatter(_bytes))
    if ax.lines:
        ax.legend(frameon=False, loc="lower left", ncols=3)


def _draw_times(ax: Axes, frame: pandas.DataFrame) -> None:
    series = {name: _averaged(frame, name) for name in PHASES}
    steps = next(iter(series.values()))[0]
    areas = ax.stackplot(steps, *(values for _, values in series.values()), labels=list(PHASES), colors=[PHASES[n][0] for n in PHASES])
    for area, name in zip(areas, PHASES, strict=True):
        area.set(hatch=PHASES[name][1], edgecolor="white", linewidth=0)
    ax.set(title="Time per worker step", ylabel="time")
    ax.yaxis.set_major_formatter(FuncFormatter(_seconds))
    ax.legend(frameon=True, framealpha=0.9, edgecolor="none", loc="upper left", ncols=4)
    top = float(np.sum([values for _, values in series.values()], axis=0).max()) if len(steps) else 0.0
    ax.set_ylim(0, top * 1.2 or 1)


def _mark_modes(ax: Axes, frame: pandas.DataFrame, label: bool) -> None:
    """A vertical line, and the mode's name, where a mode begins."""
    modes = frame["replication"] + " " + frame["update"]
    if modes.nunique() < 2:
        return
    ordered = frame.sort_values("global_step")
    modes = ordered["replication"] + " " + ordered["update"]
    begins = modes.ne(modes.shift())
    last = -np.inf
    span = max(1, ordered["global_step"].iloc[-1] - ordered["global_step"].iloc[0])
    for step, mode in zip(ordered["global_step"][begins], modes[begins], strict=True):
        if step - last < 0.02 * span:
            continue  # the steps of two modes may mix by a few where one ends
        ax.axvline(step, color="0.4", linewidth=0.8, linestyle=(0, (4, 3)))
        if label:
            where: dict[str, Any] = {"rotation": 90, "va": "top", "transform": ax.get_xaxis_transform(), "clip_on": True}
            ax.text(step + 0.006 * span, 0.98, mode, fontsize=8, color="0.3", **where)
        last = step


def _by_worker(frame: pandas.DataFrame) -> list[tuple[int, pandas.DataFrame]]:
    return [(worker, frame[frame["worker"] == worker]) for worker in sorted(int(w) for w in frame["worker"].unique())]


def _averaged(frame: pandas.DataFrame, column: str) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Means of a column over some hundred stretches of the global step."""
    steps, values = frame["global_step"].to_numpy(float), frame[column].to_numpy(float)
    if not len(steps):
        return steps, values
    first, last = steps.min(), steps.max()
    buckets = np.minimum(((steps - first) / max(last - first, 1) * _BUCKETS).astype(int), _BUCKETS - 1)
    counts = np.bincount(buckets, minlength=_BUCKETS)
    used = counts > 0
    mean_step = np.bincount(buckets, steps, _BUCKETS)[used] / counts[used]
    return mean_step, np.bincount(buckets, values, _BUCKETS)[used] / counts[used]


def _bars(ax: Axes, frames: Mapping[str, pandas.DataFrame], parts: Mapping[str, tuple[str, str, str]]) -> None:
    """One stacked bar per mode: the means of some columns."""
    names = list(frames)
    left = np.zeros(len(names))
    for label, (column, colour, hatch) in parts.items():
        widths = np.array([float(np.nan_to_num(frame.loc[~frame["observed"], column].mean())) for frame in frames.values()])
        ax.barh(range(len(names)), widths, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0, height=0.6, label=label)
        left += widths
    ax.set_yticks(range(len(names)), [name.replace(" ", "\n") for name in names])
    ax.invert_yaxis()
    ax.set_xlim(0, left.max() * 1.05 or 1)
    ax.legend(frameon=False, loc="upper center", bbox_to_anchor=(0.5, -0.1), ncols=len(parts))


def _bytes(value: float, _: Any = None) -> str:
    for unit in ("B", "kB", "MB"):
        if abs(value) < 1000:
            return f"{value:g} {unit}"
        value /= 1000
    return f"{value:g} GB"


def _seconds(value: float, _: Any = None) -> str:
    if value == 0:
        return "0"
    for scale, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if abs(value) >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value / 1e-6:.3g} µs"
