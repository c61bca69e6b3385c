"""The default graph and the default session: one stack of each per thread."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pslab.errors import GraphError, UsageError

if TYPE_CHECKING:
    from pslab.graph.graph import Graph


class _Stacks(threading.local):
    def __init__(self) -> None:
        self.graphs: list[Graph] = []
        self.sessions: list[Any] = []


_stacks = _Stacks()
_global_graph: Graph | None = None


def get_default_graph() -> Graph:
    """The graph that new ops go into: the innermost ``with graph.as_default():`` of this thread, else the program's global graph."""
    if _stacks.graphs:
        return _stacks.graphs[-1]
    global _global_graph
    if _global_graph is None:
        from pslab.graph.graph import Graph

        _global_graph = Graph()
    return _global_graph


def reset_default_graph() -> None:
    """Forget the program's global graph; the next op starts a fresh one.

    Raises:
        GraphError: inside a ``with graph.as_default():`` block, where it would not do what it says.
    """
    if _stacks.graphs:
        raise GraphError("reset_default_graph() does nothing useful inside `with graph.as_default():`", "call it outside")
    global _global_graph
    _global_graph = None


@contextmanager
def default_graph(graph: Graph) -> Iterator[Graph]:
    """Make ``graph`` this thread's default within the block."""
    _stacks.graphs.append(graph)
    try:
        yield graph
    finally:
        _stacks.graphs.remove(graph)


def get_default_session() -> Any:
    """The innermost session entered with ``with``, or None."""
    return _stacks.sessions[-1] if _stacks.sessions else None


def require_session() -> Any:
    """The default session.

    Raises:
        UsageError: there is none.
    """
    session = get_default_session()
    if session is None:
        raise UsageError("there is no default session", "use `with pslab.Session() as sess:`, or pass session=")
    return session


def push_session(session: Any) -> None:
    """Make ``session`` this thread's default."""
    _stacks.sessions.append(session)


def pop_session(session: Any) -> None:
    """Undo the last `push_session` of ``session``."""
    for position in reversed(range(len(_stacks.sessions))):
        if _stacks.sessions[position] is session:
            del _stacks.sessions[position]
            return
