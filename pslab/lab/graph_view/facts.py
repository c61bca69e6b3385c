"""What is told of a node that is pointed at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from pslab.graph.dtypes import as_dtype
from pslab.graph.node import Node as Op
from pslab.graph.registry import not_differentiable, op_def
from pslab.lab.graph_view.folding import Node
from pslab.lab.graph_view.parts import Kind, Part, Wire

Fact = tuple[str, str]
"""What it is about, and what is told."""
_MOST = 8
"""Names that are told; of more, how many there are."""


def facts_of(node: Node, gradients: Mapping[str, Sequence[str]], messages: Mapping[Part, Wire], measured: bool) -> list[Fact]:
    """What is told of a node.

    Args:
        node: the node.
        gradients: names of the ops that compute an op's gradient, by its name.
        messages: by the part that sends or receives it, each message.
        measured: whether bytes were measured; else they are from static shapes.
    """
    if node.folded:
        return _of_scope(node)
    (part,) = node.parts
    if part in messages:
        return _of_message(messages[part], measured)
    return [("task", part.task), *(_of_op(part.node, part, gradients) if part.node is not None else [("fed", "from outside the graph")])]


def _of_scope(node: Node) -> list[Fact]:
    ops = [part.node for part in node.parts if part.node is not None]
    types = Counter(op.type for op in ops).most_common(_MOST)
    flops = f"{sum(1 for op in ops)}"
    return [("task", node.task), ("ops", flops), ("of these", ", ".join(f"{many} {name}" if many > 1 else name for name, many in types))]


def _of_message(wire: Wire, measured: bool) -> list[Fact]:
    whose = "measured" if measured else "from static shapes"
    return [
        ("from", wire.source.task),
        ("to", wire.target.task),
        ("bytes", f"{wire.bytes:,.0f} ({whose})"),
        ("tensors", _few(wire.tensors) or "none: it says only that something is done"),
    ]


def _of_op(op: Op, part: Part, gradients: Mapping[str, Sequence[str]]) -> list[Fact]:
    definition = op_def(op.type)
    built, _, source = op.origin.partition(": ")
    outputs = [f"{_shape(shape)} {dtype}{_size(dtype, shape)}" for dtype, shape in op.outputs]
    facts = [
        ("type", op.type),
        ("device", op.device),
        ("output", "; ".join(outputs) or "none"),
        ("takes", _few(op.inputs) or "nothing"),
        ("gradient", _gradient(op, gradients)),
        ("state", str(op.attrs.get("variable") or op.attrs.get("accumulator") or "of its task") if definition.stateful else ""),
        ("built at", built),
        ("source", source),
    ]
    if part.kind is Kind.FED:
        facts[0] = ("type", f"{op.type}, fed in each step")
    return [fact for fact in facts if fact[1]]


def _gradient(op: Op, gradients: Mapping[str, Sequence[str]]) -> str:
    if op.name in gradients:
        return _few(gradients[op.name]) or "goes through as it is"
    rule = op_def(op.type).gradient
    return "none flows" if rule is None or rule is not_differentiable else "not asked for"


def _shape(shape: Sequence[int | None] | None) -> str:
    return "of any shape" if shape is None else f"[{', '.join('?' if d is None else str(d) for d in shape)}]"


def _size(dtype: str, shape: Sequence[int | None] | None) -> str:
    if shape is None or dtype == "string" or None in shape:
        return ""
    size = as_dtype(dtype).size
    for axis in shape:
        size *= axis or 0
    return f", {size:,} bytes"


def _few(names: Sequence[str]) -> str:
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")
