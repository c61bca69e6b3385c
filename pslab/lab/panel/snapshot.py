"""A still picture beside the panel: what a notebook shows that is opened without the kernel that drew it."""

from __future__ import annotations

import base64
import html
import io
from typing import TYPE_CHECKING

from pslab.lab.figures import training_figure
from pslab.lab.tables import metrics_table

if TYPE_CHECKING:
    from pslab.lab.lab import Lab

MOST = 20_000
"""Steps that are drawn; of more, every n-th."""
_WIDTH = 1000
_HIDE_BROKEN = (
    ".jp-OutputArea-child:has(> .jupyter-widgets):not(:has(.pslab-panel)):has(+ .jp-OutputArea-child .pslab-snapshot img) { display: none }"
)
"""Where there is no panel but a word that its widget was not found, the picture stands alone."""


class Snapshot:
    """A picture of a training as it is now. Where the panel itself lives, its front end hides the picture.

    Args:
        lab: whose.
    """

    def __init__(self, lab: Lab) -> None:
        self._words, self._png = "", b""
        trainer = lab.trainer
        records = trainer.news().records if trainer is not None else None
        if trainer is None or records is None or not len(records):
            return
        records = records[:: 1 + len(records) // MOST]
        buffer = io.BytesIO()
        training_figure(metrics_table(records, trainer.strategies)).savefig(buffer, format="png", dpi=72)
        self._png = buffer.getvalue()
        self._words = f"{lab.strategy}, {lab.cluster.workers} workers, at step {trainer.seen().global_step}"

    def __repr__(self) -> str:
        return f"pslab panel: {self._words}" if self._words else ""

    def _repr_html_(self) -> str:
        if not self._png:
            return "<div class='pslab-snapshot'></div>"
        words = html.escape(f"As it was when the training last came to rest: {self._words}. %pslab panel opens a live one.")
        data = base64.b64encode(self._png).decode()
        style = f"<style>{_HIDE_BROKEN}</style>"
        return f"{style}<div class='pslab-snapshot'><img width='{_WIDTH}' alt='{words}' src='data:image/png;base64,{data}'><p>{words}</p></div>"
