"""The desk: where what is asked for is done, one after the other, by a thread of its own."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from pslab.errors import PslabError, UsageError
from pslab.train.delays import Constant, Delay

if TYPE_CHECKING:
    from pslab.lab.lab import Lab


class Wish(NamedTuple):
    """Something that was asked for.

    Attributes:
        name: of a control or a button.
        value: what it is to be, or None.
    """

    name: str
    value: Any


class Refusal(NamedTuple):
    """Why a wish was not granted.

    Attributes:
        name: of the control or button.
        words: what was wrong, and what to do.
    """

    name: str
    words: str


class Desk:
    """Grants wishes. Of a control that is moved on while its last wish still waits, only the latest counts; a button counts as often as it is pressed.

    Args:
        lab: what the wishes are about.
        grants: for each name, what grants its wishes. It may raise.
        controls: names for which only the latest wish counts.

    Attributes:
        lab: what the wishes are about.
        ps: parameter servers that a cluster is started with.
        workers: workers that a cluster is started with.
        folder: where checkpoints are.
        delay: by how much a task is slowed down that is chosen next.
        link: which link the controls are about, in words; any others stand for all.
        stirred: is set whenever something was asked for, or done; who is about to tell of it clears it.
    """

    def __init__(self, lab: Lab, grants: Mapping[str, Callable[[Desk, Any], object]], controls: frozenset[str]) -> None:
        self.lab = lab
        self.ps, self.workers = 1, 2
        self.folder = Path("runs")
        self.delay: Delay = Constant(0.05)
        self.link = ""
        self.stirred = threading.Event()
        self._grants = grants
        self._controls = controls
        self._waiting: deque[Wish] = deque()
        self._current: Wish | None = None
        self._refusal: Refusal | None = None
        self._changed = threading.Condition()
        threading.Thread(target=self._work, name="pslab panel desk", daemon=True).start()

    @property
    def names(self) -> tuple[str, ...]:
        """All that can be asked for."""
        return tuple(self._grants)

    def ask(self, name: str, value: Any = None) -> None:
        """Put a wish on the pile; comes back at once.

        Raises:
            UsageError: there is no such control or button.
        """
        if name not in self._grants:
            raise UsageError(f"the panel has no {name!r}", f"one of: {', '.join(self._grants)}")
        with self._changed:
            if name in self._controls and self._waiting and self._waiting[-1].name == name:
                self._waiting.pop()
            self._waiting.append(Wish(name, value))
            self._changed.notify_all()
        self.stirred.set()

    @property
    def pending(self) -> dict[str, Any]:
        """What was asked for last of each name, and is not granted yet."""
        with self._changed:
            current = [self._current] if self._current is not None else []
            return {wish.name: wish.value for wish in (*current, *self._waiting)}

    @property
    def refusal(self) -> Refusal | None:
        """Why the last wish was not granted; None where it was."""
        return self._refusal

    def settle(self, timeout: float = 60.0) -> bool:
        """Wait until nothing is pending; returns whether it came to that."""
        with self._changed:
            return self._changed.wait_for(lambda: self._current is None and not self._waiting, timeout)

    def _work(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting)
                wish = self._current = self._waiting.popleft()
            refusal = self._grant(wish)
            with self._changed:
                self._current, self._refusal = None, refusal
                self._changed.notify_all()
            self.stirred.set()

    def _grant(self, wish: Wish) -> Refusal | None:
        try:
            self._grants[wish.name](self, wish.value)
        except PslabError as error:
            return Refusal(wish.name, f"{error.message}; {error.hint}" if error.hint else error.message)
        except Exception as error:  # whatever it is, the next wish is granted
            return Refusal(wish.name, f"{type(error).__name__}: {error}")
        return None
