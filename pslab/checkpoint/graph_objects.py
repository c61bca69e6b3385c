"""The objects of a graph's collections, from a graph into a meta graph and back: variables, savers, queue runners."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pslab import errors
from pslab.checkpoint.meta_graph import VALUES, Entry, Member, MetaGraph
from pslab.errors import InvalidArgumentError, PslabError, UnimplementedError
from pslab.graph.graph import Graph
from pslab.graph.graph_def import GraphDef
from pslab.graph.importing import import_checked
from pslab.graph.operation import Operation
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.queues.queue import QueueBase
from pslab.queues.queue_runner import QueueRunner

Refs = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Kind:
    """How objects of a class become members, and members such objects."""

    cls: type
    to_plain: Callable[[Any], tuple[Refs, Mapping[str, Any]]]
    from_plain: Callable[[Any, Any], Any]


_KINDS: dict[str, Kind] = {}


def register_member(kind: str, cls: type, to_plain: Callable[[Any], tuple[Refs, Mapping[str, Any]]], from_plain: Callable[[Any, Any], Any]) -> None:
    """Let objects of ``cls`` be written: ``to_plain(object) -> (refs, data)``, with ops, tensors and variables in ``refs``, and back."""
    _KINDS[kind] = Kind(cls, to_plain, from_plain)


# From a graph


class _Writer:
    """Gathers what a meta graph has of a graph's objects."""

    def __init__(self) -> None:
        self.variables: dict[str, dict[str, Any]] = {}
        self.members: list[Member] = []
        self._numbers: dict[int, int] = {}

    def entry(self, thing: Any) -> Entry:
        """The entry of an object.

        Raises:
            UnimplementedError: it is of no kind that can be written.
        """
        if isinstance(thing, Variable):
            self.variables[thing.op.name] = {
                "initializer": thing.initializer.name,
                "read": thing.value().name,
                "initial_value": thing.initial_value.name,
                "trainable": bool(thing.trainable),
            }
            return "variable", thing.op.name
        if isinstance(thing, Tensor | Operation):
            return ("tensor" if isinstance(thing, Tensor) else "op"), thing.name
        if thing is None or isinstance(thing, VALUES):
            return "value", thing
        if id(thing) not in self._numbers:
            kind = next((k for k, v in _KINDS.items() if type(thing) is v.cls), None)
            if kind is None:
                raise UnimplementedError(f"a {type(thing).__name__} cannot be written: {thing!r:.80}")
            refs, data = _KINDS[kind].to_plain(thing)
            self.members.append(Member(kind, {role: tuple(map(self.entry, things)) for role, things in refs.items()}, data))
            self._numbers[id(thing)] = len(self.members) - 1
        return "member", self._numbers[id(thing)]


def meta_graph_of(graph: Graph, saver: Any = None, collection_list: Any = None) -> MetaGraph:
    """``graph`` and its collections as data. What of these cannot be written is left out, with a warning that names it.

    Args:
        graph: the graph.
        saver: its saver, or None.
        collection_list: names of the collections to take along; all by default. Those whose names begin with ``__`` are a program's own affair.
    """
    writer = _Writer()
    number = None if saver is None else writer.entry(saver)[1]
    collections: dict[str, tuple[Entry, ...]] = {}
    for key, things in graph.collections.lists.items():
        if not isinstance(key, str) or key.startswith("__") or (collection_list is not None and key not in collection_list):
            continue
        entries = []
        for thing in things:
            try:
                entries.append(writer.entry(thing))
            except PslabError as error:
                warnings.warn(f"collection {key!r} is written without one of its members: {error}", stacklevel=4)
        collections[key] = tuple(entries)
    return MetaGraph(GraphDef.of(graph), writer.variables, tuple(writer.members), collections, number)


# Into a graph


