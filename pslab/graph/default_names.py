"""TensorFlow 1's functions that act on the default graph: each is a method of `Graph`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from pslab.graph.defaults import get_default_graph
from pslab.graph.device import DeviceSpec
from pslab.graph.graph import DeviceFunction
from pslab.graph.operation import Operation
from pslab.graph.tensor import Tensor


def device(device_name_or_function: str | DeviceSpec | DeviceFunction | None) -> AbstractContextManager[None]:
    """`Graph.device` of the default graph."""
    return get_default_graph().device(device_name_or_function)


@contextmanager
def name_scope(name: str | None, default_name: str | None = None, values: Sequence[Any] | None = None) -> Iterator[str]:
    """`Graph.name_scope` of the default graph, or of the graph of ``values``.

    Args:
        name: the scope.
        default_name: the scope if ``name`` is None.
        values: tensors that an op is built from.
    """
    graph = next((v.graph for v in values or () if hasattr(v, "graph")), None) or get_default_graph()
    with graph.as_default(), graph.name_scope(default_name if name is None else name) as scope:
        yield scope


def control_dependencies(control_inputs: Sequence[Any] | None) -> AbstractContextManager[None]:
    """`Graph.control_dependencies` of the default graph."""
    return get_default_graph().control_dependencies(control_inputs)


def colocate_with(op: Operation | Tensor | Any) -> AbstractContextManager[None]:
    """`Graph.colocate_with` of the default graph; a variable stands for its op."""
    return get_default_graph().colocate_with(op.op if not isinstance(op, Operation | Tensor) else op)


def add_to_collection(name: str, value: Any) -> None:
    """`Graph.add_to_collection` of the default graph."""
    get_default_graph().add_to_collection(name, value)


def get_collection(key: str, scope: str | None = None) -> list[Any]:
    """`Graph.get_collection` of the default graph."""
    return get_default_graph().get_collection(key, scope)
