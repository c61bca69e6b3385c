"""A picture of a partitioned graph: which task runs which op, and what crosses from task to task."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties, findfont, get_font
from matplotlib.lines import Line2D
from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Patch
from matplotlib.path import Path

from pslab.graph.registry import op_def
from pslab.lab.graph_lanes import lane_counts, lanes
from pslab.lab.graph_layout import Box, Edge, Layout, column, lay_out
from pslab.lab.palette import BANDS, CUT, GREY, INK

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.ft2font import FT2Font

    from pslab.graph.plan import StepPlan

# Lengths are in inches.
_BOX = (1.62, 0.42)
_TEXT = 1.46
_PITCH = (1.76, 0.7)
_LANE = 0.13
_MARGIN, _GAP, _HEAD, _NAME, _FOOT = 0.15, 0.3, 0.7, 0.45, 0.55

_WAITS, _FED = (0, (1.5, 1.5)), (0, (4, 2))


def graph_figure(plan: StepPlan) -> Figure:
    """Draw a plan: a band per task, time downwards, thick lines where tensors travel from task to task.

    Boxes with sharp corners read or write a task's state; a dashed border is a fed value, a thick one a value that is returned. Tasks that run nothing, and
    waits that follow from others, are left out.
    """
    layout = lay_out(plan)
    bands = _Bands(layout)
    figure = Figure(figsize=(bands.width, bands.height), dpi=100)
    ax = figure.add_axes((0, 0, 1, 1), xlim=(0, bands.width), ylim=(bands.height, 0))
    ax.axis("off")
    ops = sum(box.type is not None for box in layout.boxes)
    title = f"One step, driven by {plan.master}: {_number(ops, 'op')} in {_number(len(layout.bands), 'task')}, {_number(len(plan.cuts), 'message')}"
    ax.text(_GAP, 0.35, title, fontsize=15, weight="bold", color=INK, va="center")
    if not layout.boxes:
        ax.text(bands.width / 2, bands.height / 2, "nothing to run", fontsize=12, color=INK, ha="center", va="center")
        return figure
    for task, (left, right) in bands.sides.items():
        _draw_band(ax, task, left, right - left, bands.height - _HEAD - _FOOT)
    for edge in layout.edges:
        _draw_edge(ax, edge, bands)
    for box, place in bands.places.items():
        _draw_box(ax, box, place)
    _draw_legend(ax, bands)
    return figure


class _Bands:
    """Where things are on the page.

    Attributes:
        width: of the page.
        height: of the page.
        sides: left and right side of each task's band.
        places: centre of each box.
        lanes: x of the lane of each edge that has one.
    """

    def __init__(self, layout: Layout) -> None:
        found = lanes(layout)
        self.sides: dict[str, tuple[float, float]] = {}
        self.places: dict[Box, tuple[float, float]] = {}
        self.lanes: dict[Edge, float] = {}
        left = _GAP
        for task, lines in layout.bands.items():
            lanes_left, lanes_right = lane_counts(found, task)
            half = _PITCH[0] * max(1, *(len(line) for line in lines)) / 2
            middle = left + _MARGIN + _LANE * lanes_left + half
            right = middle + half + _LANE * lanes_right + _MARGIN
            for number, line in enumerate(lines):
                y = _HEAD + _NAME + (number + 0.5) * _PITCH[1]
                self.places.update((box, (middle + column(line, box) * _PITCH[0], y)) for box in line)
            mine = {edge: lane for edge, lane in found.items() if edge.source.task == task}
            self.lanes.update((edge, middle + math.copysign(half - _LANE / 2, lane) + lane * _LANE) for edge, lane in mine.items())
            self.sides[task] = left, right
            left = right + _GAP
        self.width = max(9.5, left)  # the legend's
        self.height = _HEAD + _NAME + max((len(lines) for lines in layout.bands.values()), default=1) * _PITCH[1] + _FOOT


def _draw_band(ax: Axes, task: str, left: float, width: float, height: float) -> None:
    colour = _colour(task)
    ax.add_patch(_rounded(left, _HEAD, width, height, facecolor=colour, alpha=0.12, edgecolor="none", zorder=0))
    ax.add_patch(_rounded(left, _HEAD, width, height, facecolor="none", edgecolor=colour, linewidth=1.5, zorder=0))
    ax.text(left + _MARGIN, _HEAD + 0.22, task, fontsize=13, weight="bold", color=INK, va="center", zorder=4)


def _draw_edge(ax: Axes, edge: Edge, bands: _Bands) -> None:
    (x0, y0), (x1, y1) = bands.places[edge.source], bands.places[edge.destination]
    y0, y1 = y0 + _BOX[1] / 2, y1 - _BOX[1] / 2
    if edge in bands.lanes:
        x, turn = bands.lanes[edge], _PITCH[1] - _BOX[1]
        points = [(x0, y0), *_curve((x0, y0), (x, y0 + turn)), (x, y1 - turn), *_curve((x, y1 - turn), (x1, y1))]
        codes = [Path.MOVETO, *[Path.CURVE4] * 3, Path.LINETO, *[Path.CURVE4] * 3]
    else:
        points = [(x0, y0), *_curve((x0, y0), (x1, y1))]
        codes = [Path.MOVETO, *[Path.CURVE4] * 3]
    style: dict[str, Any] = {"color": CUT, "zorder": 2} if edge.cut else {"color": INK, "zorder": 1}
    style |= {"linestyle": _WAITS, "linewidth": 1.0} if edge.control else {"linewidth": 2.0 if edge.cut else 0.9}
    size = 12 if edge.cut and not edge.control else 8
    ax.add_patch(FancyArrowPatch(path=Path(points, codes), arrowstyle="-|>", mutation_scale=size, shrinkA=0, shrinkB=0, alpha=0.85, **style))


def _curve(begin: tuple[float, float], end: tuple[float, float]) -> list[tuple[float, float]]:
    """The further points of a curve that begins and ends vertically."""
    bend = max(0.15, min(0.6, (end[1] - begin[1]) / 2))
    return [(begin[0], begin[1] + bend), (end[0], end[1] - bend), end]


def _draw_box(ax: Axes, box: Box, place: tuple[float, float]) -> None:
    x, y = place
    radius = 0.0 if box.type is not None and op_def(box.type).stateful else _BOX[1] / 2
    face = "white" if box.type is None else _light(_colour(box.task), 0.45)
    border: dict[str, Any] = {"linewidth": 2.4 if box.fetched else 0.8, "linestyle": _FED if box.type is None else "-"}
    ax.add_patch(_rounded(x - _BOX[0] / 2, y - _BOX[1] / 2, *_BOX, radius=radius, facecolor=face, edgecolor=INK, zorder=3, **border))
    scope, _, name = box.name.rpartition("/")
    if scope:
        ax.text(x, y - 0.09, shorten(scope, _TEXT), fontsize=10, color="#555555", ha="center", va="center", zorder=4)
    ax.text(x, y + (0.09 if scope else 0), shorten(name, _TEXT), fontsize=10, color="black", ha="center", va="center", zorder=4)


def shorten(word: str, width: float) -> str:
    """``word``, or what of its beginning and end fits ``width`` inches in letters of 10 points."""
    font = get_font(findfont(FontProperties()))
    font.set_size(10, 72)
    short, kept = word, len(word)
    while kept > 2 and _inches(font, short) > width:
        kept -= 1
        short = f"{word[: kept // 2]}…{word[len(word) - (kept - kept // 2) :]}"
    return short


def _inches(font: FT2Font, word: str) -> float:
    font.set_text(word)
    return float(font.get_width_height()[0]) / 64 / 72  # 26.6 fixed-point pixels, of which there are 72 to an inch


def _draw_legend(ax: Axes, bands: _Bands) -> None:
    entries = [
        Line2D([], [], color=CUT, linewidth=2, label="travels between tasks"),
        Line2D([], [], color=INK, linewidth=1, linestyle=_WAITS, label="only waits"),
        Patch(facecolor="none", edgecolor=INK, linestyle=_FED, label="fed"),
        Patch(facecolor="none", edgecolor=INK, linewidth=2.4, label="returned"),
        Patch(facecolor=_light(INK, 0.2), edgecolor=INK, linewidth=0.8, label="sharp corners: uses the task's state"),
    ]
    where = (bands.width / 2, bands.height - _FOOT / 2)
    ax.legend(
        handles=entries, loc="center", bbox_to_anchor=where, bbox_transform=ax.transData, ncols=5, frameon=False, fontsize=11, columnspacing=1.4
    )


def _colour(task: str) -> str:
    return BANDS.get(task.partition(":")[0], GREY)


def _number(count: int, word: str) -> str:
    return f"{count} {word}" if count == 1 else f"{count} {word}s"


def _rounded(left: float, top: float, width: float, height: float, radius: float = 0.1, **style: Any) -> FancyBboxPatch:
    shape = f"round,pad=0,rounding_size={radius}" if radius else "square,pad=0"
    return FancyBboxPatch((left, top), width, height, boxstyle=shape, **style)


def _light(colour: str, strength: float) -> tuple[float, float, float]:
    """A colour mixed with white."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue
