"""How far replicas were apart, over time: from the ps, from each other, whether they went the same way, and in which parameters."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from pslab.lab.chart import legend_below, say, scale_divergence, styled
from pslab.lab.palette import DASHES, INK, MARKERS, SERIES
from pslab.train.distances import ALL, PS

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes

_TITLES = ("Replicas from the ps", "Replicas from each other", "Do they go the same way?", "Where they diverge: mean distance from the ps")


def divergence_figure(frame: pandas.DataFrame) -> Figure:
    """Four panels over the global step, with a line where the mode was changed.

    Args:
        frame: a table as `pslab.lab.divergence_tables.divergence_history_table` makes it.
    """
    with styled():
        figure = Figure(figsize=(13, 9.5), layout="constrained", dpi=100)
        axes = list(figure.subplots(2, 2).flat)
        for ax, title in zip(axes, _TITLES, strict=True):
            ax.set_title(title)
        if not len(frame):
            for ax in axes:
                say(ax, "no replica was looked at yet")
            return figure
        overall = frame[frame["parameter"] == ALL]
        served, between = overall[overall["second"] == PS], overall[overall["second"] != PS]
        _draw_pairs(axes[0], served, "distance", "‖θ worker − θ ps‖ / ‖θ ps‖")
        _draw_pairs(axes[1], between, "distance", "‖θ i − θ j‖ / ‖θ ps‖")
        _draw_pairs(axes[2], between[between["cosine"].notna()], "cosine", "cosine of displacements")
        if axes[2].lines:
            axes[2].set_ylim(-1.05, 1.05)
        for ax in axes[:3]:
            _mark_modes(ax, overall)
        _draw_parameters(axes[3], frame[(frame["parameter"] != ALL) & (frame["second"] == PS)])
        return figure


def _draw_pairs(ax: Axes, frame: pandas.DataFrame, column: str, label: str) -> None:
    for number, ((first, second), mine) in enumerate(frame.groupby(["first", "second"], sort=False)):
        style: dict[str, Any] = {
            "color": SERIES[number % len(SERIES)],
            "linestyle": DASHES[number % len(DASHES)],
            "marker": MARKERS[number % len(MARKERS)],
        }
        name = first if second == PS else f"{first} – {second}"
        ax.plot(mine["global_step"], mine[column], label=name, markersize=5, linewidth=1.4, **style)
    if not len(frame):
        say(ax, "there is one replica" if column == "distance" else "no two replicas move on their own")
        return
    ax.set(xlabel="global step", ylabel=label)
    ax.xaxis.set_major_locator(MaxNLocator(6, integer=True))
    if column == "distance":
        scale_divergence(ax, frame[column].to_numpy(float))
    legend_below(ax)


def _draw_parameters(ax: Axes, frame: pandas.DataFrame) -> None:
    """A heat map: a row per parameter, a column per look."""
    finite = frame[np.isfinite(frame["distance"])]
    table = finite.pivot_table(index="parameter", columns="global_step", values="distance", sort=False).sort_index(axis="columns")
    values = table.to_numpy(float)
    if not (values > 0).any():
        say(ax, "they do not diverge")
        return
    norm = LogNorm(float(np.nanmin(values[values > 0])), float(np.nanmax(values)))
    picture = ax.imshow(np.where(values > 0, values, np.nan), aspect="auto", cmap="cividis", norm=norm, interpolation="nearest")
    ax.grid(visible=False)
    ax.set_yticks(range(len(table)), list(table.index))
    shown = np.unique(np.linspace(0, len(table.columns) - 1, 6).astype(int))
    ax.set_xticks(shown, [str(table.columns[i]) for i in shown])
    ax.set_xlabel("global step of the look")
    ax.figure.colorbar(picture, ax=ax, label="‖Δ‖ / ‖θ ps‖ of the parameter")


def _mark_modes(ax: Axes, overall: pandas.DataFrame) -> None:
    if not ax.lines:
        return
    looks = overall.drop_duplicates("time")
    for step in looks["global_step"][looks["mode"].ne(looks["mode"].shift())].iloc[1:]:
        ax.axvline(step, color=INK, linewidth=1, linestyle=(0, (4, 3)))
