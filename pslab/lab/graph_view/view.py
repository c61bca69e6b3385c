"""The graph view's widget, and what all views of a lab share.

As of the panel (`pslab.lab.panel.panel`), there are two comms: one takes wishes and is never published on, the other tells what has changed.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic
from typing import TYPE_CHECKING, Any

import traitlets

from pslab.lab import palette
from pslab.lab.graph_view.still import Still
from pslab.lab.graph_view.watch import Watch
from pslab.lab.panel.front_end import DRAWING, in_front_of
from pslab.lab.panel.living import Living
from pslab.lab.panel.teller import Teller

if TYPE_CHECKING:
    from pslab.lab.lab import Lab
    from pslab.train.job import Job

FRONT_END = DRAWING + in_front_of(__file__, ("viewport", "graph_paint", "graph"), ("graph",))
_PALETTE = {"bands": dict(palette.BANDS), "other": palette.GREY, "cut": palette.CUT}


class GraphView(Living):
    """The graph of a lab's present mode, alive; shown where it is the value of a cell.

    Args:
        station: what it shares with the other views of the lab.
    """

    _esm = FRONT_END.text
    _css = FRONT_END.style
    palette = traitlets.Dict().tag(sync=True)

    def __init__(self, station: GraphStation) -> None:
        super().__init__(station.teller, palette=_PALETTE)
        self._station = station
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        return "pslab graph"

    def still(self) -> Still:
        """A picture of the graph as it was told last."""
        return self._station.still()

    def _hear(self, _: GraphView, content: dict[str, Any], buffers: list[bytes]) -> None:
        self._station.hear(content.get("ask"), content.get("value"))


class GraphStation:
    """What all graph views of a lab share: what is open, and what tells them of changes while a view is open.

    Args:
        lab: whose.
        job: what is, or would be, trained.

    Attributes:
        teller: tells all views what has changed.
    """

    def __init__(self, lab: Lab, job: Callable[[], Job]) -> None:
        self._watch = Watch(lab, job)
        self._asked = threading.Event()
        self._still = Still(None, "")
        self.teller = Teller("graph", self._news, self._asked)

    def open(self) -> GraphView:
        """A further view."""
        return GraphView(self)

    def still(self) -> Still:
        """A picture of the graph as it was told last: the same for as long as that is."""
        return self._still

    def hear(self, ask: str | None, scope: Any) -> None:
        """Do what a front end asks for; one that has just come is told everything."""
        if ask is None:
            self._watch.begin_anew()
        elif ask in ("open", "close") and isinstance(scope, str):
            getattr(self._watch, ask)(scope)
        elif ask in ("fold", "unfold"):
            getattr(self._watch, ask)()
        self._asked.set()

    def _news(self) -> tuple[dict[str, Any], list[bytes]] | None:
        try:
            message = self._watch.next(monotonic())
        except Exception as error:  # the lab goes on, and so does the view with its next look
            message = {"state": {"message": f"the graph cannot be looked at now: {type(error).__name__}: {error}"}}
        scene = message.get("scene", self._still.scene)
        if scene is not self._still.scene:
            self._still = Still(scene, self._watch.words)
        self.teller.keep(self._still)
        return (message, []) if message else None
