"""The structure of what a run fetches: lists, tuples, dicts and named tuples of tensors, ops, variables and names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pslab.errors import UsageError
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.tensor import Tensor


class Fetches:
    """A nested structure, flattened.

    Attributes:
        elements: the tensors and ops in it, each once, in the order they are met.
    """

    def __init__(self, graph: Graph, structure: Any) -> None:
        self.elements: list[Tensor | Operation] = []
        self._places: dict[Tensor | Operation, int] = {}
        self._graph = graph
        self._build = self._flatten(structure)
        self._tensor_index = {e: i for i, e in enumerate(e for e in self.elements if isinstance(e, Tensor))}

    def rebuild(self, values: list[Any]) -> Any:
        """The structure with each tensor replaced by its value, given in the order of the tensors among `elements`, and each op by None."""
        return self._build(values)

    def _flatten(self, structure: Any) -> Callable[[list[Any]], Any]:
        if isinstance(structure, list):
            return self._sequence(list, structure)
        if isinstance(structure, tuple):
            make: Callable[[Any], Any] = (lambda items: type(structure)(*items)) if hasattr(structure, "_fields") else tuple
            return self._sequence(make, structure)
        if isinstance(structure, dict):
            keys = list(structure)
            parts = [self._flatten(structure[k]) for k in keys]
            return lambda values: dict(zip(keys, (part(values) for part in parts), strict=True))
        if structure is None:
            raise UsageError("cannot fetch None", "is a variable of your program not set, or did a function return nothing?")
        element = self._graph.as_graph_element(structure)
        if element not in self._places:
            self._places[element] = len(self._places)
            self.elements.append(element)
        if isinstance(element, Operation):
            return lambda values: None
        tensor = element
        return lambda values: values[self._tensor_index[tensor]]

    def _sequence(self, make: Callable[[Any], Any], items: Any) -> Callable[[list[Any]], Any]:
        parts = [self._flatten(item) for item in items]
        return lambda values: make([part(values) for part in parts])
