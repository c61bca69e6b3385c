"""A thread that tells front ends what has changed, again and again, while somebody listens."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic, sleep, thread_time
from typing import Any

import ipywidgets

PERIOD_S = 0.1
"""Seconds between two messages."""


class Teller:
    """Sends news on a line of its own, on which nothing is heard.

    Args:
        name: what is told of.
        news: what has changed, and buffers; None if nothing has.

    Attributes:
        line: the widget that front ends listen to.
        busy_s: processor time that telling has taken, in seconds.
    """

    def __init__(self, name: str, news: Callable[[], tuple[dict[str, Any], list[bytes]] | None]) -> None:
        self.line: ipywidgets.Widget = ipywidgets.Widget()
        self.busy_s = 0.0
        self._news = news
        self._listened = threading.Event()
        threading.Thread(target=self._tell, name=f"pslab {name}", daemon=True).start()

    def listened(self, there: bool) -> None:
        """Whether somebody listens."""
        (self._listened.set if there else self._listened.clear)()

    def wait(self) -> bool:
        """Wait until somebody listens."""
        return self._listened.wait()

    def _tell(self) -> None:
        due = monotonic()
        while self.wait():
            before = thread_time()
            message = self._news()
            if message is not None:
                self.line.send(*message)
            self.busy_s += thread_time() - before
            due = max(due + PERIOD_S, monotonic())
            sleep(max(due - monotonic(), 0.0))
