"""The effects of a task's program: what it asks its driver to do between two stretches of computing.

A program is a generator. It yields an effect, and the driver sends back the effect's result: the arrays received, nothing, or what was waited for.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from typing import Any

from pslab.graph.plan import Cut


@dataclass(slots=True)
class Recv:
    """Receive the arrays of a cut; the result is a tuple of them."""

    cut: Cut


@dataclass(slots=True)
class Send:
    """Send arrays across a cut."""

    cut: Cut
    arrays: tuple[Any, ...]


@dataclass(slots=True)
class Wait:
    """Wait until ``poll()``, called under the task's monitor, no longer returns a `NotYet`; the result is what it returned.

    Attributes:
        poll: asks.
        what: name of the op that waits.
        busy: whether the time counts as computing.
    """

    poll: Callable[[], Any]
    what: str
    busy: bool = False


Effect = Recv | Send | Wait
Steps = Generator[Effect, Any, tuple[Any, ...]]
