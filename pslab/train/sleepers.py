"""Which workers of a training are slow, and that they are awake where nobody may wait for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from pslab.errors import UnavailableError
from pslab.train.delays import Delay
from pslab.train.tasks import Tasks


class Sleepers:
    """The delays of a training's workers. They stay with a worker that is lost and comes back.

    Args:
        cluster: the tasks.
    """

    def __init__(self, cluster: Tasks) -> None:
        self._cluster = cluster
        self._delays: dict[int, Delay] = {}

    def slow(self, worker: int, delay: Delay | None) -> None:
        """Let a worker be slow from now on; None takes its delay away."""
        self._delays.pop(worker, None)
        if delay is not None:
            self._delays[worker] = delay
        with suppress(UnavailableError):  # it is told when it is back
            self._cluster.call(f"worker:{worker}", "slow", delay=delay)

    def doze(self) -> None:
        """Let the slow workers sleep in their steps.

        Raises:
            UnavailableError: one of them is lost.
        """
        for worker in self._slow():
            self._cluster.call(f"worker:{worker}", "slow", delay=self._delays[worker])

    def wake(self) -> None:
        """Let no worker sleep until the next `doze`."""
        with suppress(UnavailableError):  # who is lost does not sleep
            self._cluster.call_all("wake", tasks=[f"worker:{worker}" for worker in self._slow()])

    @contextmanager
    def awake(self) -> Iterator[None]:
        """A block in which no slow worker sleeps."""
        self.wake()
        try:
            yield
        finally:
            with suppress(UnavailableError):
                self.doze()

    def _slow(self) -> list[int]:
        return [worker for worker in sorted(self._delays) if worker < self._cluster.workers]
