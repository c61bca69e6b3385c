"""What the still figures share: their style, their units, their averages."""

from __future__ import annotations

import math
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib import rc_context
from matplotlib.ticker import FuncFormatter, LogLocator, MaxNLocator, NullFormatter

if TYPE_CHECKING:
    import pandas
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis

STYLE: dict[Any, Any] = {
    "font.size": 12,
    "axes.titlesize": 14,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.titlepad": 8,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E5E5E5",
    "figure.constrained_layout.w_pad": 0.12,
    "figure.constrained_layout.h_pad": 0.12,
    "legend.frameon": False,
    "legend.fontsize": 11,
    "xtick.labelsize": 11,
    "ytick.labelsize": 11,
    "lines.linewidth": 2.0,
}
"""Matplotlib's settings for figures that are read from the last row of a room."""
BUCKETS = 60
"""Points that a curve over steps is averaged into."""

Curve = tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]

_drawing = threading.RLock()


@contextmanager
def styled(settings: Mapping[Any, Any] | None = None) -> Iterator[None]:
    """A block that draws a figure in this `STYLE`, with further ``settings``.

    Matplotlib's settings are those of the process, and figures are drawn in several threads: one at a time, or a style would end in the middle of another
    figure, or stay for good.
    """
    with _drawing, rc_context({**STYLE, **(settings or {})}):
        yield


def averaged(frame: pandas.DataFrame, column: str) -> Curve:
    """Global steps and means of a column over `BUCKETS` stretches of the global step, apart for each mode; NaNs do not count."""
    known = frame[frame[column].notna()]
    if not len(known):
        return np.zeros(0), np.zeros(0)
    steps = known["global_step"].to_numpy(float)
    stretch = ((steps - steps.min()) / (np.ptp(steps) + 1) * BUCKETS).astype(int)
    means = known.groupby([stretch, modes(known)])[["global_step", column]].mean().sort_values("global_step", kind="stable")
    return means["global_step"].to_numpy(float), means[column].to_numpy(float)


def modes(frame: pandas.DataFrame) -> pandas.Series[str]:
    """The mode of each step, in words."""
    return frame["replication"] + " " + frame["update"] + frame["compression"].map(lambda words: f", {words}" if words else "")


def legend_below(ax: Axes, handles: Sequence[Artist] | None = None) -> None:
    """Put the legend where it covers no data; of what is drawn, or of ``handles``."""
    handles = ax.get_legend_handles_labels()[0] if handles is None else handles
    labels = [str(handle.get_label()) for handle in handles]
    if handles:
        columns = max(1, min(4, 50 // max(map(len, labels))))  # some 50 letters are as wide as the axes
        ax.legend(handles, labels, loc="upper center", bbox_to_anchor=(0.5, -0.17), ncols=columns, columnspacing=1.3, handlelength=2.2)


def say(ax: Axes, words: str) -> None:
    """Say in the middle of empty axes why they are empty."""
    ax.set(xticks=[], yticks=[])
    ax.text(0.5, 0.5, words, ha="center", va="center", transform=ax.transAxes, color="0.4", fontsize=13)


def scale_loss(ax: Axes, losses: np.ndarray[Any, Any]) -> None:
    """Logarithmic where all known losses are positive, and some at least three times others."""
    known = losses[np.isfinite(losses)]
    if not len(known) or known.min() <= 0 or known.max() < 3 * known.min():
        return
    ax.set_yscale("log")
    plain = FuncFormatter(lambda value, _: f"{value:g}")
    ax.yaxis.set_major_formatter(plain)
    few_decades = known.max() < 300 * known.min()
    ax.yaxis.set_minor_locator(LogLocator(subs=(2, 5)))
    ax.yaxis.set_minor_formatter(plain if few_decades else NullFormatter())


def scale_divergence(ax: Axes, values: np.ndarray[Any, Any]) -> None:
    """Logarithmic; with a zero below where there are zeros, for synchronous replicas do not diverge at all."""
    known = values[np.isfinite(values)]
    positive = known[known > 0]
    if not len(positive):
        ax.set_ylim(-0.05, 1)
        return
    lowest = 10.0 ** math.floor(math.log10(positive.min()))
    highest = 10.0 ** (math.floor(math.log10(positive.max())) + 1)
    if len(positive) == len(known):
        ax.set_yscale("log")
        ax.set_ylim(0.8 * lowest, highest)
    else:
        ax.set_yscale("symlog", linthresh=lowest, linscale=0.5)
        ax.set_ylim(-0.3 * lowest, highest)


def in_bytes(axis: Axis) -> None:
    """Let an axis say bytes, kB, MB or GB."""
    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(bytes_said))


def in_seconds(axis: Axis) -> None:
    """Let an axis say s, ms or µs."""
    axis.set_major_locator(MaxNLocator(5))
    axis.set_major_formatter(FuncFormatter(seconds_said))


def bytes_said(value: float, _: Any = None) -> str:
    """Bytes, kB, MB or GB."""
    for unit in ("B", "kB", "MB"):
        if abs(value) < 1000:
            return f"{_short(value)} {unit}"
        value /= 1000
    return f"{_short(value)} GB"


def seconds_said(value: float, _: Any = None) -> str:
    """Seconds, ms or µs."""
    if value == 0:
        return "0"
    for scale, unit in ((1.0, "s"), (1e-3, "ms")):
        if abs(value) >= 0.999 * scale:
            return f"{_short(value / scale)} {unit}"
    return f"{_short(value / 1e-6)} µs"


def _short(value: float) -> str:
    return f"{float(f'{value:.3g}'):g}"
