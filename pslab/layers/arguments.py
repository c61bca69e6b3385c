"""Arguments of TensorFlow's signatures that have a place, but nothing behind it."""

from __future__ import annotations

from pslab.errors import UnimplementedError


def refuse(**arguments: object) -> None:
    """Refuse arguments that are given, and would have to do something.

    Raises:
        UnimplementedError: one is not None.
    """
    for name, value in arguments.items():
        if value is not None:
            raise UnimplementedError(f"{name}= is not built, found {value!r}", "leave it out")
