"""The figure of an experiment: what it takes to reach the target, or what was reached, over the settings; and the learning curves."""

from __future__ import annotations

from collections.abc import Callable
from textwrap import fill, wrap
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.ticker import FixedLocator, FuncFormatter, MaxNLocator, NullLocator
from matplotlib.transforms import ScaledTranslation

from pslab.lab.chart import in_bytes, in_seconds, legend_below, say, scale_loss, styled
from pslab.lab.palette import INK, MARKERS
from pslab.lab.sweep import Sweep
from pslab.lab.sweep_series import Dash, Layout, layout_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.axes import Axes


_CROSS: dict[str, Any] = {"marker": "x", "markersize": 9, "markeredgewidth": 2, "linestyle": "none", "clip_on": False}
"""What a run looks like that did not reach the target."""


_WIDTH = 26
"""Letters that the name of a row may have on a line."""


class Panel(NamedTuple):
    """What a panel shows.

    Attributes:
        column: of the table.
        title: for people.
        unit: lets an axis say its unit.
    """

    column: str
    title: str
    unit: Callable[[Any], None]


def sweep_figure(sweep: Sweep) -> Figure:
    """Three panels over the settings, and the learning curves.

    Over a setting with numbers: a line through the means of the seeds, a band from the least to the greatest, a dot for each run; a line for each
    combination of the other settings. Over settings in words: a row for each, a dot for each run and a bar at the mean. A run that did not reach the
    target is a cross at the edge; one that failed is not drawn, and counted.
    """
    table, curves = sweep.table, sweep.curves
    tested = "test_accuracy" if "test_accuracy" in table and sweep.plan.until.loss is None else "test_loss"
    with styled():
        panels, layout = _panels(sweep.plan.until.target, tested), layout_of(sweep)
        figure = Figure(figsize=(13, _height(layout)), layout="constrained", dpi=100)
        axes = list(figure.subplots(2, 2).flat)
        drawn = table[table["outcome"] != "failed"]
        for ax, panel in zip(axes, panels, strict=False):
            ax.set_title(panel.title)
            if not len(drawn):
                say(ax, "each run so far has failed" if len(table) else "no run was made yet")
            elif layout.x is None:
                _draw_rows(ax, drawn, layout, panel)
            else:
                _draw_lines(ax, drawn, layout, panel)
        _draw_curves(axes[3], curves, layout, tested, sweep)
        _tell(figure, layout, table)
    return figure


def _height(layout: Layout) -> float:
    """Inches that let the names of rows stand apart."""
    if layout.x is not None:
        return 10.0
    lines = max(len(wrap(series.name, _WIDTH)) for series in layout.series) + 0.4
    return max(10.0, 3.0 + 2 * 0.2 * lines * len(layout.series))


def _panels(target: str, tested: str) -> tuple[Panel, Panel, Panel]:
    if target:
        return (
            Panel("seconds_to_target", f"Training time to {target}", in_seconds),
            Panel("examples_to_target", f"Examples to {target}", _in_numbers),
            Panel("bytes_to_target", f"Bytes on the wire to {target}", in_bytes),
        )
    return (
        Panel(tested, f"Test {tested.removeprefix('test_')} at the end", _in_numbers),
        Panel("seconds", "Training time", in_seconds),
        Panel("bytes", "Bytes on the wire", in_bytes),
    )


def _in_numbers(axis: Any) -> None:
    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.6g}"))


# Over numbers


def _draw_lines(ax: Axes, table: pandas.DataFrame, layout: Layout, panel: Panel) -> None:
    assert layout.x is not None
    for series in layout.series:
        mine = series.of(table)
        known = mine[mine[panel.column].notna()]
        by_value = known.groupby(layout.x)[panel.column]
        at = by_value.mean().index.to_numpy(float)
        ax.fill_between(at, by_value.min().to_numpy(float), by_value.max().to_numpy(float), color=series.colour, alpha=0.15, linewidth=0)
        ax.plot(known[layout.x], known[panel.column], color=series.colour, marker=series.marker, linestyle="none", markersize=4, alpha=0.5)
        ax.plot(at, by_value.mean(), color=series.colour, linestyle=series.dash, marker=series.marker, markersize=8, label=series.name)
    _place_values(ax, layout)
    panel.unit(ax.yaxis)
    if panel.column not in ("test_accuracy", "test_loss"):
        ax.set_ylim(0, 1.12 * (ax.dataLim.ymax if ax.dataLim.ymax > 0 else 1))
    _cross_out(ax, table, layout, panel)


def _place_values(ax: Axes, layout: Layout) -> None:
    """Ticks where the values are; powers of a number are evenly apart."""
    assert layout.x is not None
    values = np.array(layout.values, float)
    share = 0.05 + 0.01 * len(layout.series)  # of the width, on both sides
    ax.set_xlabel(layout.x.replace("_", " "))
    if values[0] > 0 and values[-1] >= 4 * values[0] and len(values) > 2:
        ax.set_xscale("log", base=2)
        room = (values[-1] / values[0]) ** share
        ax.set_xlim(values[0] / room, values[-1] * room)
    else:
        room = share * float(np.ptp(values))
        ax.set_xlim(values[0] - room, values[-1] + room)
    if len(values) <= 8:
        ax.xaxis.set_major_locator(FixedLocator(list(values)))
    ax.xaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))


