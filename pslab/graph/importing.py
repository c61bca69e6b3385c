"""Graphs that come as data, from a file that anybody may have written: checked op by op, and added to a graph as a whole or not at all."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np

from pslab.errors import DataLossError, InvalidArgumentError, OpError, PslabError, UsageError
from pslab.graph.defaults import get_default_graph
from pslab.graph.device import DeviceSpec
from pslab.graph.graph import Graph, is_name
from pslab.graph.graph_def import GraphDef
from pslab.graph.node import Node, import_node
from pslab.graph.operation import Operation
from pslab.graph.partition import prune
from pslab.graph.registry import op_def
from pslab.graph.tensor import Tensor

_COUNTS = {"SplitEvenly": "count", "Unpack": "num"}
"""Op types whose number of outputs an attribute tells, and the attribute."""
_MOST_AXES = 64
_PLAIN = (type(None), bool, int, float, str, bytes, np.ndarray)


def import_graph_def(
    graph_def: GraphDef,
    input_map: Mapping[str, Any] | None = None,
    return_elements: Sequence[str] | None = None,
    name: str | None = None,
    op_dict: Any = None,
    producer_op_list: Any = None,
) -> list[Tensor | Operation] | None:
    """Add a graph that was read to the default graph (TensorFlow 1's ``tf.import_graph_def``).

    Args:
        graph_def: what `Graph.as_graph_def` or `GraphDef.from_bytes` gave.
        input_map: from names of tensors in ``graph_def`` to tensors that the ops take in their place.
        return_elements: names, in ``graph_def``, of ops and tensors to return.
        name: prefix of all names; ``import`` by default, none if it is empty.
        op_dict: changes nothing.
        producer_op_list: changes nothing.

    Returns:
        What ``return_elements`` names, or None.

    Raises:
        InvalidArgumentError: an op of it cannot be: an unknown type, a missing input, a wrong attribute, a name that is taken, a circle. The graph is as
            it was.
        NotFoundError: ``return_elements`` names what is not there.
        UsageError: ``graph_def`` is none, or ``input_map`` names what is not there.
    """
    if not isinstance(graph_def, GraphDef):
        raise UsageError(f"graph_def is what Graph.as_graph_def() returns, not {type(graph_def).__name__}")
    graph = get_default_graph()
    made = {node.output(i) for node in graph_def.node for i in range(len(node.outputs))} | {t for node in graph_def.node for t in node.inputs}
    replaced = {key if ":" in key else f"{key}:0": graph.as_graph_element(value) for key, value in (input_map or {}).items()}
    if unknown := sorted(replaced.keys() - made):
        raise UsageError(f"input_map names tensors that graph_def does not have: {', '.join(unknown)}")
    with graph.undone_on_error():
        scope = scope_for(graph, "import" if name is None else name)
        import_checked(graph, graph_def.renamed(lambda op: scope + op), {scope + tensor: value for tensor, value in replaced.items()})
        found = [graph.as_graph_element(scope + element) for element in return_elements or ()]
    return None if return_elements is None else found


def scope_for(graph: Graph, name: str | None) -> str:
    """The prefix that stands for a scope into which a graph is imported: no other has it, unless ``name`` ends in ``/``."""
    if not name:
        return ""
    return name if name.endswith("/") else graph.unique_name(name) + "/"


def import_checked(graph: Graph, graph_def: GraphDef, replaced: Mapping[str, Any] | None = None) -> None:
    """Add the ops of ``graph_def`` to ``graph`` under the names they have; all of them, or none.

    Args:
        graph: where to.
        graph_def: as it was read from wherever.
        replaced: tensors to take in place of those of these names.

    Raises:
        InvalidArgumentError: an op cannot be; the message names it.
    """
    with graph.undone_on_error():
        added = [(_add(graph, node, replaced or {}), node) for node in graph_def.node]
        for op, node in added:
            with _blamed(node):
                for control in node.controls:
                    op.add_control_input(graph.get_operation_by_name(control))
        try:
            prune([op for op, _ in added], ())
        except PslabError as error:
            raise InvalidArgumentError(error.message) from None


def _add(graph: Graph, node: Node, replaced: Mapping[str, Any]) -> Operation:
    with _blamed(node):
        _check(graph, node)
        op = import_node(graph, node, [replaced[name] if name in replaced else graph.get_tensor_by_name(name) for name in node.inputs])
        for tensor, (dtype, _) in zip(op.outputs, node.outputs, strict=True):
            if tensor.dtype.name != dtype:
                raise InvalidArgumentError(f"output {tensor.value_index} is {tensor.dtype.name}, not {dtype} as was written")
            if (tensor.shape.ndims or 0) > _MOST_AXES:
                raise InvalidArgumentError(f"output {tensor.value_index} has {tensor.shape.ndims} axes; at most {_MOST_AXES} can be")
        graph.mark_as_used(node.name)
        return op


def _check(graph: Graph, node: Node) -> None:
    if not is_name(node.name):
        raise InvalidArgumentError("that is not a name")
    if node.name in graph:
        raise InvalidArgumentError("the graph has an op of that name already", "import it under a scope")
    if not op_def(node.type).portable:
        raise InvalidArgumentError("an op of this type calls code of the program that built it, and cannot come from a file")
    required, known = _keywords(node.type)
    if missing := required - node.attrs.keys():
        raise InvalidArgumentError(f"attributes are missing: {', '.join(sorted(missing))}")
    if known is not None and (wrong := node.attrs.keys() - known):
        raise InvalidArgumentError(f"there are no such attributes: {', '.join(sorted(wrong))}")
    for key, value in node.attrs.items():
        if not _is_plain(value):
            raise InvalidArgumentError(f"attribute {key!r} is no plain data: {value!r:.60}")
    count = _COUNTS.get(node.type)
    if count is not None and node.attrs[count] != len(node.outputs):
        raise InvalidArgumentError(f"attribute {count!r} is {node.attrs[count]!r:.40}, but there are {len(node.outputs)} outputs")
    DeviceSpec.from_string(node.device)


@functools.cache
def _keywords(type: str) -> tuple[frozenset[str], frozenset[str] | None]:
    """The attributes that an op of this type must have, and those that it may have; None for any."""
    parameters = inspect.signature(op_def(type).kernel).parameters.values()
    keywords = [p for p in parameters if p.kind is p.KEYWORD_ONLY]
    required = frozenset(p.name for p in keywords if p.default is p.empty)
    return required, None if any(p.kind is p.VAR_KEYWORD for p in parameters) else frozenset(p.name for p in keywords)


def _is_plain(value: Any) -> bool:
    if isinstance(value, tuple):
        return all(map(_is_plain, value))
    return isinstance(value, _PLAIN)


@contextmanager
def _blamed(node: Node) -> Iterator[None]:
    """What goes wrong within the block is this node's fault: nothing that a file says may raise anything else."""
    blame = f"the graph's op {node.name!r:.200} ({node.type:.60}) cannot be"
    try:
        yield
    except DataLossError:
        raise
    except PslabError as error:
        hint = error.hint if isinstance(error, OpError) else ""
        raise InvalidArgumentError(f"{blame}: {error.message}", hint) from None
    except Exception as error:
        raise InvalidArgumentError(f"{blame}: {type(error).__name__}: {error}") from None
