"""A picture of a partitioned graph: which task runs which op, and what crosses from task to task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from pslab.graph.registry import op_def
from pslab.lab.graph_layout import Box, Edge, Layout, lay_out
from pslab.lab.palette import BANDS, CUT, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pslab.graph.plan import StepPlan

_BOX = (1.62, 0.42)
"""Width and height of a box, in inches; so are all lengths here."""
_PITCH = (1.76, 0.7)
_MARGIN, _HEAD, _FOOT, _GAP = 0.15, 0.75, 0.5, 0.3
_LETTERS = 19
"""Letters that surely fit a box."""

Places = Mapping[Box, tuple[float, float]]


def graph_figure(plan: StepPlan) -> Figure:
    """Draw a plan: a band per task, time downwards, thick lines where tensors travel from task to task.

    Boxes with sharp corners read or write a task's state; a dashed border is a fed value, a thick one a value that is returned. Tasks that run nothing are
    left out.
    """
    layout = lay_out(plan)
    widths = {task: _MARGIN + _PITCH[0] * max(1, *(len(line) for line in lines)) for task, lines in layout.bands.items()}
    lines = max((len(lines) for lines in layout.bands.values()), default=1)
    height = _HEAD + 0.4 + lines * _PITCH[1] + _FOOT
    width = max(7.5, sum(widths.values()) + _GAP * (len(widths) + 1))
    figure = Figure(figsize=(width, height), dpi=100)
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, width), ylim=(height, 0))
    ax.axis("off")
    ops = sum(box.type is not None for box in layout.boxes)
    title = f"One step, driven by {plan.master}: {_number(ops, 'op')} in {_number(len(layout.bands), 'task')}, {_number(len(plan.cuts), 'message')}"
    ax.text(_GAP, 0.32, title, fontsize=14, weight="bold", color=INK, va="center")
    if not layout.boxes:
        ax.text(width / 2, height / 2, "nothing to run", fontsize=12, color=INK, ha="center", va="center")
        return figure
    places = _draw_bands(ax, layout, widths, height, width)
    for edge in layout.edges:
        _draw_edge(ax, edge, places)
    for box, place in places.items():
        _draw_box(ax, box, place)
    _draw_legend(ax, width, height)
    return figure


def short_name(name: str) -> str:
    """The end of an op's name on at most two lines: its scope's last part, and its own."""
    return "\n".join(_shorten(part) for part in name.split("/")[-2:])


def _shorten(word: str) -> str:
    return word if len(word) <= _LETTERS else f"{word[: _LETTERS // 2]}…{word[-(_LETTERS // 2) :]}"


def _number(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _draw_bands(ax: Axes, layout: Layout, widths: Mapping[str, float], height: float, width: float) -> dict[Box, tuple[float, float]]:
    """Draw the bands, and find the centre of each box."""
    places = {}
    left = (width - sum(widths.values()) - _GAP * (len(widths) - 1)) / 2
    for task, lines in layout.bands.items():
        colour = BANDS[_kind(task)]
        size = widths[task], height - _HEAD - _FOOT
        ax.add_patch(_rounded(left, _HEAD, *size, facecolor=colour, alpha=0.13, edgecolor="none", zorder=0))
        ax.add_patch(_rounded(left, _HEAD, *size, facecolor="none", edgecolor=colour, linewidth=1.5, zorder=0))
        ax.text(left + _MARGIN, _HEAD + 0.2, task, fontsize=12, weight="bold", color=INK, va="center", zorder=4)
        middle = left + widths[task] / 2
        for number, line in enumerate(lines):
            y = _HEAD + 0.4 + (number + 0.5) * _PITCH[1]
            places.update((box, (middle + (i - (len(line) - 1) / 2) * _PITCH[0], y)) for i, box in enumerate(line))
        left += widths[task] + _GAP
    return places


def _draw_edge(ax: Axes, edge: Edge, places: Places) -> None:
    (x0, y0), (x1, y1) = places[edge.source], places[edge.destination]
    y0, y1 = y0 + _BOX[1] / 2, y1 - _BOX[1] / 2
    bend = max(0.2, min(0.6, (y1 - y0) / 2))
    path = Path([(x0, y0), (x0, y0 + bend), (x1, y1 - bend), (x1, y1)], [Path.MOVETO, Path.CURVE4, Path.CURVE4, Path.CURVE4])
    style = {"color": CUT, "linewidth": 2.0, "zorder": 2} if edge.cut else {"color": INK, "linewidth": 0.8, "alpha": 0.6, "zorder": 1}
    dash = (0, (1, 1.5)) if edge.control else "-"
    ax.add_patch(FancyArrowPatch(path=path, arrowstyle="-|>", mutation_scale=11 if edge.cut else 8, linestyle=dash, shrinkA=0, shrinkB=0, **style))


def _draw_box(ax: Axes, box: Box, place: tuple[float, float]) -> None:
    colour = BANDS[_kind(box.task)]
    left, top = place[0] - _BOX[0] / 2, place[1] - _BOX[1] / 2
    radius = 0.0 if box.type is not None and op_def(box.type).stateful else _BOX[1] / 2
    border = {"edgecolor": INK, "linewidth": 2.2 if box.fetched else 0.8, "linestyle": (0, (4, 2)) if box.type is None else "-"}
    ax.add_patch(_rounded(left, top, *_BOX, radius=radius, facecolor=_light(colour, 0.0 if box.type is None else 0.45), zorder=3, **border))
    ax.text(*place, short_name(box.name), fontsize=10, color="black", ha="center", va="center", linespacing=0.95, zorder=4)


def _draw_legend(ax: Axes, width: float, height: float) -> None:
    entries = [
        Line2D([], [], color=CUT, linewidth=2, label="between tasks"),
        Line2D([], [], color=INK, linewidth=1, linestyle=(0, (1, 1.5)), label="only waits"),
        Patch(facecolor="none", edgecolor=INK, linestyle=(0, (4, 2)), label="fed"),
        Patch(facecolor="none", edgecolor=INK, linewidth=2.2, label="returned"),
    ]
    ax.legend(handles=entries, loc="center", bbox_to_anchor=(width / 2, height - _FOOT / 2), bbox_transform=ax.transData, ncols=4, frameon=False, fontsize=11)


def _kind(task: str) -> str:
    return task.partition(":")[0] if task.partition(":")[0] in BANDS else "worker"


def _rounded(left: float, top: float, width: float, height: float, radius: float = 0.1, **style: Any) -> FancyBboxPatch:
    shape = f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0"
    return FancyBboxPatch((left, top), width, height, boxstyle=shape, **style)


def _light(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue
