"""Where the replicas and the ps went, over the loss, as a still figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.colors import LogNorm, Normalize
from matplotlib.figure import Figure

from pslab.lab.chart import legend_below, styled
from pslab.lab.palette import MARKERS, SERIES
from pslab.train.distances import PS

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pslab.train.trajectories import Landscape

LEVELS = 18
"""Lines of equal loss."""


def trajectories_figure(landscape: Landscape, title: str) -> Figure:
    """The plane of the paths: shades for the loss, a line for each replica and for the ps, from a ring where it begins to a star where it ends."""
    with styled():
        figure = Figure(figsize=(9, 7), layout="constrained", dpi=100)
        axes = figure.add_subplot()
        _surface(axes, landscape)
        ordered = sorted(landscape.paths.items(), key=lambda item: item[0] == PS)  # the ps above all
        for name, (_, points) in ordered:
            _path(axes, name, points)
        labels = [
            f"{which} direction ({share:.0%} of the squared distances)" for which, share in zip(("first", "second"), landscape.shares, strict=True)
        ]
        axes.set(xlabel=labels[0], ylabel=labels[1], title=title)
        axes.grid(visible=False)
        axes.set_xlim(landscape.xs[0], landscape.xs[-1])
        axes.set_ylim(landscape.ys[0], landscape.ys[-1])
        legend_below(axes)
        return figure


def _surface(axes: Axes, landscape: Landscape) -> None:
    losses = np.ma.masked_invalid(landscape.losses)
    if losses.count() == 0 or losses.min() == losses.max():
        return
    low, high = float(losses.min()), float(losses.max())
    by_factors = low > 0 and high > 3 * low
    levels = np.geomspace(low, high, LEVELS) if by_factors else np.linspace(low, high, LEVELS)
    norm = LogNorm(low, high) if by_factors else Normalize(low, high)
    shades = axes.contourf(landscape.xs, landscape.ys, losses, levels, norm=norm, cmap="Greys", alpha=0.75)
    axes.contour(landscape.xs, landscape.ys, losses, levels, colors="white", linewidths=0.5)
    bar = axes.figure.colorbar(shades, ax=axes, label="loss on test examples", ticks=levels[:: max(1, LEVELS // 6)])
    bar.ax.set_yticklabels([f"{level:.3g}" for level in levels[:: max(1, LEVELS // 6)]])
    bar.ax.minorticks_off()


def _path(axes: Axes, name: str, points: Any) -> None:
    number = 0 if name == PS else int(name.partition(":")[2])
    colour = "black" if name == PS else SERIES[number % len(SERIES)]
    marker = "." if name == PS else MARKERS[number % len(MARKERS)]
    width = 2.2 if name == PS else 1.2
    axes.plot(points[:, 0], points[:, 1], color=colour, marker=marker, markersize=4, linewidth=width, label=name, alpha=1 if name == PS else 0.9)
    axes.plot(*points[0], marker="o", markersize=10, markerfacecolor="white", markeredgecolor=colour, markeredgewidth=2, linestyle="none", zorder=4)
    axes.plot(*points[-1], marker="*", markersize=14, markerfacecolor=colour, markeredgecolor="white", linestyle="none", zorder=5)
