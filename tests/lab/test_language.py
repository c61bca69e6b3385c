"""Widgets speak the language that is chosen, with nothing left out."""

from __future__ import annotations

import ast
import string
from pathlib import Path

import pytest

import pslab
from pslab.errors import UsageError
from pslab.lab import language
from pslab.lab.language import CATALOGUES, tr

LAB = Path(language.__file__).parent


@pytest.fixture(autouse=True)
def english_again():
    yield
    pslab.set_language("en")


def said() -> set[str]:
    """Every message in the source that goes through `tr`, and the headings and parameters that come to it by name."""
    from pslab.lab.panel.controls import _PARAMETERS, GROUPS

    found = {*GROUPS, *(words for parameter in _PARAMETERS.values() for words in (parameter.label, parameter.hint))}
    for path in LAB.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "tr":
                found |= {n.value for n in ast.walk(node.args[0]) if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return found


def values_of(message: str) -> list[tuple[str, str | None]]:
    """Which values a message has, and how each is written; another language may have them in another order."""
    found = [(name, form) for _, name, form, _ in string.Formatter().parse(message) if name is not None]
    return sorted((name or str(number), form) for number, (name, form) in enumerate(found))


@pytest.mark.parametrize("name", [name for name in CATALOGUES if name != "en"])
def test_a_catalogue_has_every_message_and_no_other(name) -> None:
    assert set(CATALOGUES[name]) == said()
    for english, other in CATALOGUES[name].items():
        assert other.strip()
        assert values_of(other) == values_of(english), english


def test_it_is_said_in_the_language_that_is_chosen() -> None:
    assert tr("{} workers", 3) == "3 workers"
    pslab.set_language("zh")
    assert tr("{} workers", 3) == "3 个 worker"
    assert tr("no such message") == "no such message"


def test_a_language_without_a_catalogue_is_refused() -> None:
    with pytest.raises(UsageError, match="there is no language 'fr'"):
        pslab.set_language("fr")
    assert tr("Workers") == "Workers"
