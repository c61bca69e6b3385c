"""What the tasks print, line by line, each with its task's name in the task's colour."""

from __future__ import annotations

import sys
from collections import defaultdict, deque
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

_COLOURS = ("cyan", "yellow", "green", "magenta", "blue", "bright_red", "bright_cyan", "bright_yellow")
_KEPT = 500


class Output:
    """Prints lines of standard output and standard error to this process's own, and keeps the last of the latter.

    Args:
        tasks: names of the tasks.
        out: where standard output goes.
        err: where standard error, and what is said of the tasks, goes.
    """

    def __init__(self, tasks: Sequence[str], out: Console | None = None, err: Console | None = None) -> None:
        self._out = out if out is not None else Console(soft_wrap=True, highlight=False)
        self._err = err if err is not None else Console(file=sys.stderr, soft_wrap=True, highlight=False)
        self._width = max((len(task) for task in tasks), default=0)
        self._colour = {task: _COLOURS[i % len(_COLOURS)] for i, task in enumerate(tasks)}
        self._errors: defaultdict[str, deque[str]] = defaultdict(lambda: deque(maxlen=_KEPT))

    def line(self, task: str, text: str, error: bool) -> None:
        """A line that a task has printed."""
        if error:
            self._errors[task].append(text)
        whole = Text.assemble((f"{task:<{self._width}} | ", self._colour[task]), Text.from_ansi(text))
        (self._err if error else self._out).print(whole, crop=False, overflow="ignore", no_wrap=True)

    def say(self, text: str) -> None:
        """Something of our own."""
        self._err.print(Text(f"pslab: {text}"), crop=False, overflow="ignore", no_wrap=True)

    def traceback(self, task: str) -> str:
        """The last traceback that a task has printed; empty if there is none."""
        lines = list(self._errors[task])
        starts = [i for i, line in enumerate(lines) if line.startswith("Traceback (most recent call last)")]
        if not starts:
            return ""
        first = starts[-1]
        while first > 1 and lines[first - 2].startswith(("The above exception", "During handling")):  # a chain of them is one
            first = max(i for i in starts if i < first)
        return "\n".join(lines[first:])
