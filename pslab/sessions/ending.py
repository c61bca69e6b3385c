"""The end of a session's threads."""

from __future__ import annotations

import threading
from collections.abc import Iterable

from pslab.queues.coordinator import Coordinator
from pslab.runtime.session import Session

PATIENCE_S = 0.5
"""Seconds that threads have to close their queues; who waits longer waits in vain."""


def end_threads(
    coord: Coordinator, session: Session, grace: float, threads: Iterable[threading.Thread] | None = None, ignore_live_threads: bool = False
) -> None:
    """Stop a coordinator's threads, and wait for them.

    A thread may wait for what nobody will bring any more, such as the gradients of workers that have left. Its run is given up.

    Args:
        coord: the coordinator.
        session: where the threads run.
        grace: seconds that they have.
        threads: further ones.
        ignore_live_threads: whether threads that do not end are no error.

    Raises:
        Exception: what a thread reported.
        RuntimeError: threads have not ended.
    """
    coord.request_stop()
    giving_up = threading.Timer(PATIENCE_S, session.cancel)
    giving_up.daemon = True
    giving_up.start()
    try:
        coord.join(threads, stop_grace_period_secs=grace, ignore_live_threads=ignore_live_threads)
    finally:
        giving_up.cancel()