class _Reader:
    """Makes the objects of a meta graph whose ops ``graph`` has."""

    def __init__(self, graph: Graph, meta: MetaGraph) -> None:
        self._graph = graph
        self._meta = meta
        self._variables: dict[str, Variable] = {}
        self._members: dict[int, Any] = {}

    def objects(self, entries: tuple[Entry, ...]) -> Iterator[Any]:
        """What entries stand for."""
        return (self._object(kind, what) for kind, what in entries)

    def _object(self, kind: str, what: Any) -> Any:
        if kind == "value":
            return what
        if kind == "member":
            return self.member(what)
        if kind == "variable":
            return self._variable(what)
        return self._graph.get_tensor_by_name(what) if kind == "tensor" else self._graph.get_operation_by_name(what)

    def _variable(self, name: str) -> Variable:
        if name not in self._variables:
            if name not in self._meta.variables:
                raise InvalidArgumentError(f"nothing is told of variable {name!r}")
            about = self._meta.variables[name]
            op, initializer = (self._graph.get_operation_by_name(n) for n in (name, about["initializer"]))
            read, initial = (self._graph.get_tensor_by_name(about[k]) for k in ("read", "initial_value"))
            self._variables[name] = Variable.of_ops(op, initializer, read, initial, about["trainable"])
        return self._variables[name]

    def member(self, number: int) -> Any:
        """The object that a member stands for."""
        if number not in self._members:
            if not 0 <= number < len(self._meta.members):
                raise InvalidArgumentError(f"there is no member {number} of {len(self._meta.members)}")
            member = self._meta.members[number]
            if member.kind not in _KINDS:
                raise InvalidArgumentError(f"there is no kind of member {member.kind!r:.60}", "was this graph written by a newer version of pslab?")
            if any(kind == "member" for listed in member.refs.values() for kind, _ in listed):
                raise InvalidArgumentError(f"a {member.kind} cannot refer to another member")
            found = {role: list(self.objects(listed)) for role, listed in member.refs.items()}
            try:
                self._members[number] = _KINDS[member.kind].from_plain(found, dict(member.data))
            except PslabError:
                raise
            except Exception as error:  # what a file says may be anything
                raise InvalidArgumentError(f"a {member.kind} that was written cannot be: {type(error).__name__}: {error}") from None
        return self._members[number]


def add_to_graph(graph: Graph, meta: MetaGraph) -> Any:
    """Add a meta graph to ``graph``, as a whole or not at all; returns its saver, or None.

    Raises:
        InvalidArgumentError: something of it cannot be; the message names it.
    """
    with graph.undone_on_error():
        import_checked(graph, meta.graph_def)
        reader = _Reader(graph, meta)
        try:
            for key, entries in meta.collections.items():
                for thing in reader.objects(entries):
                    graph.add_to_collection(key, thing)
            return None if meta.saver is None else reader.member(meta.saver)
        except InvalidArgumentError:
            raise
        except PslabError as error:
            raise InvalidArgumentError(f"the graph's collections cannot be: {error.message}") from None


# Queue runners


def _runner_to_plain(runner: QueueRunner) -> tuple[Refs, Mapping[str, Any]]:
    names = tuple(t.__name__ for t in runner.queue_closed_exception_types)
    if any(_error_named(name) is not t for name, t in zip(names, runner.queue_closed_exception_types, strict=True)):
        raise UnimplementedError(f"queue runner {runner.name!r} cannot be written: it takes {', '.join(names)} for the end of its input")
    ops = {"enqueue": tuple(runner.enqueue_ops), "close": (runner.close_op,), "cancel": (runner.cancel_op,), "queue": (runner.queue.queue_ref,)}
    return ops, {"names": None if runner.queue.names is None else tuple(runner.queue.names), "ends": names}


def _runner_from_plain(found: Any, data: Any) -> QueueRunner:
    [queue_ref], [close], [cancel] = found["queue"], found["close"], found["cancel"]
    ends = [_error_named(name) for name in data["ends"]]
    if None in ends or not all(isinstance(op, Operation) for op in (queue_ref, close, cancel, *found["enqueue"])):
        raise InvalidArgumentError(f"a queue runner that was written cannot be: it has {data['ends']!r:.80}")
    queue = QueueBase.of_ops(queue_ref, cancel, data["names"])
    return QueueRunner(queue, found["enqueue"], close, cancel, [e for e in ends if e is not None])


def _error_named(name: Any) -> type[PslabError] | None:
    found = getattr(errors, name, None) if isinstance(name, str) else None
    return found if isinstance(found, type) and issubclass(found, PslabError) else None


register_member("queue runner", QueueRunner, _runner_to_plain, _runner_from_plain)
