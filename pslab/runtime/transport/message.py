"""What tasks say to each other."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

STAMP = 0
"""What precedes a message on a shaped link, from channel to channel: when it is to arrive. No `Kind` of message."""


class Kind(IntEnum):
    """What a message is."""

    REGISTER = 1
    """Keep this partition of a plan (``body``) for later steps."""
    STEP = 2
    """Run the registered partition; ``arrays`` are its feeds, and the cut that its start rides in."""
    TENSORS = 3
    """A cut, between the master of the step and another task."""
    DELIVER = 4
    """A cut, between two tasks of which neither is the master."""
    DONE = 5
    """The partition has run; ``arrays`` are its fetches, ``fields`` its times."""
    FAILED = 6
    """It has not; ``body`` is the error."""
    DEVICES = 7
    """Which devices have you? And the answer, in ``body``."""
    EXTEND = 8
    """A client's session: further ops, and a step to prepare."""
    RUN = 9
    """A client's session: run a prepared step."""
    RESULT = 10
    """A client's session: it went well."""


@dataclass(slots=True)
class Message:
    """One message.

    Attributes:
        kind: what it is.
        plan: id of the plan it belongs to.
        step: number of the run it belongs to.
        cut: number of the cut it carries.
        fields: further numbers, at most 16.
        body: further bytes.
        arrays: NumPy arrays. Received ones are the receiver's own.
        size: bytes on the wire, set where it is received.
    """

    kind: int
    plan: int = 0
    step: int = 0
    cut: int = 0
    fields: tuple[int, ...] = ()
    body: bytes = b""
    arrays: tuple[Any, ...] = ()
    size: int = 0
