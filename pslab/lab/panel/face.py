"""What a control is: how it looks, and how another value is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from pslab.errors import UsageError
from pslab.lab.panel.desk import Desk

MOST_TASKS = 16
"""Tasks of a kind that a panel asks for at most."""


class Face(NamedTuple):
    """How a control looks now.

    Attributes:
        label: what it is called.
        value: what is in force; None where nobody can tell.
        words: the same, for a mark in the plots; empty for what is not to be marked.
        options: what can be chosen among; empty where something is typed.
        least: the smallest number.
        most: the largest number; None without a bound.
        factor: what a click multiplies or divides the number by; 0 where it adds or takes one.
        hint: what it does, in a sentence.
        ladder: of something that is typed in words: the values that a click goes through, in order; what is in force is among them.
    """

    label: str
    value: Any
    words: str
    options: tuple[str, ...] = ()
    least: float = 1
    most: float | None = None
    factor: float = 0
    hint: str = ""
    ladder: tuple[str, ...] = ()


@dataclass(frozen=True)
class Control:
    """Something that can be set.

    Attributes:
        name: what it is known by.
        face: how it looks; None where the mode has no such thing.
        apply: asks the lab for another value; raises where that cannot be.
    """

    name: str
    face: Callable[[Desk], Face | None]
    apply: Callable[[Desk, Any], object]


def whole(value: Any) -> int:
    """A whole number from 0 on.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, int | float) or value != int(value) or value < 0:
        raise UsageError(f"a whole number from 0 on is wanted, found {value!r}")
    return int(value)


def number(value: Any) -> float:
    """A number.

    Raises:
        UsageError: it is none.
    """
    if not isinstance(value, int | float):
        raise UsageError(f"a number is wanted, found {value!r}")
    return float(value)