def _cross_out(ax: Axes, table: pandas.DataFrame, layout: Layout, panel: Panel) -> None:
    """Crosses in a strip above the data for runs that did not reach the target, beside each other where there are several series."""
    if not panel.column.endswith("_to_target") or table[panel.column].notna().all():
        return
    ax.set_ylim(0, 1.12 * ax.get_ylim()[1])
    for series in layout.series:
        mine = series.of(table)
        lost = mine[mine[panel.column].isna()][layout.x].unique()
        beside = ScaledTranslation((series.number - (len(layout.series) - 1) / 2) * 11 / 72, 0, ax.figure.dpi_scale_trans)
        ax.plot(lost, np.full(len(lost), 0.95), transform=ax.get_xaxis_transform() + beside, color=series.colour, **_CROSS)


# Over words


def _draw_rows(ax: Axes, table: pandas.DataFrame, layout: Layout, panel: Panel) -> None:
    for series in layout.series:
        values = series.of(table)[panel.column]
        known = values[values.notna()].to_numpy(float)
        if len(known):
            ax.plot(known, np.full(len(known), series.number), color=series.colour, marker=series.marker, linestyle="none", markersize=8, alpha=0.6)
            ax.plot([known.mean()] * 2, [series.number - 0.28, series.number + 0.28], color=series.colour, linewidth=4, solid_capstyle="butt")
        if panel.column.endswith("_to_target") and len(known) < len(values):
            ax.plot([0.98], [series.number], transform=ax.get_yaxis_transform(), color=series.colour, **_CROSS)
    ax.set_yticks(range(len(layout.series)), [fill(series.name, _WIDTH) for series in layout.series])
    ax.set_ylim(len(layout.series) - 0.5, -0.5)
    ax.grid(visible=False, axis="y")
    panel.unit(ax.xaxis)
    if panel.column not in ("test_accuracy", "test_loss"):
        ax.set_xlim(0, 1.12 * (ax.dataLim.xmax if ax.dataLim.xmax > 0 else 1))


# Learning curves


def _draw_curves(ax: Axes, curves: pandas.DataFrame, layout: Layout, tested: str, sweep: Sweep) -> None:
    """Each run as a thin line, and the mean of a point's runs for as long as all of them went on."""
    what = tested.removeprefix("test_")
    ax.set_title(f"Test {what} over time")
    if not len(curves):
        say(ax, "no run was made yet")
        return
    for series in layout.series:
        mine = series.of(curves)
        if layout.x is None:
            _draw_point(ax, mine, tested, series.colour, series.dash, series.marker)
        for place, value in enumerate(layout.values):
            at = mine[mine[layout.x] == value]
            _draw_point(ax, at, tested, _shade(series.colour, place, len(layout.values)), series.dash, MARKERS[place % len(MARKERS)])
    goal = getattr(sweep.plan.until, what)
    if goal is not None:
        ax.axhline(goal, color=INK, linewidth=1, linestyle=(0, (4, 3)))
    if tested == "test_loss":
        scale_loss(ax, curves[tested].to_numpy(float))
    else:
        ax.set_ylim(top=1.0)
        _in_numbers(ax.yaxis)
    ax.set_xlabel("training time")
    ax.set_xlim(left=0)
    in_seconds(ax.xaxis)
    if layout.x is not None:
        _tell_values(ax, layout)


def _draw_point(ax: Axes, mine: pandas.DataFrame, tested: str, colour: Any, dash: Dash, marker: str) -> None:
    if not len(mine):
        return
    for _, run in mine.groupby("seed"):
        ax.plot(run["seconds"], run[tested], color=colour, linewidth=0.8, alpha=0.4)
    by_step = mine.groupby("steps")[["seconds", tested]]
    means = by_step.mean()[by_step.size() == mine["seed"].nunique()]
    ax.plot(means["seconds"], means[tested], color=colour, linestyle=dash)
    ax.plot(means["seconds"].iloc[-1:], means[tested].iloc[-1:], color=colour, marker=marker, markersize=7, linestyle="none")


def _shade(colour: str, place: int, count: int) -> Any:
    """From light to full, in the order of the values."""
    light = 0.55 * (1 - place / (count - 1)) if count > 1 else 0.0
    return tuple(part + (1 - part) * light for part in to_rgb(colour))


def _tell_values(ax: Axes, layout: Layout) -> None:
    """A key to the values of the setting that is along the other panels' axes: light to dark, and a marker at the end of each mean."""
    assert layout.x is not None
    name, count = layout.x.replace("_", " "), len(layout.values)
    keys = [
        Line2D([], [], color=_shade(INK, place, count), marker=MARKERS[place % len(MARKERS)], label=f"{name} {value:g}")
        for place, value in enumerate(layout.values)
    ]
    legend_below(ax, keys)


def _tell(figure: Figure, layout: Layout, table: pandas.DataFrame) -> None:
    """What the colours are, where no rows tell it, and what is not drawn or not reached; below all panels."""
    handles: list[Any] = []
    if layout.x is not None and len(layout.series) > 1:
        handles += [Line2D([], [], color=s.colour, linestyle=s.dash, marker=s.marker, markersize=8, label=s.name) for s in layout.series]
    lost, failed = (int((table["outcome"] == outcome).sum()) for outcome in ("not reached", "failed"))
    if lost:
        handles.append(Line2D([], [], color=INK, label=f"not reached: {lost} of {len(table)} runs", **_CROSS))
    if failed:
        handles.append(Line2D([], [], linestyle="none", label=f"failed, and not drawn: {failed} of {len(table)} runs"))
    if handles:
        columns = max(1, min(4, len(handles), 90 // max(len(str(handle.get_label())) for handle in handles)))
        figure.legend(handles=handles, loc="outside lower center", ncols=columns, handlelength=2.4)
