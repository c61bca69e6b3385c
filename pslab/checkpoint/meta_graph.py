"""Meta graphs: a graph with its collections, as plain data, so that a model can be used where the program that built it is not.

An entry of a collection is ``(kind, what)``: an op, a tensor or a variable by name, a value as it is, or a *member* by number. A member is an object that
stands for several parts of the graph, such as a saver or a queue runner: a kind, what it refers to, and plain data.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pslab.errors import DataLossError
from pslab.graph.graph_def import GraphDef, records_of, seal, take_graph_def, unseal
from pslab.graph.node import renamed_tensor

Entry = tuple[str, Any]
VALUES = (bool, int, float, str, bytes)
"""Types of the values that a collection may have as they are; None is one, too."""


@dataclass(frozen=True, slots=True)
class Member:
    """An object that stands for several parts of a graph.

    Attributes:
        kind: what it is, such as ``"saver"``.
        refs: entries of the parts, by their roles.
        data: whatever else there is to know, plain.
    """

    kind: str
    refs: Mapping[str, tuple[Entry, ...]]
    data: Mapping[str, Any]


@dataclass(frozen=True)
class MetaGraph:
    """A graph with its collections, as plain data (TensorFlow 1's ``MetaGraphDef``).

    Attributes:
        graph_def: the ops.
        variables: by the name of its op, the names of a variable's other parts, and whether it is trained.
        members: objects that collections have, and the saver.
        collections: entries by the collections' names.
        saver: which member is the graph's saver, or None.
    """

    graph_def: GraphDef
    variables: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    members: tuple[Member, ...] = ()
    collections: Mapping[str, tuple[Entry, ...]] = field(default_factory=dict)
    saver: int | None = None

    def renamed(self, rename: Callable[[str], str]) -> MetaGraph:
        """This graph with other names of its ops."""

        def entries(listed: tuple[Entry, ...]) -> tuple[Entry, ...]:
            return tuple((kind, _RENAMED[kind](what, rename) if kind in _RENAMED else what) for kind, what in listed)

        variables = {
            rename(name): {
                **about,
                "initializer": rename(about["initializer"]),
                **{k: renamed_tensor(about[k], rename) for k in ("read", "initial_value")},
            }
            for name, about in self.variables.items()
        }
        members = tuple(replace(m, refs={role: entries(listed) for role, listed in m.refs.items()}) for m in self.members)
        collections = {key: entries(listed) for key, listed in self.collections.items()}
        return MetaGraph(self.graph_def.renamed(rename), variables, members, collections, self.saver)

    def with_file_names(self, rename: Callable[[str], str]) -> MetaGraph:
        """This graph with savers that know the arrays of checkpoints by other names."""
        savers = (
            replace(m, data={**m.data, "arrays": tuple((rename(n), *rest) for n, *rest in m.data["arrays"])})
            for m in self.members
            if m.kind == "saver"
        )
        return replace(self, members=tuple(next(savers) if m.kind == "saver" else m for m in self.members))

    def below(self, scope: str) -> MetaGraph:
        """The part of a scope, named as seen from within it.

        Raises:
            InvalidArgumentError: it takes a tensor from outside, or is empty.
        """
        prefix = scope.rstrip("/") + "/"

        def inside(entry: Entry) -> bool:
            kind, what = entry
            return what in kept if kind == "member" else kind == "value" or what.startswith(prefix)

        kept: dict[int, int] = {}
        for index, member in enumerate(self.members):
            if all(inside(entry) for listed in member.refs.values() for entry in listed):
                kept[index] = len(kept)
        lists = {key: tuple(e for e in listed if inside(e)) for key, listed in self.collections.items()}
        part = MetaGraph(
            self.graph_def,
            {name: about for name, about in self.variables.items() if name.startswith(prefix)},
            tuple(self.members[index] for index in kept),
            {key: tuple((k, kept[w]) if k == "member" else (k, w) for k, w in listed) for key, listed in lists.items() if listed},
            kept.get(-1 if self.saver is None else self.saver),
        )
        return replace(part.renamed(lambda name: name.removeprefix(prefix)), graph_def=self.graph_def.below(scope))

    def without_devices(self) -> MetaGraph:
        """This graph with no wish where its ops run."""
        return replace(self, graph_def=self.graph_def.without_devices())

    def to_bytes(self) -> bytes:
        """Encode it.

        Raises:
            UnimplementedError: an op cannot be written to a file.
        """
        members = tuple((m.kind, dict(m.refs), dict(m.data)) for m in self.members)
        about = {"variables": dict(self.variables), "members": members, "collections": dict(self.collections), "saver": self.saver}
        return seal([*records_of(self.graph_def), about])

    @classmethod
    def from_bytes(cls, data: bytes, what: str = "the meta graph") -> MetaGraph:
        """Decode what `to_bytes` encoded.

        Raises:
            DataLossError: the bytes are no meta graph, or a damaged one.
            UnimplementedError: a later version of pslab wrote it.
        """
        records = unseal(data, what)
        graph_def = take_graph_def(records, what)
        about = next(records, None)
        match about:
            case {"variables": dict(variables), "members": tuple(members), "collections": dict(collections), "saver": int() | None as saver}:
                if all(map(_is_variable, variables.items())) and all(map(_is_member, members)) and _has_entries(collections):
                    return cls(graph_def, variables, tuple(Member(*m) for m in members), collections, saver)
        raise DataLossError(f"{what} ends with {about!r:.80}, which does not tell a graph's variables and collections")

    def __str__(self) -> str:
        lines = [f"{key}: {', '.join(str(what) for _, what in listed)}" for key, listed in self.collections.items()]
        return "\n".join([str(self.graph_def), *lines])


_RENAMED: dict[str, Callable[[str, Callable[[str], str]], str]] = {
    "op": lambda name, rename: rename(name),
    "variable": lambda name, rename: rename(name),
    "tensor": renamed_tensor,
}


def _has_entries(lists: Mapping[Any, Any]) -> bool:
    """Whether these are lists of entries by name."""
    return all(isinstance(key, str) and isinstance(listed, tuple) and all(map(_is_entry, listed)) for key, listed in lists.items())


def _is_entry(entry: Any) -> bool:
    match entry:
        case ("op" | "variable" | "tensor", str()) | ("member", int()):
            return True
        case ("value", value):
            return value is None or isinstance(value, VALUES)
    return False


def _is_member(member: Any) -> bool:
    match member:
        case (str(), dict(refs), dict(data)):
            return _has_entries(refs) and all(isinstance(key, str) for key in data)
    return False


def _is_variable(item: Any) -> bool:
    match item:
        case (str(), {"initializer": str(), "read": str(), "initial_value": str(), "trainable": bool()}):
            return True
    return False
