"""A widget with a still picture beside it, for the notebook that is opened without the kernel that drew it."""

from __future__ import annotations

from typing import Any, Protocol

import anywidget
import ipywidgets
import traitlets
from IPython.display import DisplayHandle, display

from pslab.lab.language import language
from pslab.lab.panel.teller import Teller


class Picture(Protocol):
    """What stands beside a widget."""

    def _repr_html_(self) -> str: ...


class Living(anywidget.AnyWidget):
    """A widget that is told what has changed on a line, and keeps still pictures beside the places where it is shown.

    Args:
        teller: who tells it, until it is closed.
        traits: its own.
    """

    line = traitlets.Instance(ipywidgets.Widget).tag(sync=True, **ipywidgets.widget_serialization)
    language = traitlets.Unicode().tag(sync=True)

    def __init__(self, teller: Teller, **traits: Any) -> None:
        super().__init__(line=teller.line, language=language(), **traits)
        self._teller = teller
        self._stills: list[DisplayHandle] = []
        self._kept: Picture | None = None
        self.comm.__dict__.pop("_reply_subshell_id", None)  # it was opened from a cell, and is to answer while that cell runs
        teller.join(self)

    def still(self) -> Picture:
        """A picture of how it is now."""
        raise NotImplementedError

    def close(self) -> None:
        """Take it away; its last picture stays."""
        self._teller.leave(self)
        self.keep(self.still())
        super().close()

    def keep(self, still: Picture) -> None:
        """Let each place that it is shown at keep this picture, if that is another than the last."""
        if self._stills and still is not self._kept:
            self._kept = still
            for handle in self._stills:
                handle.update(still)

    def _ipython_display_(self) -> None:
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        still = self.still()
        handle = display(still, display_id=True)
        if handle is not None:
            self._stills.append(handle)
            self._kept = still
