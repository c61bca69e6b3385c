"""The front end of a race: its own modules, after those of the panel that they need."""

from __future__ import annotations

from pathlib import Path

from pslab.lab.panel import front_end

FRONT = Path(__file__).with_name("front")
MODULES = ("race_layout", "race_diagram", "race_view")
"""Each may import from those before it, and from the panel's."""


def module_text() -> str:
    """All modules in one."""
    return front_end.bundle([*(front_end.FRONT / f"{name}.mjs" for name in front_end.DRAWING), *(FRONT / f"{name}.mjs" for name in MODULES)])


def style_text() -> str:
    """The style sheet: the panel's, and what is a race's own."""
    return front_end.style_text() + (FRONT / "race.css").read_text(encoding="utf-8")
