"""Waiting for something to be true, on a machine that may be busy."""

from __future__ import annotations

import threading
from collections.abc import Callable
from time import monotonic

DEADLINE_S = 60.0


def until(true: Callable[[], object], what: str) -> None:
    """Wait for something to be true; fail where it takes too long."""
    deadline, pause = monotonic() + DEADLINE_S, threading.Event()
    while not true():
        assert monotonic() < deadline, what
        pause.wait(0.01)
