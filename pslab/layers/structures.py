"""Nested tuples, named ones too: the states of recurrent networks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def map_structure(function: Callable[..., Any], *structures: Any) -> Any:
    """The structure of the first with ``function`` applied to the leaves of all that have one place."""
    first = structures[0]
    if not isinstance(first, list | tuple):
        return function(*structures)
    parts = [map_structure(function, *members) for members in zip(*structures, strict=True)]
    return type(first)(*parts) if hasattr(first, "_fields") else type(first)(parts)
