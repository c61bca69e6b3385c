"""Settings as data: what is written to a file, compared, and put into tables in their place."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

Label = str | int | float | bool


@dataclass(frozen=True)
class Described:
    """A setting's value as data. Values are equal where their details are.

    Attributes:
        label: what tables and figures say: a number, or words.
        detail: all of it, as JSON has it. Of a function there is its name only.
    """

    label: Label = field(compare=False)
    detail: Any

    @classmethod
    def of(cls, value: Any) -> Described:
        """A value: None, a number, a text, a sequence, a frozen dataclass of such, or a function."""
        detail = _detail(value)
        if value is None:
            return cls("none", None)
        if isinstance(detail, list):
            return cls("-".join(map(str, detail)) or "none", detail)
        return cls(detail if isinstance(detail, Label) else str(value), detail)


def _detail(value: Any) -> Any:
    if hasattr(value, "item") and getattr(value, "ndim", None) == 0:  # a NumPy scalar
        value = value.item()
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return str(value)
    if isinstance(value, list | tuple):
        return [_detail(one) for one in value]
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {"type": type(value).__name__, **{f.name: _detail(getattr(value, f.name)) for f in dataclasses.fields(value)}}
    return getattr(value, "__qualname__", type(value).__qualname__)
