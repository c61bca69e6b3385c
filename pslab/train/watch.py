"""The watch over a training: its state, what is waited for, and what is done where a task fails or is lost."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from time import monotonic

from pslab.errors import CancelledError, DeadlineExceededError, FailedPreconditionError, OpError, PslabError, UnavailableError
from pslab.train.crew import LOST_PATIENCE_S, Crew
from pslab.train.loop import CHIEFS, OUT_OF_DATA, LoopStatus
from pslab.train.places import told
from pslab.train.strategy import Strategy

LOOK_S = 0.1
"""Seconds between two looks at the tasks."""
MORE_DATA = "lab.data(passes=…) with more passes, or lab.reset(), begins the data anew"
"""What to do where they are all used."""


class Watch:
    """Looks at the tasks of a training again and again, and recovers what was lost.

    Args:
        crew: the tasks.
        strategy: the mode to begin with.
    """

    def __init__(self, crew: Crew, strategy: Strategy) -> None:
        self._crew = crew
        self._strategy = strategy
        self._lock = threading.RLock()
        self._changed = threading.Condition()
        self._state, self._message = "idle", ""
        self._target = 0
        self._loops: dict[str, list[LoopStatus]] = {}
        self._closed = threading.Event()

    def _go(self) -> None:
        self._crew.begin(self._strategy)
        self._crew.limit(self._target)
        self._set_state("running")

    def _begin_again(self) -> None:
        """Begin an epoch in the state that it is in: updates are made only where it runs."""
        self._crew.begin(self._strategy)
        if self._state == "running":
            self._crew.limit(self._target)

    def _set_state(self, state: str, message: str = "") -> None:
        with self._changed:
            self._state, self._message = state, message
            self._changed.notify_all()

    def _until(self, true: Callable[[], object], timeout: float | None, what: str) -> None:
        deadline = None if timeout is None else monotonic() + timeout
        with self._changed:
            while not true():
                if deadline is not None and monotonic() > deadline:
                    raise DeadlineExceededError(
                        f"{what} did not come in {timeout:g} s; global step {self._crew.progress.global_step} of {self._target}"
                    )
                self._changed.wait(LOOK_S)

    def _watch(self) -> None:
        """Look at the tasks every tenth of a second, while an epoch is on."""
        while not self._closed.is_set():
            if self._crew.active and self._lock.acquire(timeout=LOOK_S):
                try:
                    if self._crew.active:
                        self._inspect()
                except Exception as error:  # the training goes on; who looks is told that nobody watches it
                    self._set_state("failed", f"the trainer failed: {type(error).__name__}: {error}")
                finally:
                    self._lock.release()
            with self._changed:
                self._changed.notify_all()
            self._closed.wait(LOOK_S)

    def _inspect(self) -> None:
        try:
            self._loops = self._crew.inspect()
            done = self._state == "running" and self._crew.progress.global_step >= self._target and self._crew.made(self._target)
        except (UnavailableError, FailedPreconditionError) as error:
            self._recover(error)
            return
        failures = [loop for loops in self._loops.values() for loop in loops if loop.error is not None]
        if failures:
            self._fail(failures[0])
        elif any(not self._loops[task] for task in self._crew.expected(self._strategy)):
            self._recover(UnavailableError("a task was started anew"))
        elif done:
            self._set_state("done")
        elif self._state in ("running", "paused") and self._ended() and self._nothing_under_way():
            self._run_out()

    def _nothing_under_way(self) -> bool:
        """Whether the last update that can be made is made; where some have data, what they have claimed never will be."""
        return self._strategy.resident or self._crew.progress.global_step == self._crew.progress.granted

    def _ended(self) -> bool:
        """Whether no further update can be made, for want of data: nobody has any, or somebody has none whom the mode cannot do without."""
        if not self._crew.active:
            return self._crew.places.ended(self._strategy, self._crew.workers)
        if any(not self._loops.get(task) for task in self._crew.expected(self._strategy)):  # one was lost, and is on its way back
            return False
        out = [loop.out for loops in self._loops.values() for loop in loops if loop.name != CHIEFS]
        return any(out) if self._strategy.resident else all(out)

    def _run_out(self) -> None:
        if self._strategy.resident:
            self._crew.end(LOST_PATIENCE_S)  # who has data waits for who has none
        self._set_state(OUT_OF_DATA, self._without_data())

    def _without_data(self) -> str:
        """Why there is no further update, for people."""
        places = self._crew.places
        needed = f"; {self._strategy.update} goes on with all workers or none" if self._strategy.resident else ""
        return f"global step {self._crew.progress.global_step}; {told(places.now()) or 'no whole batch is left'}{needed}"

    def without_data(self) -> str:
        """Why no further update can be made, for people; empty where one can."""
        with self._lock:
            if self._crew.division.passes is None:
                return ""
            with suppress(UnavailableError):  # of a task that was lost, the last that was seen
                self._loops = self._crew.loops() if self._crew.active else {}
            return self._without_data() if self._ended() else ""

    def _check_data(self) -> None:
        """Refuse to go on without data.

        Raises:
            FailedPreconditionError: there are none.
        """
        if told := self.without_data():
            raise FailedPreconditionError(told, MORE_DATA)

    def _fail(self, loop: LoopStatus) -> None:
        """A loop has failed: because a task was lost, or a ps came back without its parameters; else by its own fault."""
        assert loop.error is not None
        if isinstance(loop.error, UnavailableError | CancelledError) or not self._crew.has_parameters() or not self._crew.whole():
            self._recover(loop.error)
            return
        self._crew.end(LOST_PATIENCE_S)
        self._set_state("paused", f"{loop.name}: {loop.error.message}")

    def _recover(self, error: PslabError) -> None:
        """A task was lost. Workers come back and go on; a ps takes its parameters with it, unless they live on the workers."""
        state = self._state
        try:
            self._crew.wait_for_all()
            told = self._crew.end(LOST_PATIENCE_S)
            self._crew.set_up()
            if not self._crew.ask("initialised"):
                self._set_state("failed", "a ps was lost, and its parameters with it; restore a checkpoint, or reset")
                return
            if state == "running":
                self._go()
            if self._strategy.resident:
                self._set_state(self._state, told or "a ps was lost; the parameters live on the workers, and are on it again")
        except OpError as lost:
            told = self._crew.rescue()
            self._crew.abandon()
            self._set_state("failed", "; ".join(words for words in (error.message, lost.message, told) if words))
