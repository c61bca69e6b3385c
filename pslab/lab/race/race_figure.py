"""A race as a still figure: the last messages, with lanes for the ps and the workers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from matplotlib.figure import Figure

from pslab.lab.palette import INK, SERIES, VERMILION
from pslab.lab.race.scene import COMPUTES, PUSHES, reads_of, spans, used_ps, versions_of
from pslab.train.race import DROPPED, GATHERED

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from pslab.train.race import Event, Race

SHOWN = 12
"""Messages that are shown."""
_HALF = 0.22
"""Half the height of a bar."""


def race_figure(race: Race) -> Figure:
    """The last messages of a race: what each worker does, the versions on each ps, what is pushed, and how stale it is, and what is read."""
    servers = used_ps(race)
    last = race.moments[-1].number
    first = max(race.moments[0].number, last - SHOWN + 1)
    lanes = {name: -k for k, name in enumerate([*servers, *(f"worker:{k}" for k in range(race.workers))])}
    figure = Figure(figsize=(13.5, 1.2 + 0.75 * len(lanes)), layout="constrained")
    axes = figure.add_subplot()
    _lanes(axes, race, lanes, first, last)
    for span in spans(race):
        if span.end is None or span.end >= first:
            y, computes = lanes[f"worker:{span.worker}"], span.what == COMPUTES
            begin = first - 0.5 if span.begin < first else span.begin + (0.3 if computes else -0.3)
            end = last + 0.6 if span.end is None else span.end - 0.3 if computes else span.end + 0.3
            colour = SERIES[span.worker % len(SERIES)] if computes else "#BBBBBB"
            axes.barh(y, end - begin, 2 * _HALF, begin, color=colour, alpha=0.3, edgecolor=colour, hatch="" if computes else "///")
            words = f"v{'·v'.join(map(str, span.versions))}" if computes else span.what
            axes.text(begin + 0.05, y, words, fontsize=8, va="center", color=INK, clip_on=True)
    for event in (e for e in race.events if first <= e.moment <= last):
        if event.what in PUSHES:
            _push(axes, lanes, event)
    for event in reads_of(race):
        if first <= event.moment <= last:
            _arrow(axes, event, (event.moment, lanes[event.ps] - 0.18), (event.moment + 0.3, lanes[f"worker:{event.worker}"] + _HALF), dotted=True)
    for moment, ps, version in versions_of(race):
        if moment >= first:
            axes.text(
                moment, lanes[ps], f"v{version}", ha="center", va="center", weight="bold", fontsize=9, bbox={"boxstyle": "round", "fc": "white"}
            )
    return figure


def _lanes(axes: Axes, race: Race, lanes: dict[str, int], first: int, last: int) -> None:
    for name, y in lanes.items():
        axes.axhline(y, color=INK if name.startswith("ps") else "#DDDDDD", linewidth=1.5 if name.startswith("ps") else 0.8, zorder=0)
    axes.set_yticks(list(lanes.values()), list(lanes))
    shown = [moment for moment in race.moments if moment.number >= first]
    words = ["start" if m.number == 0 else str(m.number) for m in shown]
    losses = ["" if m.loss is None else f"\nloss {m.loss:.4g}" for m in shown]
    axes.set_xticks([m.number for m in shown], [f"{word}{loss}" for word, loss in zip(words, losses, strict=True)])
    axes.set_xlim(first - 0.5, last + 0.65)
    axes.set_ylim(min(lanes.values()) - 0.5, 0.5)
    axes.set_title(f"{race.strategy}, message by message", loc="left", fontsize=10)
    axes.spines[["top", "right", "left"]].set_visible(False)
    axes.tick_params(length=0)


def _push(axes: Axes, lanes: dict[str, int], event: Event) -> None:
    y = lanes[event.ps]
    _arrow(axes, event, (event.moment - 0.3, lanes[f"worker:{event.worker}"] + _HALF), (event.moment, y - 0.18))
    dropped = event.what == DROPPED
    if event.what in (DROPPED, GATHERED):
        axes.plot(event.moment, y, "x" if dropped else "o", color=VERMILION if dropped else SERIES[(event.worker or 0) % len(SERIES)])
    words = f"{event.staleness} stale{': dropped' if dropped else ''}"
    axes.text(event.moment - 0.1, y - 0.36, words, ha="right", fontsize=8, color=VERMILION if event.staleness else "#777777")


def _arrow(axes: Axes, event: Event, begin: tuple[float, float], end: tuple[float, float], dotted: bool = False) -> None:
    style = {"arrowstyle": "-|>", "color": SERIES[(event.worker or 0) % len(SERIES)], "linestyle": ":" if dotted else "-", "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", end, begin, arrowprops=style)
