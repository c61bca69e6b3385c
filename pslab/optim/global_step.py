"""The global step: a variable that counts the updates of a model, whoever makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.errors import GraphError
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.graph import Graph
from pslab.graph.variables import Variable


def get_global_step(graph: Graph | None = None) -> Variable | None:
    """The global step of ``graph`` (by default the default graph), or None if it has none.

    It is the one in the collection ``GLOBAL_STEP``; where that is empty, the variable of the name ``global_step``.

    Raises:
        GraphError: the graph's collection ``GLOBAL_STEP`` has several.
    """
    graph = graph or get_default_graph()
    found = graph.get_collection(GraphKeys.GLOBAL_STEP)
    if not found:
        found = [v for v in graph.get_collection(GraphKeys.GLOBAL_VARIABLES) if v.op.name == "global_step"]
    if len(found) > 1:
        raise GraphError(f"the graph has {len(found)} global steps: {', '.join(v.name for v in found)}", "keep one in GraphKeys.GLOBAL_STEP")
    return found[0] if found else None


def create_global_step(graph: Graph | None = None) -> Variable:
    """Make the global step: an int64 scalar, zero at first, that is not trained and is found in the collection ``GLOBAL_STEP``.

    Raises:
        GraphError: the graph has one already.
    """
    graph = graph or get_default_graph()
    if (found := get_global_step(graph)) is not None:
        raise GraphError(f"the graph has a global step already: {found.name}", "use train.get_or_create_global_step()")
    with graph.as_default(), graph.name_scope(None):
        return Variable(np.int64(0), trainable=False, collections=[GraphKeys.GLOBAL_VARIABLES, GraphKeys.GLOBAL_STEP], name="global_step")


def get_or_create_global_step(graph: Graph | None = None) -> Variable:
    """The global step, made if there is none."""
    return get_global_step(graph) or create_global_step(graph)


def global_step(sess: Any, global_step_tensor: Any) -> int:
    """The present value of the global step, read by ``sess``."""
    return int(sess.run(global_step_tensor))
