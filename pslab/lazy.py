"""Façades: packages whose public names are imported when they are first used."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping


def facade(package: str, modules: Mapping[str, str]) -> tuple[Callable[[str], object], Callable[[], list[str]], list[str]]:
    """``__getattr__``, ``__dir__`` and ``__all__`` of a package. A name it does not list is looked up among the historical ones.

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
    names = sorted(where)

    def get(name: str) -> object:
        if name.startswith("__"):  # what Python and its tools ask every module for
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        if name in where:
            module, attribute = where[name]
            found = importlib.import_module(module)
            value = found if attribute is None else getattr(found, attribute)
        else:
            historical = importlib.import_module("pslab.compat.historical")
            value = historical.look_up(f"{package}.{name}".partition(".")[2], names)
        setattr(importlib.import_module(package), name, value)
        return value

    return get, lambda: names, names
