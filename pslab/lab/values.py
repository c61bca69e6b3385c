"""Values as text that a person can read, write and check: numbers, words, tuples, and frozen dataclasses by their name."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import json
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from pslab.errors import UsageError


def say(value: Any) -> str:
    """The text of a value; of a dataclass only what is not as by default, such as ``SSP(staleness=2)``.

    Raises:
        UsageError: it is a function, or something else that has no text.
    """
    if value is None or isinstance(value, bool | int | float):
        return repr(value)
    if isinstance(value, str | StrEnum):
        return json.dumps(str(value), ensure_ascii=False)  # Python reads its escapes, too
    if isinstance(value, tuple | list):
        return f"({', '.join(map(say, value))}{',' if len(value) == 1 else ''})"
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return call(type(value).__name__, {f.name: v for f in dataclasses.fields(value) if (v := getattr(value, f.name)) != f.default})
    raise UsageError(f"{getattr(value, '__name__', value)!s:.80} cannot be told in a line of text", "it can be defined in a cell that is run first")


def call(name: str, values: Mapping[str, Any]) -> str:
    """Values by name, as a call."""
    return f"{name}({', '.join(f'{key}={say(value)}' for key, value in values.items())})"


def read(text: str, name: str, kinds: Mapping[str, type]) -> dict[str, Any]:
    """The values of a call of ``name``, as `call` writes it. Nothing is evaluated: only what `say` writes is understood.

    Args:
        text: the call.
        name: of what is called.
        kinds: the dataclasses that may be values, by name.

    Raises:
        UsageError: it is none, or a value cannot be meant.
    """
    try:
        found = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise UsageError(f"cannot read {text!r:.80}", f"it should be as {name}(workers=3)") from None
    if not (isinstance(found, ast.Call) and isinstance(found.func, ast.Name) and found.func.id == name):
        raise UsageError(f"found {text!r:.80}, which is not {name}(…)", f"it should be as {name}(workers=3)")
    return _arguments(found, kinds)


def _arguments(node: ast.Call, kinds: Mapping[str, type]) -> dict[str, Any]:
    if node.args or any(word.arg is None for word in node.keywords):
        raise UsageError(f"each value in {ast.unparse(node)!s:.80} needs a name", "such as workers=3")
    return {str(word.arg): _value(word.value, kinds) for word in node.keywords}


def _value(node: ast.expr, kinds: Mapping[str, type]) -> Any:
    match node:
        case ast.Constant(value=None | bool() | int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_value(part, kinds) for part in parts)
        case ast.Call(func=ast.Name(id=name)):
            return _made(name, _arguments(node, kinds), kinds)
    raise UsageError(f"cannot read {ast.unparse(node)!s:.80}", "values are numbers, words in quotes, tuples, and rules such as SSP(staleness=2)")


def _made(name: str, values: dict[str, Any], kinds: Mapping[str, type]) -> Any:
    if name not in kinds:
        close = difflib.get_close_matches(name, kinds, n=1)
        raise UsageError(f"there is no {name}", f"did you mean {close[0]}?" if close else f"one of: {', '.join(kinds)}")
    known = [field.name for field in dataclasses.fields(kinds[name])]
    for key in values:
        if key not in known:
            raise UsageError(f"{name} has no {key}", f"it has {', '.join(known)}" if known else "it has no values")
    try:
        return kinds[name](**values)
    except TypeError:
        raise UsageError(f"{call(name, values)} has a value missing, or one that does not fit") from None
