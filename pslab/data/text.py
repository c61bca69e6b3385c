"""Arrays of strings, and the numbers that they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError
from pslab.graph.strings import as_text

Array = np.ndarray[Any, np.dtype[Any]]


def string_array(values: Any, shape: tuple[int, ...]) -> Array:
    """An array of strings, of this shape."""
    array = np.empty(len(values), object)
    array[:] = values
    return array.reshape(shape)


def each(function: Callable[[Any], Any], values: Any, dtype: Any = object) -> Array:
    """``function`` of every element: an array of the same shape."""
    array = np.asarray(values, object)
    results = [function(value) for value in array.ravel()]
    return string_array(results, array.shape) if np.dtype(dtype).kind == "O" else np.array(results, dtype).reshape(array.shape)


def number(text: str | bytes, dtype: np.dtype[Any]) -> Any:
    """The number that a text is, blanks around it aside.

    Raises:
        InvalidArgumentError: it is none, or none that ``dtype`` holds.
    """
    plain = as_text(text).strip()
    try:
        if "_" in plain:
            raise ValueError
        value = int(plain) if dtype.kind == "i" else float(plain)
        if dtype.kind == "i" and not np.iinfo(dtype).min <= value <= np.iinfo(dtype).max:
            raise ValueError
    except ValueError:
        raise InvalidArgumentError(f"{as_text(text)!r} is not a valid {dtype.name}") from None
    return dtype.type(value)
