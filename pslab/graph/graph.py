"""The computation graph: operations by name, and the contexts they are built in."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Any

from pslab.errors import GraphError, NotInGraphError, UnimplementedError
from pslab.graph import defaults
from pslab.graph.collections import Collections
from pslab.graph.device import DeviceSpec
from pslab.graph.operation import Operation
from pslab.graph.registry import op_def
from pslab.graph.tensor import Tensor

if TYPE_CHECKING:
    from pslab.graph.graph_def import GraphDef

DeviceFunction = Callable[[Operation], str | DeviceSpec | None]

_NAME = re.compile(r"[A-Za-z0-9.][A-Za-z0-9_.\\/>-]*")


def is_name(text: str) -> bool:
    """Whether an op can have this name."""
    return _NAME.fullmatch(text) is not None


class Graph:
    """A set of named operations, in the order they were built.

    Attributes:
        seed: the graph-level random seed, or None (see `pslab.set_random_seed`).
        collections: named lists of graph members, such as the trainable variables.
        gradient_ops: by an op's name, those of the ops that `gradients` added to compute its gradient, for people to find.
    """

    def __init__(self) -> None:
        self._operations: dict[str, Operation] = {}
        self._names_used: dict[str, int] = {}
        self._scope = ""
        self._devices: list[DeviceSpec | DeviceFunction | None] = []
        self._controls: list[Sequence[Operation] | None] = []
        self._colocation: Operation | None = None
        self._finalized = False
        self._version = 0
        self.seed: int | None = None
        self.collections = Collections()
        self.gradient_ops: dict[str, list[str]] = {}

    # What is in it

    @property
    def operations(self) -> list[Operation]:
        """All ops, in the order they were built."""
        return list(self._operations.values())

    def get_operations(self) -> list[Operation]:
        """All ops, in the order they were built, by TensorFlow 1's name."""
        return self.operations

    def __contains__(self, name: object) -> bool:
        """Whether there is an op of this name."""
        return name in self._operations

    @property
    def version(self) -> int:
        """A number that grows with every change; plans are cached by it."""
        return self._version

    def touch(self) -> None:
        """Note a change, so that cached plans of this graph are made anew."""
        self._version += 1

    def get_operation_by_name(self, name: str) -> Operation:
        """Find an op by its full name, scopes included.

        Raises:
            NotInGraphError: there is none; the message names close ones.
        """
        found = self._operations.get(name)
        if found is None:
            raise _no_such("op", name, self._operations)
        return found

    def get_tensor_by_name(self, name: str) -> Tensor:
        """Find a tensor by ``"op:index"``.

        Raises:
            GraphError: the name is not of that form, or the op has no such output.
            NotInGraphError: there is no such op.
        """
        op_name, colon, index = name.partition(":")
        if not colon or not index.isdigit():
            raise GraphError(f"{name!r} is not a tensor's name", f"write the op's name and the output's index: {op_name}:0")
        op = self.get_operation_by_name(op_name)
        if int(index) >= len(op.outputs):
            raise GraphError(f"op {op_name!r} has {len(op.outputs)} outputs; there is no {name!r}")
        return op.outputs[int(index)]

    def as_graph_element(self, thing: Any) -> Tensor | Operation:
        """The tensor or op that ``thing`` stands for: itself, a variable, or a name.

        Raises:
            GraphError: it is of no such kind, or belongs to another graph.
            NotInGraphError: there is no op of that name.
        """
        if hasattr(thing, "_as_graph_element"):
            thing = thing._as_graph_element()
        if isinstance(thing, str):
            return self.get_tensor_by_name(thing) if ":" in thing else self.get_operation_by_name(thing)
        if not isinstance(thing, Tensor | Operation):
            raise GraphError(f"expected a tensor, an op, a variable or a name, not {type(thing).__name__}: {thing!r}")
        if thing.graph is not self:
            raise GraphError(f"{thing.name!r} belongs to another graph", "build it inside `with graph.as_default():`")
        return thing

    # Building

    def create_op(self, type: str, inputs: Sequence[Tensor], attrs: dict[str, Any] | None = None, name: str | None = None) -> Operation:
        """Add an op; its shape rule runs now.

        Args:
            type: a registered op type.
            inputs: tensors of this graph.
            attrs: plain data that the kernel takes as keywords.
            name: wished name within the current scope; made unique. A name that ends in ``/`` is taken as the full name.

        Raises:
            GraphError: the graph is finalized, an input belongs to another graph, or the name is malformed.
            ShapeError: the static shapes do not fit.
        """
        if self._finalized:
            raise GraphError(f"the graph is finalized; cannot add a {type} op", "build everything before the session's first use")
        for tensor in inputs:
            if tensor.graph is not self:
                raise GraphError(f"{tensor.name!r} belongs to another graph than the {type} op that takes it")
        name = name[:-1] if name and name.endswith("/") else self.unique_name(name or type)
        op = Operation(self, op_def(type), name, inputs, self._control_inputs(inputs), attrs or {})
        self._operations[name] = op
        self._names_used.setdefault(name.lower(), 1)
        op.device = self._device_for(op)
        self.touch()
        return op

    def unique_name(self, name: str, mark_as_used: bool = True) -> str:
        """A name in the current scope that no op has: ``name``, or it with ``_1``, ``_2``, … at its end. As in TensorFlow, ``Add`` and ``add`` are one name.

        Raises:
            GraphError: the name has characters that names do not have.
        """
        if not is_name(name):
            raise GraphError(f"{name!r} is not a name", "use letters, digits, and . _ - / after the first character")
        wished = f"{self._scope}{name}"
        key = wished.lower()
        count = self._names_used.get(key, 0)
        unique = wished
        while unique.lower() in self._names_used:
            unique = f"{wished}_{count}"
            count += 1
        if mark_as_used:
            self._names_used[key] = max(count, 1)
            self._names_used.setdefault(unique.lower(), 1)
        return unique

    def mark_as_used(self, name: str) -> None:
        """Let no scope or op that is built from now on have this name, or that of one of its scopes, unless it is asked for in full."""
        parts = name.split("/")
        for end in range(1, len(parts) + 1):
            self._names_used.setdefault("/".join(parts[:end]).lower(), 1)

    @contextmanager
    def undone_on_error(self) -> Iterator[None]:
        """What is added to the graph within the block stays only if the block ends well."""
        operations, names, lists = dict(self._operations), dict(self._names_used), {k: list(v) for k, v in self.collections.lists.items()}
        seed = self.seed
        try:
            yield
        except BaseException:
            self._operations, self._names_used, self.collections.lists, self.seed = operations, names, lists, seed
            self.touch()
            raise

    def as_graph_def(self, from_version: int | None = None, add_shapes: bool = False) -> GraphDef:
        """The graph as plain data (`pslab.graph.graph_def.GraphDef`). The arguments are TensorFlow's; shapes are always along.

        Raises:
            UnimplementedError: ``from_version``: a graph is written as a whole.
        """
        from pslab.graph.graph_def import GraphDef

        if from_version is not None:
            raise UnimplementedError("as_graph_def cannot leave out the ops before from_version", "leave the argument out")
        return GraphDef.of(self)

    def finalize(self) -> None:
        """Forbid further ops."""
        self._finalized = True

    def _unsafe_unfinalize(self) -> None:
        """Allow further ops again."""
        self._finalized = False

    @property
    def finalized(self) -> bool:
        """Whether `finalize` was called."""
        return self._finalized

    # Contexts

    def as_default(self) -> AbstractContextManager[Graph]:
        """Make this the graph that new ops go into, within the block and this thread."""
        return defaults.default_graph(self)

    @contextmanager
    def name_scope(self, name: str | None) -> Iterator[str]:
        """Prefix the names of ops built in the block; yields the prefix.

        A name that ends in ``/`` re-enters that scope; None or ``""`` goes back to the root.
        """
        outer = self._scope
        if not name:
            self._scope = ""
        elif name.endswith("/"):
            self._scope = name
        else:
            self._scope = self.unique_name(name) + "/"
        try:
            yield self._scope
        finally:
            self._scope = outer

    def get_name_scope(self) -> str:
        """The name scope that is open, without a slash at its end; empty at the root."""
        return self._scope.rstrip("/")

    @contextmanager
    def device(self, device: str | DeviceSpec | DeviceFunction | None) -> Iterator[None]:
        """Ask that ops built in the block run on ``device``; inner blocks win, field by field.

        Args:
            device: a (partial) device name, a function from an op to one, or None to forget the outer blocks.
        """
        self._devices.append(DeviceSpec.from_string(device) if isinstance(device, str) else device)
        try:
            yield
        finally:
            self._devices.pop()

    @contextmanager
    def colocate_with(self, op: Operation | Tensor) -> Iterator[None]:
        """Put ops built in the block where ``op`` is, whatever the outer device blocks say."""
        outer, self._colocation = self._colocation, op.op if isinstance(op, Tensor) else op
        try:
            yield
        finally:
            self._colocation = outer

    @contextmanager
    def noting_gradient_of(self, op: Operation) -> Iterator[None]:
        """Note ops built in the block as those that compute the gradient of ``op``."""
        before = len(self._operations)
        yield
        added = list(islice(reversed(self._operations), len(self._operations) - before))
        self.gradient_ops.setdefault(op.name, []).extend(reversed(added))

    @contextmanager
    def control_dependencies(self, control_inputs: Sequence[Any] | None) -> Iterator[None]:
        """Let ops built in the block wait for ``control_inputs``; None forgets the outer blocks."""
        self._controls.append(None if control_inputs is None else [self._as_operation(c) for c in control_inputs])
        try:
            yield
        finally:
            self._controls.pop()

    # Collections, by TensorFlow 1's names

    def add_to_collection(self, name: str, value: Any) -> None:
        """Append ``value`` to the collection ``name``."""
        self.collections.add(name, value)

    def get_collection(self, name: str, scope: str | None = None) -> list[Any]:
        """The members of a collection, those whose name matches the regular expression ``scope`` if one is given."""
        return self.collections.get(name, scope)

    @property
    def _collections(self) -> dict[str, list[Any]]:
        """TensorFlow 1's half-private attribute, which public programs use."""
        return self.collections.lists

    # Parts

    def _as_operation(self, thing: Any) -> Operation:
        element = self.as_graph_element(thing)
        return element.op if isinstance(element, Tensor) else element

    def _control_inputs(self, inputs: Sequence[Tensor]) -> tuple[Operation, ...]:
        controls: dict[Operation, None] = {}
        for block in self._controls:
            if block is None:
                controls.clear()
            else:
                controls.update(dict.fromkeys(block))
        for tensor in inputs:
            controls.pop(tensor.op, None)
        return tuple(controls)

    def _device_for(self, op: Operation) -> str:
        if self._colocation is not None:
            return self._colocation.device
        for block in reversed(self._devices):  # innermost first: what it sets, the outer ones cannot change
            if block is None:
                break
            if callable(block):
                chosen = block(op)
                op.device = op.device if chosen is None else str(chosen)
            else:
                op.device = block.merge_under(DeviceSpec.from_string(op.device)).to_string()
        return op.device


def _no_such(kind: str, name: str, known: dict[str, Any]) -> NotInGraphError:
    import difflib

    close = difflib.get_close_matches(name, known, n=3)
    hint = f"did you mean {', '.join(repr(c) for c in close)}?" if close else f"the graph has {len(known)} {kind}s"
    return NotInGraphError(f"the graph has no {kind} named {name!r}", hint)
