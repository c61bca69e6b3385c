"""The parts that a `MonitoredSession` needs, given or made (TensorFlow 1's ``tf.train.Scaffold``)."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Any

from pslab.checkpoint.saver import Saver
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.graph import Graph
from pslab.graph.ops.sources import group
from pslab.graph.ops.uninitialized import report_uninitialized_variables
from pslab.graph.variables import (
    global_variables,
    global_variables_initializer,
    local_variables,
    local_variables_initializer,
)
from pslab.optim.global_step import get_global_step
from pslab.runtime.session import Session
from pslab.sessions.roster import RosterOps
from pslab.summary.ops import merge_all


class Scaffold:
    """What initialises, checks, saves and summarises a model. What is None is found in the graph's collections, or made.

    Args:
        init_op: initialises the model; all global variables by default.
        init_feed_dict: fed to it.
        init_fn: called as ``init_fn(scaffold, session)`` after it.
        ready_op: names what is not initialised, nothing if the model is ready; by default all global and local variables without value.
        ready_for_local_init_op: the same, before ``local_init_op`` may run; by default all global variables without value.
        local_init_op: initialises what belongs to this task; all local variables by default.
        summary_op: the summaries; all in the collection ``SUMMARIES``, merged, by default.
        saver: saves and restores; a `Saver` of all global variables by default.
        copy_from_scaffold: has the parts that are None here.

    Attributes:
        roster: this member's ops on the roster of those who train together; None where there are no global variables.
    """

    def __init__(
        self,
        init_op: Any = None,
        init_feed_dict: dict[Any, Any] | None = None,
        init_fn: Callable[[Scaffold, Session], Any] | None = None,
        ready_op: Any = None,
        ready_for_local_init_op: Any = None,
        local_init_op: Any = None,
        summary_op: Any = None,
        saver: Saver | None = None,
        copy_from_scaffold: Scaffold | None = None,
    ) -> None:
        other = copy_from_scaffold
        self.init_op: Any = _given(init_op, other, "init_op")
        self.init_feed_dict: dict[Any, Any] | None = _given(init_feed_dict, other, "init_feed_dict")
        own_init_fn = None if init_fn is None else lambda sess: init_fn(self, sess)
        self.init_fn: Callable[[Session], Any] | None = _given(own_init_fn, other, "init_fn")
        self.ready_op: Any = _given(ready_op, other, "ready_op")
        self.ready_for_local_init_op: Any = _given(ready_for_local_init_op, other, "ready_for_local_init_op")
        self.local_init_op: Any = _given(local_init_op, other, "local_init_op")
        self.summary_op: Any = _given(summary_op, other, "summary_op")
        self.saver: Saver | None = _given(saver, other, "saver")
        self.roster: RosterOps | None = None
        self._finalized_graph: Graph | None = None

    @staticmethod
    def get_or_default(arg_name: str, collection_key: str, default_constructor: Callable[[], Any]) -> Any:
        """The one element of a collection; made and put there if there is none.

        Raises:
            RuntimeError: there are several.
        """
        graph = get_default_graph()
        found = graph.get_collection(collection_key)
        if len(found) > 1:
            raise RuntimeError(
                f"More than one item in the collection {collection_key!r}. Please indicate which one to use by passing it as {arg_name}."
            )
        if found and found[0] is not None:
            return found[0]
        made = default_constructor()
        if made is not None:
            graph.add_to_collection(collection_key, made)
        return made

    @staticmethod
    def default_local_init_op() -> Any:
        """An op that initialises all local variables."""
        return group(local_variables_initializer(), name="init_local_variables")

    def finalize(self) -> Scaffold:
        """Find or make all parts, and make the graph final."""
        graph = get_default_graph()
        if self._finalized_graph is graph:
            return self
        if self.init_op is None:
            self.init_op = self.get_or_default("init_op", GraphKeys.INIT_OP, global_variables_initializer)
        if self.ready_op is None:
            self.ready_op = self.get_or_default(
                "ready_op", GraphKeys.READY_OP, lambda: report_uninitialized_variables([*global_variables(), *local_variables()])
            )
        if self.ready_for_local_init_op is None:
            self.ready_for_local_init_op = self.get_or_default(
                "ready_for_local_init_op", GraphKeys.READY_FOR_LOCAL_INIT_OP, lambda: report_uninitialized_variables(global_variables())
            )
        if self.local_init_op is None:
            self.local_init_op = self.get_or_default("local_init_op", GraphKeys.LOCAL_INIT_OP, self.default_local_init_op)
        if self.summary_op is None:
            self.summary_op = self.get_or_default("summary_op", GraphKeys.SUMMARY_OP, merge_all)
        if self.saver is None:
            self.saver = self.get_or_default("saver", GraphKeys.SAVERS, lambda: Saver(sharded=True, allow_empty=True))
        self.saver.build()
        self.roster = roster_of(graph)
        graph.finalize()
        self._finalized_graph = graph
        return self


def _given(value: Any, other: Scaffold | None, name: str) -> Any:
    """A part that was given, or else the other scaffold's."""
    return getattr(other, name, None) if value is None else value


def roster_of(graph: Graph) -> RosterOps | None:
    """Ops for a new member of the roster beside the graph's global step, or its first global variable."""
    shared = graph.get_collection(GraphKeys.GLOBAL_VARIABLES)
    if not shared:
        return None
    step = get_global_step(graph)
    return RosterOps(step if step is not None else shared[0], shared, secrets.token_hex(8))
