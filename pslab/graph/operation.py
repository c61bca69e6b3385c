"""An operation: one node of the graph."""

from __future__ import annotations

import linecache
import os
import sys
import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pslab.errors import GraphError, ShapeError
from pslab.graph import defaults
from pslab.graph.registry import OpDef
from pslab.graph.tensor import Tensor

if TYPE_CHECKING:
    from pslab.graph.graph import Graph

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep

_MAKERS = tuple(os.path.join(_PACKAGE, name) + os.sep for name in ("graph", "layers", "optim", "sync"))
"""Packages that make ops because others ask for them."""


class Operation:
    """A node: a type, inputs, control inputs, attributes, a device, and the outputs it will produce.

    Ops are made by `Graph.create_op`, which runs the type's shape rule; they do not change afterwards, except for their device and control inputs while
    the graph is being built.
    """

    __slots__ = ("_origin", "attrs", "control_inputs", "definition", "device", "graph", "inputs", "name", "outputs")

    def __init__(
        self,
        graph: Graph,
        definition: OpDef,
        name: str,
        inputs: Sequence[Tensor],
        control_inputs: Sequence[Operation],
        attrs: dict[str, Any],
    ) -> None:
        self.graph = graph
        self.definition = definition
        self.name = name
        self.inputs = tuple(inputs)
        self.control_inputs = tuple(control_inputs)
        self.attrs = attrs
        self.device = ""
        self._origin: tuple[str, int] | str = _caller()
        self.outputs: tuple[Tensor, ...] = ()
        try:
            inferred = definition.infer(self)
        except ShapeError as error:
            raise self._shape_error(error.message) from None
        self.outputs = tuple(Tensor(self, i, dtype, shape) for i, (dtype, shape) in enumerate(inferred))

    @property
    def type(self) -> str:
        """Name of the op type, such as ``"MatMul"``."""
        return self.definition.type

    @property
    def origin(self) -> str:
        """``file:line: source`` of the line outside pslab that built the op."""
        if isinstance(self._origin, str):
            return self._origin
        file, line = self._origin
        return f"{file}:{line}: {linecache.getline(file, line).strip()}"

    def set_origin(self, origin: str) -> None:
        """Give an op that was read from a graph definition the origin it had where it was built."""
        self._origin = origin

    def _shape_error(self, what: str) -> ShapeError:
        """A `ShapeError` that names this op, its scope and its inputs' shapes."""
        scope, _, short = self.name.rpartition("/")
        inputs = ", ".join(f"{t.name} {t.shape} {t.dtype.name}" for t in self.inputs)
        place = f" in scope {scope!r}" if scope else ""
        return ShapeError(f"{self.type} op {short!r}{place}: {what}\n  inputs: {inputs or 'none'}\n  built at {self.origin}")

    def add_control_input(self, op: Operation) -> None:
        """Let this op wait for ``op``.

        Raises:
            GraphError: the ops belong to different graphs.
        """
        if op.graph is not self.graph:
            raise GraphError(f"{op.name!r} and {self.name!r} belong to different graphs")
        if op not in self.control_inputs:
            self.control_inputs = (*self.control_inputs, op)
            self.graph.touch()

    def get_attr(self, name: str) -> Any:
        """The value of an attribute.

        Raises:
            GraphError: the op has no such attribute.
        """
        if name not in self.attrs:
            raise GraphError(f"op {self.name!r} ({self.type}) has no attribute {name!r}; it has: {', '.join(self.attrs) or 'none'}")
        return self.attrs[name]

    def run(self, feed_dict: dict[Any, Any] | None = None, session: Any = None) -> None:
        """Run this op in ``session``, or in the default session."""
        (session or defaults.require_session()).run(self, feed_dict)

    def __repr__(self) -> str:
        return f"<pslab.Operation {self.name!r} type={self.type}>"


def _caller() -> tuple[str, int]:
    """File and line of the innermost frame outside the package: the user's line. In a thread of the package's own, its innermost that asks for ops."""
    frame = sys._getframe(2)
    asks = None
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        if asks is None and not frame.f_code.co_filename.startswith(_MAKERS):
            asks = frame
        frame = frame.f_back
    if asks is not None and frame.f_code.co_filename == threading.__file__:
        frame = asks
    return frame.f_code.co_filename, frame.f_lineno
