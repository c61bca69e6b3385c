"""Numbers as words of a line: what ``argparse`` calls types."""

from __future__ import annotations

import argparse
import math


def count(text: str) -> int:
    """A whole number from 1 on."""
    return _whole(text, 1)


def natural(text: str) -> int:
    """A whole number from 0 on."""
    return _whole(text, 0)


def positive(text: str) -> float:
    """A finite number greater than 0."""
    number = _number(text)
    if not 0 < number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number greater than 0, found {text}")
    return number


def not_negative(text: str) -> float:
    """A finite number from 0 on."""
    number = _number(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"must be a number from 0 on, found {text}")
    return number


def fraction(text: str) -> float:
    """A number from 0 to 1."""
    number = _number(text)
    if not 0 <= number <= 1:
        raise argparse.ArgumentTypeError(f"must be a number from 0 to 1, found {text}")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a number, found {text!r}") from None


_PER_SECOND = {"us": 1e6, "µs": 1e6, "ms": 1e3, "s": 1.0}


def duration(text: str) -> float:
    """A length of time in seconds, 0 or more, from such as ``50ms``, ``1.5s`` or ``0``."""
    number = text.rstrip("µmsu")
    unit = text[len(number) :]
    if number == "0" and not unit:
        return 0.0
    if unit not in _PER_SECOND:
        raise argparse.ArgumentTypeError(f"must be a length of time, such as 50ms or 1.5s, found {text!r}")
    return not_negative(number) / _PER_SECOND[unit]


LARGEST = 2**31 - 1
"""The largest whole number that a line may hold."""


def _whole(text: str, least: int) -> int:
    try:
        number = int(text)
    except ValueError:
        raise argparse.ArgumentTypeError(f"must be a whole number, found {text!r}") from None
    if number < least:
        raise argparse.ArgumentTypeError(f"must be {least} or more, found {number}")
    if number > LARGEST:
        raise argparse.ArgumentTypeError(f"must be {LARGEST} or less, found {number}")
    return number
