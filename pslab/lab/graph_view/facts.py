"""What is told of a node that is pointed at."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from pslab.graph.dtypes import as_dtype
from pslab.graph.node import Node as Op
from pslab.graph.registry import not_differentiable, op_def
from pslab.lab.graph_view.folding import Node
from pslab.lab.graph_view.parts import Kind, Part, Wire
from pslab.lab.language import tr

_MOST = 8
"""Names that are told; of more, how many there are."""


class Fact(NamedTuple):
    """Something that is told.

    Attributes:
        name: what it is about.
        value: what is told.
        code: whether that is a piece of a program.
    """

    name: str
    value: str
    code: bool = False


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
    known = _of_op(part.node, part, gradients) if part.node is not None else [Fact(tr("fed"), tr("from outside the graph"))]
    return [Fact(tr("task"), part.task), *known]


def _of_scope(node: Node) -> list[Fact]:
    ops = [part.node for part in node.parts if part.node is not None]
    types = Counter(op.type for op in ops).most_common(_MOST)
    kinds = ", ".join(f"{many} {name}" if many > 1 else name for name, many in types)
    return [Fact(tr("task"), node.task), Fact(tr("ops"), f"{len(ops)}"), Fact(tr("of these"), kinds)]


def _of_message(wire: Wire, measured: bool) -> list[Fact]:
    size = f"{wire.bytes:,.0f}"
    return [
        Fact(tr("from"), wire.source.task),
        Fact(tr("to"), wire.target.task),
        Fact(tr("bytes"), tr("{} (measured)" if measured else "{} (from static shapes)", size)),
        Fact(tr("tensors"), _few(wire.tensors) or tr("none: it says only that something is done")),
    ]


def _of_op(op: Op, part: Part, gradients: Mapping[str, Sequence[str]]) -> list[Fact]:
    definition = op_def(op.type)
    built, _, source = op.origin.partition(": ")
    outputs = [f"{_shape(shape)} {dtype}{_size(dtype, shape)}" for dtype, shape in op.outputs]
    facts = [
        Fact(tr("type"), tr("{}, fed in each step", op.type) if part.kind is Kind.FED else op.type),
        Fact(tr("device"), op.device),
        Fact(tr("output"), "; ".join(outputs) or tr("none")),
        Fact(tr("takes"), _few(op.inputs) or tr("nothing")),
        Fact(tr("gradient"), _gradient(op, gradients)),
        Fact(tr("state"), str(op.attrs.get("variable") or op.attrs.get("accumulator") or tr("of its task")) if definition.stateful else ""),
        Fact(tr("built at"), built),
        Fact(tr("source"), source, code=True),
    ]
    return [fact for fact in facts if fact.value]


def _gradient(op: Op, gradients: Mapping[str, Sequence[str]]) -> str:
    if op.name in gradients:
        return _few(gradients[op.name]) or tr("goes through as it is")
    rule = op_def(op.type).gradient
    return tr("none flows" if rule is None or rule is not_differentiable else "not asked for")


def _shape(shape: Sequence[int | None] | None) -> str:
    return tr("of any shape") if shape is None else f"[{', '.join('?' if d is None else str(d) for d in shape)}]"


def _size(dtype: str, shape: Sequence[int | None] | None) -> str:
    if shape is None or dtype == "string" or None in shape:
        return ""
    size = as_dtype(dtype).size
    for axis in shape:
        size *= axis or 0
    return tr(", {} bytes", f"{size:,}")


def _few(names: Sequence[str]) -> str:
    known = ", ".join(names[:_MOST])
    return tr("{} and {} more", known, len(names) - _MOST) if len(names) > _MOST else known
