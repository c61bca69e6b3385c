"""Strings of tensors: bytes, as TensorFlow has them; what a program gives as ``str`` is taken as UTF-8."""

from __future__ import annotations

from typing import Any

import numpy as np

Strings = np.ndarray[Any, np.dtype[np.object_]]


def as_bytes(value: str | bytes) -> bytes:
    """A string as bytes."""
    return value.encode("utf-8", "surrogateescape") if isinstance(value, str) else value


def as_text(value: str | bytes) -> str:
    """A string as ``str``; bytes that are no UTF-8 come back as they were from `as_bytes`."""
    return value.decode("utf-8", "surrogateescape") if isinstance(value, bytes) else value


def as_strings(value: Any) -> Strings | None:
    """Strings, nested in lists or in an array, as an array of bytes; None if something else is among them."""
    found = np.array(value, object)
    if not all(isinstance(string, str | bytes) for string in found.flat):
        return None
    found.reshape(-1)[:] = [as_bytes(string) for string in found.flat]
    return found
