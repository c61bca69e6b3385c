"""A graph as plain data, and as bytes: what is left of a model when its program has ended.

The bytes are a mark, a checksum, and records of msgpack: a header, then one record per op, in the order they were built. There is no code in them.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pslab.errors import DataLossError, InvalidArgumentError, UnimplementedError
from pslab.graph.graph import Graph
from pslab.graph.node import Node
from pslab.graph.packing import pack_records, unpack_records
from pslab.graph.shape import TensorShape

FORMAT = 1
"""Version of the layout. A reader refuses later ones."""
_MARK = b"pslab graph\n"


@dataclass(frozen=True, slots=True)
class GraphDef:
    """A graph as plain data (TensorFlow 1's ``tf.GraphDef``).

    Attributes:
        node: its ops, in the order they were built.
        seed: the graph-level random seed, or None.
    """

    node: tuple[Node, ...] = ()
    seed: int | None = None

    @classmethod
    def of(cls, graph: Graph) -> GraphDef:
        """The whole of ``graph``."""
        return cls(tuple(Node.of(op) for op in graph.operations), graph.seed)

    def renamed(self, rename: Callable[[str], str]) -> GraphDef:
        """This graph with other names; ``rename`` goes from an op's name to its new one."""
        known = {node.name for node in self.node}
        return replace(self, node=tuple(node.renamed(lambda name: rename(name) if name in known else name) for node in self.node))

    def below(self, scope: str) -> GraphDef:
        """The ops of a scope, named as seen from within it. What they waited for outside of it is forgotten.

        Raises:
            InvalidArgumentError: one of them takes a tensor from outside, or there are none.
        """
        prefix = scope.rstrip("/") + "/"
        nodes = [node for node in self.node if node.name.startswith(prefix)]
        names = {node.name for node in nodes}
        if not nodes:
            raise InvalidArgumentError(f"the graph has no ops in scope {scope!r}")
        for node in nodes:
            for tensor in node.inputs:
                if tensor.rpartition(":")[0] not in names:
                    raise InvalidArgumentError(
                        f"scope {scope!r} cannot stand alone: {node.name!r} takes {tensor!r}, which is outside",
                        "build a placeholder within the scope, or export the whole graph",
                    )
        cut = (replace(node, controls=tuple(c for c in node.controls if c in names)) for node in nodes)
        return replace(self, node=tuple(cut)).renamed(lambda name: name.removeprefix(prefix))

    def without_devices(self) -> GraphDef:
        """This graph with no wish where its ops run."""
        return replace(self, node=tuple(replace(node, device="") for node in self.node))

    def to_bytes(self) -> bytes:
        """Encode it.

        Raises:
            UnimplementedError: an op cannot be written to a file.
        """
        return seal(records_of(self))

    @classmethod
    def from_bytes(cls, data: bytes, what: str = "the graph") -> GraphDef:
        """Decode what `to_bytes` encoded.

        Args:
            data: the bytes.
            what: what to call them in errors.

        Raises:
            DataLossError: they are no graph, or a damaged one.
            UnimplementedError: a later version of pslab wrote it.
        """
        return take_graph_def(unseal(data, what), what)

    def SerializeToString(self) -> bytes:  # noqa: N802
        """`to_bytes`, by TensorFlow 1's name."""
        return self.to_bytes()

    @classmethod
    def FromString(cls, data: bytes) -> GraphDef:  # noqa: N802
        """`from_bytes`, by TensorFlow 1's name."""
        return cls.from_bytes(data)

    def __str__(self) -> str:
        lines = []
        for node in self.node:
            needs = ", ".join([*node.inputs, *(f"^{c}" for c in node.controls)])
            attrs = "".join(f" {k}={_short(v)}" for k, v in node.attrs.items())
            outputs = ", ".join(f"{dtype} {TensorShape(shape)}" for dtype, shape in node.outputs)
            lines.append(
                f"{node.name} = {node.type}({needs}){attrs}" + (f" -> {outputs}" if outputs else "") + (f" @{node.device}" if node.device else "")
            )
        return "\n".join(lines)


def _short(value: Any) -> str:
    return f"{value.dtype}{list(value.shape)}" if isinstance(value, np.ndarray) and value.size > 8 else repr(value)


def records_of(graph_def: GraphDef) -> Iterator[Any]:
    """The records of a graph: a header, and its nodes.

    Raises:
        UnimplementedError: an op cannot be written to a file.
    """
    yield {"format": FORMAT, "nodes": len(graph_def.node), "seed": graph_def.seed}
    for node in graph_def.node:
        if not node.definition.portable:
            raise UnimplementedError(f"op {node.name!r} ({node.type}) calls code of this program, which no file can hold\n  built at {node.origin}")
        yield node.to_plain()


def take_graph_def(records: Iterator[Any], what: str) -> GraphDef:
    """The graph that the next records tell.

    Raises:
        DataLossError: they do not, or end too early.
        UnimplementedError: a later version of pslab wrote them.
    """
    header = next(records, None)
    match header:
        case {"format": int(version), "nodes": int(count), "seed": int() | None as seed}:
            pass
        case _:
            raise DataLossError(f"{what} begins with {header!r:.80}, not with the header of a graph")
    if version > FORMAT:
        raise UnimplementedError(f"{what} has format {version}, this pslab reads up to {FORMAT}", "a later version of pslab wrote it")
    nodes = []
    for index in range(count):
        record = next(records, None)
        nodes.append(_node(record, f"op {index} of {count} of {what}"))
    return GraphDef(tuple(nodes), seed)


def seal(records: Iterable[Any]) -> bytes:
    """Records with a mark and a checksum before them.

    Raises:
        UnimplementedError: one holds what is no plain data.
    """
    try:
        content = pack_records(records)
    except TypeError as error:
        raise UnimplementedError(f"the graph cannot be written: {error}") from None
    return _MARK + zlib.crc32(content).to_bytes(4, "little") + content


def unseal(data: bytes, what: str) -> Iterator[Any]:
    """The records of `seal`.

    Raises:
        DataLossError: the bytes are something else, or were changed.
    """
    start = len(_MARK) + 4
    if data[: len(_MARK)] != _MARK or len(data) < start:
        raise DataLossError(f"{what} is no graph of pslab's: it begins with {data[: len(_MARK)]!r}, not with {_MARK!r}")
    if zlib.crc32(data[start:]).to_bytes(4, "little") != data[len(_MARK) : start]:
        raise DataLossError(f"{what} is damaged: its {len(data)} bytes do not have the checksum they were written with")
    return unpack_records(data[start:])


def _node(record: Any, what: str) -> Node:
    match record:
        case (str(), str(), tuple(inputs), tuple(controls), dict(attrs), str(), str(), tuple(outputs), tuple(spare)):
            names = all(isinstance(name, str) for name in (*inputs, *controls, *attrs))
            shapes = all(isinstance(o, tuple) and len(o) == 2 and isinstance(o[0], str) and _is_shape(o[1]) for o in outputs)
            if names and shapes and all(type(i) is int for i in spare):
                return Node(*record)
    raise DataLossError(f"{what} is {record!r:.120}, which describes no op")


def _is_shape(dims: Any) -> bool:
    return dims is None or (isinstance(dims, tuple) and all(d is None or (type(d) is int and d >= 0) for d in dims))
