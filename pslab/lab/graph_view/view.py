"""The graph view's widget, and what all views of a lab share.

As of the panel (`pslab.lab.panel.panel`), there are two comms: one takes wishes and is never published on, the other tells what has changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

import anywidget
import ipywidgets
import traitlets
from IPython.display import DisplayHandle, display

from pslab.lab import palette
from pslab.lab.graph_view.still import Still
from pslab.lab.graph_view.watch import Watch
from pslab.lab.language import language
from pslab.lab.panel.front_end import DRAWING, in_front_of

if TYPE_CHECKING:
    from pslab.lab.lab import Lab
    from pslab.train.job import Job

PERIOD_S = 0.1
"""Seconds between two messages."""
FRONT_END = DRAWING + in_front_of(__file__, ("viewport", "graph_paint", "graph"), ("graph",))
_PALETTE = {"bands": dict(palette.BANDS), "other": palette.GREY, "cut": palette.CUT}


class GraphView(anywidget.AnyWidget):
    """The graph of a lab's present mode, alive; shown where it is the value of a cell.

    Args:
        station: what it shares with the other views of the lab.
    """

    _esm = FRONT_END.text
    _css = FRONT_END.style
    line = traitlets.Instance(ipywidgets.Widget).tag(sync=True, **ipywidgets.widget_serialization)
    language = traitlets.Unicode().tag(sync=True)
    palette = traitlets.Dict().tag(sync=True)

    def __init__(self, station: GraphStation) -> None:
        super().__init__(line=station.line, language=language(), palette=_PALETTE)
        self._station = station
        self._stills: list[DisplayHandle] = []
        self._shown: Still | None = None
        self.comm.__dict__.pop("_reply_subshell_id", None)  # it was opened from a cell, and is to answer while that cell runs
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        return "pslab graph"

    def _ipython_display_(self) -> None:
        data, metadata = self._repr_mimebundle_()
        display(data, metadata=metadata, raw=True)
        still = self._station.still()
        handle = display(still, display_id=True)
        if handle is not None:
            self._stills.append(handle)
            self._shown = still

    def close(self) -> None:
        """Take the view away; its last picture stays."""
        self._station.leave(self)
        super().close()

    def show(self, still: Still) -> None:
        """Let each place that the view is shown at keep this picture, if it has another."""
        if self._stills and not still.same_as(self._shown):
            self._shown = still
            for handle in self._stills:
                handle.update(still)

    def _hear(self, _: GraphView, content: dict[str, Any], buffers: list[bytes]) -> None:
        self._station.hear(content.get("ask"), content.get("value"))


class GraphStation:
    """What all graph views of a lab share: what is open, and the thread that tells what has changed while a view is open.

    Args:
        lab: whose.
        job: what is, or would be, trained.

    Attributes:
        line: the widget that front ends listen to.
    """

    def __init__(self, lab: Lab, job: Callable[[], Job]) -> None:
        self._watch = Watch(lab, job)
        self.line: ipywidgets.Widget = ipywidgets.Widget()
        self._views: list[GraphView] = []
        self._opened, self._asked = threading.Event(), threading.Event()
        threading.Thread(target=self._tell, name="pslab graph", daemon=True).start()

    def open(self) -> GraphView:
        """A further view."""
        view = GraphView(self)
        self._views.append(view)
        self._opened.set()
        return view

    def leave(self, view: GraphView) -> None:
        """Let a view go."""
        if view in self._views:
            self._views.remove(view)
        if not self._views:
            self._opened.clear()

    def still(self) -> Still:
        """A picture as it was told last."""
        return Still(self._watch.scene, self._watch.words)

    def hear(self, ask: str | None, scope: Any) -> None:
        """Do what a front end asks for; one that has just come is told everything."""
        if ask is None:
            self._watch.begin_anew()
        elif ask in ("open", "close") and isinstance(scope, str):
            getattr(self._watch, ask)(scope)
        elif ask in ("fold", "unfold"):
            getattr(self._watch, ask)()
        self._asked.set()

    def _tell(self) -> None:
        while self._opened.wait():
            self._asked.clear()
            try:
                message = self._watch.next(monotonic())
            except Exception as error:  # the lab goes on, and so does the view with its next look
                message = {"state": {"message": f"the graph cannot be looked at now: {type(error).__name__}: {error}"}}
            if message:
                self.line.send(message)
            still = self.still()
            for view in list(self._views):
                view.show(still)
            self._asked.wait(PERIOD_S)
