"""A thread that tells the views of one kind what has changed, again and again, while any is open."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any

import ipywidgets

if TYPE_CHECKING:
    from pslab.lab.panel.living import Living, Picture

PERIOD_S = 0.1
"""Seconds between two messages, where nothing hurries."""


class Teller:
    """Sends news on a line of its own, on which nothing is heard.

    Args:
        name: what is told of.
        news: what has changed, and buffers; None if nothing has.
        hurry: is set by others when there is something that is to be told at once.

    Attributes:
        line: the widget that front ends listen to.
        busy_s: processor time that telling has taken, in seconds.
    """

    def __init__(self, name: str, news: Callable[[], tuple[dict[str, Any], list[bytes]] | None], hurry: threading.Event | None = None) -> None:
        self.line: ipywidgets.Widget = ipywidgets.Widget()
        self.busy_s = 0.0
        self._news = news
        self._hurry = hurry if hurry is not None else threading.Event()
        self._views: list[Living] = []
        self._listened = threading.Event()
        threading.Thread(target=self._tell, name=f"pslab {name}", daemon=True).start()

    def join(self, view: Living) -> None:
        """Tell a further view."""
        self._views.append(view)
        self._listened.set()

    def leave(self, view: Living) -> None:
        """Let a view go."""
        if view in self._views:
            self._views.remove(view)
        if not self._views:
            self._listened.clear()

    def keep(self, still: Picture) -> None:
        """Let all views keep a picture."""
        for view in list(self._views):
            view.keep(still)

    def wait(self) -> bool:
        """Wait until a view is open."""
        return self._listened.wait()

    def _tell(self) -> None:
        while self.wait():
            began, before = monotonic(), thread_time()
            message = self._news()
            if message is not None:
                self.line.send(*message)
            self.busy_s += thread_time() - before
            self._hurry.wait(max(began + PERIOD_S - monotonic(), 0.0))
            self._hurry.clear()
