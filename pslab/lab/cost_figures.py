"""Still figures of what training costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from matplotlib.figure import Figure

from pslab.lab.chart import in_bytes, in_seconds, legend_below, say, styled
from pslab.lab.palette import FLOWS, PHASES, PURPLE

if TYPE_CHECKING:
    import pandas

    from pslab.lab.costs import Cost


def traffic_figure(links: pandas.DataFrame) -> Figure:
    """A bar per link and direction: bytes per worker step, to a ps (pushed), from a ps (pulled), or between others.

    Args:
        links: a table as `pslab.lab.costs.links_table` makes it.
    """
    with styled():
        figure = Figure(figsize=(9, 1.6 + 0.42 * max(len(links), 4)), layout="constrained", dpi=100)
        ax = figure.subplots()
        ax.set_title("Bytes per worker step, by link")
        if not len(links):
            say(ax, "nothing was sent yet")
            return figure
        kinds = [_kind(source, destination) for source, destination in zip(links["from"], links["to"], strict=True)]
        for kind, (colour, hatch) in {**{name: (FLOWS[name][0], FLOWS[name][2]) for name in ("pushed", "pulled")}, "other": (PURPLE, "xx")}.items():
            rows = [i for i, k in enumerate(kinds) if k == kind]
            if rows:
                widths = links["bytes_per_step"].to_numpy(float)[rows]
                ax.barh(rows, widths, color=colour, hatch=hatch, edgecolor="white", linewidth=0, height=0.7, label=kind)
        ax.set_yticks(range(len(links)), [f"{s} → {d}" for s, d in zip(links["from"], links["to"], strict=True)])
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
        in_bytes(ax.xaxis)
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.6 / (0.5 + 0.42 * max(len(links), 4))), ncols=3)
        return figure


def _kind(source: str, destination: str) -> str:
    to_ps, from_ps = destination.startswith("ps:"), source.startswith("ps:")
    return "other" if to_ps == from_ps else "pushed" if to_ps else "pulled"


def cost_figure(cost: Cost) -> Figure:
    """A worker's step, predicted above measured: where the time goes."""
    with styled():
        figure = Figure(figsize=(9, 3.4), layout="constrained", dpi=100)
        ax = figure.subplots()
        ax.set_title(f"Time per worker step; bottleneck: {cost.bottleneck}")
        table = cost.table
        left = np.zeros(len(table))
        for name, (colour, hatch) in PHASES.items():
            widths = table[name].to_numpy(float)
            ax.barh(range(len(table)), widths, left=left, color=colour, hatch=hatch, edgecolor="white", linewidth=0, height=0.6, label=name)
            left += widths
        ax.plot(table["step"], range(len(table)), "|", color="black", markersize=22, label="whole step")
        ax.set_yticks(range(len(table)), list(table.index))
        ax.invert_yaxis()
        ax.grid(visible=False, axis="y")
        in_seconds(ax.xaxis)
        legend_below(ax)
        return figure
