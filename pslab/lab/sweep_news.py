"""How far an experiment is: told by the thread that makes the runs to the one that waits, which may be interrupted."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping

from pslab.lab.measure import LOOK_S
from pslab.lab.progress import ProgressLine
from pslab.lab.sweep import Sweep


class Interrupted(BaseException):
    """The run in flight is to be given up: no error of its own."""


class News:
    """What is told of the runs of ``sweep``."""

    def __init__(self, sweep: Sweep) -> None:
        self._sweep = sweep
        self._run, self._far = "", ""
        self._stopping = threading.Event()

    def begin(self, number: int, seed: int) -> None:
        """A run begins.

        Raises:
            Interrupted: it is not to.
        """
        self._run, self._far = f"{self._sweep.name(number)}, seed {seed}", ""
        self._check()

    def look(self, tested: Mapping[str, float], steps: int) -> None:
        """How far it is: what was measured last, and updates.

        Raises:
            Interrupted: it is to be given up.
        """
        self._far = f" — step {steps}, " + ", ".join(f"test {name} {value:.3g}" for name, value in tested.items())
        self._check()

    def stop(self) -> None:
        """Give up the run in flight, and begin no other."""
        self._stopping.set()

    @property
    def stopped(self) -> bool:
        """Whether it was to stop."""
        return self._stopping.is_set()

    @property
    def line(self) -> tuple[str, int, int]:
        """A line for people, how many runs are made, and how many there are to be."""
        done, total = len(self._sweep), self._sweep.planned
        words = "stopping …" if self.stopped else f"{self._run}{self._far}"
        return f"run {min(done + 1, total)} of {total}: {words}", done, total

    def _check(self) -> None:
        if self.stopped:
            raise Interrupted


def make_all(work: Callable[[News], None], sweep: Sweep) -> bool:
    """Have the runs made, and show how far they are; returns whether it was interrupted.

    They are made in a thread, so that an interrupt comes between two calls of the cluster and never tears one.
    """
    news, errors = News(sweep), []

    def run() -> None:
        try:
            work(news)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="pslab sweep", daemon=True)
    with ProgressLine("sweeping …") as line:
        thread.start()
        while thread.is_alive():
            try:
                thread.join(LOOK_S)
                line.update(*news.line)
            except KeyboardInterrupt:
                news.stop()
    if errors:
        raise errors[0]
    return news.stopped
