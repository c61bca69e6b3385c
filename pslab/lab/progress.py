"""One line that tells how long work goes on, updated in its place."""

from __future__ import annotations

import html
from types import TracebackType
from typing import Self

from IPython.display import DisplayHandle, display


class _Line:
    """A text, and how much of the work is done."""

    def __init__(self, text: str, done: int = 0, total: int = 0) -> None:
        self._text, self._done, self._total = text, done, total

    def __repr__(self) -> str:
        return self._text

    def _repr_html_(self) -> str:
        bar = f"<progress value='{self._done}' max='{self._total}' style='vertical-align:middle'></progress> " if self._total else ""
        return f"<span>{bar}{html.escape(self._text)}</span>" if self._text else ""


class ProgressLine:
    """Shows a line within a ``with`` block, and takes it away at its end."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._handle: DisplayHandle | None = None

    def __enter__(self) -> Self:
        self._handle = display(_Line(self._text), display_id=True)
        return self

    def update(self, text: str, done: int = 0, total: int = 0) -> None:
        """Show another text."""
        if self._handle is not None:
            self._handle.update(_Line(text, done, total))

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.update("")
