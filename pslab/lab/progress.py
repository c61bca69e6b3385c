"""One line that tells how long work goes on, updated in its place."""

from __future__ import annotations

import html
import sys
from types import TracebackType
from typing import Self

from IPython.core.getipython import get_ipython
from IPython.display import DisplayHandle, display

_ERASE = "\r\x1b[2K"
"""Back to the beginning of a terminal's line, and empty it (ECMA-48)."""


class _Line:
    """A text, and how much of the work is done."""

    def __init__(self, text: str, done: int = 0, total: int = 0) -> None:
        self._text, self._done, self._total = text, done, total

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        bar = f"<progress value='{self._done}' max='{self._total}' style='vertical-align:middle'></progress> " if self._total else ""
        return f"<span>{bar}{html.escape(self._text)}</span>" if self._text else ""


class _NotebookLine:
    """A display that a front end replaces in its place."""

    def __init__(self) -> None:
        self._handle: DisplayHandle | None = None

    def show(self, line: _Line) -> None:
        if self._handle is None:
            self._handle = display(line, display_id=True)
        else:
            self._handle.update(line)


class _TerminalLine:
    """A line of a terminal; where the output is a file or a pipe, nothing: there it could not be taken back."""

    def show(self, line: _Line) -> None:
        if sys.stdout.isatty():
            sys.stdout.write(f"{_ERASE}{line!r}")
            sys.stdout.flush()


class ProgressLine:
    """Shows a line within a ``with`` block, and takes it away at its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._place = _NotebookLine() if hasattr(get_ipython(), "kernel") else _TerminalLine()

    def __enter__(self) -> Self:
        self.update(self._text)
        return self

    def update(self, text: str, done: int = 0, total: int = 0) -> None:
        """Show another text, and ``done`` of ``total`` as a bar where there can be one."""
        self._place.show(_Line(text, done, total))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.update("")
