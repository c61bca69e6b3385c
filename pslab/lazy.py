"""Façades: packages whose public names are imported when they are first used."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Callable, Mapping


def facade(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package.

    Args:
        package: its name.
        modules: from a module's name to the names it gives, separated by blanks. ``name=other`` gives the module's ``other`` as ``name``;
            ``.`` gives the module itself, under its last name.
    """
    where: dict[str, tuple[str, str | None]] = {}
    for module, entries in modules.items():
        for entry in entries.split():
            if entry == ".":
                where[module.rpartition(".")[2]] = (module, None)
            else:
                name, _, original = entry.partition("=")
                where[name] = (module, original or name)

    def get(name: str) -> object:
        if name not in where:
            close = difflib.get_close_matches(name, where, n=1)
            raise AttributeError(f"{package} has no {name!r}" + (f"; did you mean {close[0]!r}?" if close else ""))
        module, attribute = where[name]
        found = importlib.import_module(module)
        value = found if attribute is None else getattr(found, attribute)
        setattr(importlib.import_module(package), name, value)
        return value

    names = sorted(where)
    return get, lambda: names, names
