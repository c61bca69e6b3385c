"""The words of ``%pslab sweep``: from options to a grid, and to when a run ends."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable, Sequence
from typing import Any

from pslab.errors import UsageError
from pslab.lab.mode_words import mode_fields
from pslab.lab.parser import build_parser, verbs_of
from pslab.lab.setup import KEYS, check_key
from pslab.lab.until import Until
from pslab.train.models import NAMES
from pslab.train.strategy import Strategy

_OPTIONS = {"learning_rate": "--lr", "batch_size": "--batch"}
"""Options that are not called as their setting."""
_VERBS = ("model", "data", "cluster scale")
"""Verbs, other than ``mode``, whose options are settings."""
_EXAMPLE = "such as --over commit-every=1,2,4 --over update=sync,ssp:staleness=2"


def until_of(said: Sequence[str]) -> Until:
    """When a run ends: ``accuracy=0.95``, ``steps=500``, …, also several with commas between them.

    Raises:
        UsageError: it cannot be meant.
    """
    whole = {field.name for field in dataclasses.fields(Until) if "int" in str(field.type)}
    ends: dict[str, Any] = {}
    for part in (part for words in said for part in words.split(",")):
        name, equals, text = part.partition("=")
        if not equals:
            raise UsageError(f"--until {part} has no value", "such as --until accuracy=0.95 --until steps=2000")
        try:
            ends[name] = int(text) if name in whole else float(text)
        except ValueError:
            raise UsageError(f"--until {name}=… takes a {'whole ' if name in whole else ''}number, found {text!r}") from None
    return Until.of(None, ends)


def grid_of(said: Sequence[str], now: Strategy, named: Callable[[str], Any]) -> dict[str, list[Any]]:
    """Values by setting, each read as the option of its own verb: ``update=sync,sync:backup=1,async:no-lock``, ``batch-size=16,64``, ``hidden=128,64-32``.

    Args:
        said: a setting each.
        now: the mode in force, of which a rule keeps what is not said.
        named: gives what the notebook calls a name.

    Raises:
        UsageError: there is no such setting, or a value cannot be meant.
    """
    parser = build_parser()
    grid: dict[str, list[Any]] = {}
    for words in said:
        name, equals, texts = words.partition("=")
        key = name.replace("-", "_")
        check_key(key)
        if not equals or not texts:
            raise UsageError(f"--over {words} has no values", _EXAMPLE)
        if key in grid:
            raise UsageError(f"--over {name}=… comes twice", f"all values in one: --over {name}={texts},…")
        try:
            grid[key] = [_value(key, text, now, parser, named) for text in texts.split(",")]
        except argparse.ArgumentTypeError as error:
            raise UsageError(f"--over {words}: {error}", _EXAMPLE) from None
    return grid


def suggestions() -> list[str]:
    """What may follow ``--over``: each setting, with its values where they are known."""
    parser, found = build_parser(), []
    for key in KEYS:
        action = _action(key, parser)
        known = NAMES if key == "model" else action.choices if action is not None and action.choices else ()
        found += [f"{key.replace('_', '-')}={value}" for value in known or ("",)]
    return found


ENDS = tuple(f"{field.name}=" for field in dataclasses.fields(Until))
"""What may follow ``--until``."""


def _value(key: str, text: str, now: Strategy, parser: argparse.ArgumentParser, named: Callable[[str], Any]) -> Any:
    if KEYS[key][0] == "strategy":
        word, *further = text.split(":")
        words = [part for option in further for part in f"--{option}".split("=", 1)]
        options = parser.parse_args(["mode", f"--{key.replace('_', '-')}", word, *words])
        return mode_fields(options, now)[key]
    if key == "model":
        return text if text in NAMES else named(text)
    action = _action(key, parser)
    assert action is not None
    if action.choices is not None and text not in action.choices:
        raise argparse.ArgumentTypeError(f"one of: {', '.join(map(str, action.choices))}")
    read: Callable[[str], Any] = action.type if callable(action.type) else str
    if action.nargs != "+":
        return read(text)
    values = [read(part) for part in text.split("-")]
    return values[0] if key == "batch_size" and len(values) == 1 else values


def _action(key: str, parser: argparse.ArgumentParser) -> argparse.Action | None:
    """The option that the setting is otherwise said by."""
    option = _OPTIONS.get(key, f"--{key.replace('_', '-')}")
    for verb in ("mode", *_VERBS):
        owner = parser
        for word in verb.split():
            owner = verbs_of(owner)[word]
        for action in owner._actions:
            if option in action.option_strings:
                return action
    return None
