"""A still picture beside the panel: what a notebook shows that is opened without the kernel that drew it."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING

from pslab.lab.figures import training_figure
from pslab.lab.language import tr
from pslab.lab.tables import metrics_table

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from pslab.lab.lab import Lab

MOST = 20_000
"""Steps that are drawn; of more, every n-th."""
_WIDTH = 1000
_HIDE_BROKEN = (
    ".jp-OutputArea-child:has(> .jupyter-widgets):not(:has(.pslab-panel)):has(+ .jp-OutputArea-child .pslab-snapshot img) { display: none }"
)
"""Where there is no panel but a word that its widget was not found, the picture stands alone."""
DARK = ":is([data-jp-theme-light='false'], .vscode-dark) .pslab-snapshot img { filter: invert(0.93) hue-rotate(180deg) }"
"""On dark paper the picture's paper is dark, its words light, and its colours have their hues."""


class Still:
    """A picture and what it is of. Where the widget itself lives, its front end hides the picture.

    Args:
        verb: what opens a live one.
        words: what it is a picture of; empty where there is none.
        png: the picture.
    """

    def __init__(self, verb: str, words: str, png: bytes) -> None:
        self._verb, self._words, self._png = verb, words, png

    def __repr__(self) -> str:
        return f"pslab {self._verb}: {self._words}" if self._words else ""

    def _repr_html_(self) -> str:
        if not self._png:
            return "<div class='pslab-snapshot'></div>"
        words = html.escape(tr("As it was when the training last came to rest: {}. %pslab {} opens a live one.", self._words, self._verb))
        data = base64.b64encode(self._png).decode()
        style = f"<style>{_HIDE_BROKEN} {DARK}</style>"
        return f"{style}<div class='pslab-snapshot'><img width='{_WIDTH}' alt='{words}' src='data:image/png;base64,{data}'><p>{words}</p></div>"


def picture(figure: Figure) -> bytes:
    """A figure as PNG."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=72)
    return buffer.getvalue()


def snapshot(lab: Lab) -> Still:
    """A picture of a training as it is now."""
    trainer = lab.trainer
    records = trainer.news().records if trainer is not None else None
    if trainer is None or records is None or not len(records):
        return Still("panel", "", b"")
    records = records[:: 1 + len(records) // MOST]
    words = tr("{}, {} workers, at step {}", lab.strategy, lab.cluster.workers, trainer.seen().global_step)
    return Still("panel", words, picture(training_figure(metrics_table(records, trainer.strategies))))
