"""Cells of a notebook, run in a task's own process: each task has names and a graph of its own, which its cells share."""

from __future__ import annotations

import ast
import ctypes
import io
import itertools
import linecache
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, NamedTuple

from pslab.errors import FailedPreconditionError
from pslab.graph.graph import Graph
from pslab.run.report import program_traceback

_serial = itertools.count(1)


class CellState(NamedTuple):
    """How a cell fares.

    Attributes:
        printed: what it has printed since it was asked last: pieces of text, and whether they went to standard error.
        running: whether it is still at work.
        failed: whether it ended with an error.
    """

    printed: list[tuple[str, bool]]
    running: bool
    failed: bool


class Cells:
    """The cells of one task, one at a time.

    Args:
        task: its name.
        names: what its cells begin with.
    """

    def __init__(self, task: str, names: Mapping[str, Any]) -> None:
        self._task = task
        self._given = dict(names)
        self._names: dict[str, Any] = {}
        self._graph = Graph()
        self._lock = threading.Lock()
        self._printed: list[tuple[str, bool]] = []
        self._thread: threading.Thread | None = None
        self._failed = False
        self.clear()

    def clear(self) -> None:
        """Forget the names and the graph of earlier cells."""
        self._names = {"__name__": "__main__", **self._given}
        self._graph = Graph()

    def expect_none(self) -> None:
        """See that no cell is at work.

        Raises:
            FailedPreconditionError: one is running.
        """
        if self._thread is not None and self._thread.is_alive():
            raise FailedPreconditionError(f"{self._task} is still at work on a cell", "interrupt it (the notebook's ■), or wait for its end")

    def begin(self, source: str) -> None:
        """Run a cell in a thread.

        Raises:
            FailedPreconditionError: one is running.
        """
        self.expect_none()
        self._failed = False
        self._thread = threading.Thread(target=self._run, args=(source,), name=f"pslab cell {self._task}", daemon=True)
        self._thread.start()

    def state(self) -> CellState:
        """How the cell fares that was begun last."""
        running = self._thread is not None and self._thread.is_alive()  # asked first: what it printed at its end is in the list then
        with self._lock:
            printed, self._printed = self._printed, []
        return CellState(printed, running, self._failed)

    def interrupt(self) -> None:
        """Raise `KeyboardInterrupt` in the cell, at its next line of Python."""
        if self._thread is not None and self._thread.is_alive() and self._thread.ident is not None:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(self._thread.ident), ctypes.py_object(KeyboardInterrupt))

    def _run(self, source: str) -> None:
        file = f"<cell {next(_serial)} on {self._task}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        with _ThreadOutput.here(self._print), self._graph.as_default():
            try:
                _execute(source, file, self._names)
            except KeyboardInterrupt:
                self._print("KeyboardInterrupt\n", True)
                self._failed = True
            except SystemExit as end:
                self._failed = bool(end.code)
                if isinstance(end.code, str):
                    self._print(f"{end.code}\n", True)
            except Exception as error:
                self._print(program_traceback(error, file), True)
                self._failed = True

    def _print(self, text: str, error: bool) -> None:
        with self._lock:
            self._printed.append((text, error))


def _execute(source: str, file: str, names: dict[str, Any]) -> None:
    """Run the statements; show the value of the last, if it is an expression, as a notebook does."""
    tree = ast.parse(source, file)
    last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, file, "exec", dont_inherit=True), names)
    if isinstance(last, ast.Expr):
        value = eval(compile(ast.Expression(last.value), file, "eval", dont_inherit=True), names)
        if value is not None:
            print(repr(value))


class _ThreadOutput(io.TextIOBase):
    """Standard output or error of a process whose cells each have their own. A thread that no cell runs in was started by the last of them."""

    _sinks: dict[int, Callable[[str, bool], None]] = {}  # noqa: RUF012 (shared by both streams on purpose)
    _install = threading.Lock()

    def __init__(self, otherwise: Any, error: bool) -> None:
        self._otherwise = otherwise
        self._error = error

    def write(self, text: str) -> int:
        """Write to the cell's own, or, where no cell is run, to where it would have gone."""
        sink = self._sinks.get(threading.get_ident()) or next(reversed(list(self._sinks.values())), None)
        if sink is None:
            return int(self._otherwise.write(text))
        sink(text, self._error)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back here."""
        self._otherwise.flush()

    @classmethod
    @contextmanager
    def here(cls, sink: Callable[[str, bool], None]) -> Iterator[None]:
        """A block in which what this thread prints goes to ``sink(text, error)``."""
        with cls._install:
            if not isinstance(sys.stdout, cls):
                sys.stdout, sys.stderr = cls(sys.stdout, False), cls(sys.stderr, True)
        cls._sinks[threading.get_ident()] = sink
        try:
            yield
        finally:
            del cls._sinks[threading.get_ident()]
