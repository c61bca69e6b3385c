"""A picture of one traced step: what each task did, and when it idled."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib.figure import Figure
from matplotlib.patches import Patch

from pslab.lab.chart import in_seconds, styled
from pslab.lab.palette import BLUE, GREEN, INK, ORANGE, PURPLE, SKY, YELLOW
from pslab.train.camera import Timeline
from pslab.train.collective import Pipeline
from pslab.train.strategy import Strategy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pslab.runtime.tracing import Span

KINDS: dict[str, tuple[str, str, str]] = {
    "forward": (BLUE, "", "white"),
    "backward": (GREEN, "", "white"),
    "all-reduce": (YELLOW, "", INK),
    "update": (PURPLE, "", INK),
    "send": (ORANGE, "\\\\\\", INK),
    "receive": (SKY, "...", INK),
    "wait": ("#DDDDDD", "///", INK),
}
"""Colour, hatch and colour of words of each kind of bar."""
_EXCHANGES = {"Send": "send", "Recv": "receive", "Wait": "wait"}
_UPDATES = re.compile(r"Apply|Assign|Accumulator|TryClaim|PausedTime|Staleness")
_MICROBATCH = re.compile(r"(?:microbatch|backward)_(\d+)/")
_ROW, _LETTER = 0.8, 0.0085


class Bar(NamedTuple):
    """Spans of one kind, one after the other.

    Attributes:
        kind: one of `KINDS`.
        number: the microbatch, or -1.
        began: nanoseconds since 1970.
        ended: likewise.
    """

    kind: str
    number: int
    began: int
    ended: int


def bars(spans: Sequence[Span], gap: int) -> list[Bar]:
    """Spans of one task, in order, put together to bars.

    Args:
        spans: the spans.
        gap: nanoseconds between two spans of one kind that are still one bar.
    """
    made: list[Bar] = []
    for span in spans:
        bar = Bar(*_kind(span), span.began, span.began + span.duration)
        last = next((i for i in range(len(made) - 1, -1, -1) if made[i][:2] == bar[:2]), None)
        if last is not None and bar.began <= made[last].ended + gap and not any(b.began >= made[last].ended for b in made[last + 1 :]):
            made[last] = made[last]._replace(ended=max(bar.ended, made[last].ended))
        else:
            made.append(bar)
    return made


def _kind(span: Span) -> tuple[str, int]:
    found = _MICROBATCH.search(span.name)
    number = int(found[1]) if found else -1
    if span.type in _EXCHANGES:
        return _EXCHANGES[span.type], number if span.type == "Recv" else -1
    if span.name.startswith("all_reduce/"):
        return "all-reduce", -1
    if _UPDATES.match(span.type):
        return "update", -1
    return ("backward" if re.search(r"(?:^|/)(?:backward_\d+|gradients(?:_\d+)?)/", span.name) else "forward"), number


def timeline_figure(timeline: Timeline, strategy: Strategy) -> Figure:
    """Draw a traced step: a band per task, time to the right, and beside each band the share of the step in which it did not compute.

    Args:
        timeline: the step.
        strategy: the mode in which it was made.
    """
    tasks = sorted((t for t in timeline.spans if timeline.spans[t]), key=lambda t: (("worker", "ps", "client").index(t.partition(":")[0]), t))
    length = timeline.ended - timeline.began
    with styled({"axes.grid": False}):
        figure = Figure(figsize=(13, 1.9 + _ROW * len(tasks)), layout="constrained", dpi=100)
        ax = figure.add_subplot()
        ax.set_title(f"One step, {strategy}: {length / 1e6:.3g} ms, traced op by op{_theory(strategy, tasks)}")
        drawn = [bars(timeline.spans[task], length // 150) for task in tasks]
        for row, task in enumerate(tasks):
            _draw_band(ax, row, timeline, drawn[row])
            ax.text(1.01, row, f"idle {1 - timeline.busy(task):.0%}", transform=ax.get_yaxis_transform(), va="center", color=INK, fontsize=13)
        ax.set(xlim=(0, length * 1e-9), ylim=(len(tasks) - 0.45, -0.55), xlabel="time since the step began")
        ax.set_yticks(range(len(tasks)), tasks, fontsize=13)
        ax.tick_params(axis="y", length=0)
        ax.spines["left"].set_visible(False)
        in_seconds(ax.xaxis)
        handles = [
            Patch(facecolor=colour, hatch=hatch, edgecolor="white", linewidth=0, label=kind)
            for kind, (colour, hatch, _) in KINDS.items()
            if any(bar.kind == kind for row in drawn for bar in row)
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles))
        return figure


def _theory(strategy: Strategy, tasks: Sequence[str]) -> str:
    stages = sum(task.startswith("worker:") for task in tasks)
    return f"; bubble in theory {strategy.update.bubble(stages):.0%}" if isinstance(strategy.update, Pipeline) else ""


def _draw_band(ax: Axes, row: int, timeline: Timeline, drawn: Sequence[Bar]) -> None:
    length = timeline.ended - timeline.began
    ax.axhspan(row - 0.4, row + 0.4, color="#F6F6F6", zorder=0)
    for bar in sorted(drawn, key=lambda b: b.kind not in ("wait", "receive")):  # what is computed meanwhile lies above
        colour, hatch, words = KINDS[bar.kind]
        height = 0.36 if bar.kind in ("wait", "receive") else 0.72
        left, width = (bar.began - timeline.began) * 1e-9, (bar.ended - bar.began) * 1e-9
        style: dict[str, Any] = {"color": colour, "hatch": hatch, "edgecolor": "white", "linewidth": 0.5}
        ax.barh(row, width, left=left, height=height, **style)
        label = f"{bar.kind[0].upper()}{bar.number}" if bar.number >= 0 and bar.kind in ("forward", "backward") else ""
        if label and bar.ended - bar.began > _LETTER * len(label) * length:
            ax.text(left + width / 2, row, label, ha="center", va="center", color=words, fontsize=12, weight="bold")
