"""The language of what widgets show: English, or one for which there is a message catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pslab.errors import UsageError
from pslab.lab.chinese import CHINESE

ENGLISH = "en"
CATALOGUES: Mapping[str, Mapping[str, str]] = {ENGLISH: {}, "zh": CHINESE}
"""What is said instead of an English message, by language."""

_now = ENGLISH


def set_language(name: str) -> None:
    """Let widgets speak another language: those that are shown from now on; and in all, what the kernel tells them (controls, facts of the graph, sentences).

    Names that one types elsewhere, of rules and tasks, are the same in every language. Errors, tables and figures are in English: a figure's fonts may have
    no other letters.

    Args:
        name: ``"en"`` or ``"zh"``.

    Raises:
        UsageError: there is no catalogue of it.
    """
    global _now
    if name not in CATALOGUES:
        raise UsageError(f"there is no language {name!r}", f"one of: {', '.join(CATALOGUES)}")
    _now = name


def language() -> str:
    """The language that is spoken."""
    return _now


def tr(message: str, *values: Any) -> str:
    """A message in the language that is spoken; ``values`` go where it has ``{}``."""
    return CATALOGUES[_now].get(message, message).format(*values)
