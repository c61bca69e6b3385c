"""What a hook is (TensorFlow 1's ``tf.train.SessionRunHook``)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

from pslab.graph.graph import Graph
from pslab.queues.coordinator import Coordinator
from pslab.runtime.session import Session


class SessionRunArgs(NamedTuple):
    """What a run is to do besides.

    Attributes:
        fetches: anything a session fetches.
        feed_dict: further feeds.
        options: `RunOptions`, or None.
    """

    fetches: Any
    feed_dict: dict[Any, Any] | None = None
    options: Any = None


class SessionRunValues(NamedTuple):
    """What a run has given.

    Attributes:
        results: values of what the hook asked for.
        options: the options it ran with.
        run_metadata: what was measured.
    """

    results: Any
    options: Any
    run_metadata: Any


@dataclass
class SessionRunContext:
    """One run, as its hooks see it.

    Attributes:
        original_args: what the program asked for.
        session: the session.
        stop_requested: whether a hook has asked for the end.
    """

    original_args: SessionRunArgs
    session: Session
    stop_requested: bool = False

    def request_stop(self) -> None:
        """Let this run be the last."""
        self.stop_requested = True


class SessionRunHook:
    """Called around the runs of a `MonitoredSession`. Each method may be overridden."""

    def begin(self) -> None:
        """Before the session is made. The graph may still be added to."""

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """When a session was made, after a recovery too. The graph is final."""

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs | None:
        """Before each run; returns what is to be fetched and fed besides."""
        return None

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """After each run that did not fail."""

    def end(self, session: Session) -> None:
        """At the end, unless an error ended the session."""


def global_step_of(graph: Graph, whose: str) -> Any:
    """The graph's global step.

    Raises:
        RuntimeError: there is none; it names who needs it.
    """
    from pslab.optim.global_step import get_global_step

    step = get_global_step(graph)
    if step is None:
        raise RuntimeError(f"Global step should be created to use {whose}.")
    return step
