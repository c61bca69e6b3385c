"""The front end of the parameter view: its own modules, after those of the panel that they need."""

from __future__ import annotations

from pathlib import Path

from pslab.lab.panel import front_end

FRONT = Path(__file__).with_name("front")
SHARED = (*front_end.DRAWING, "scales")
MODULES = ("contours", "trails", "parameter_paint", "parameters")
"""Each may import from those before it, and from the panel's that are shared."""


def module_text() -> str:
    """All modules in one."""
    return front_end.bundle([*(front_end.FRONT / f"{name}.mjs" for name in SHARED), *(FRONT / f"{name}.mjs" for name in MODULES)])


def style_text() -> str:
    """The style sheet: the panel's, and what is the view's own."""
    return front_end.style_text() + (FRONT / "parameters.css").read_text(encoding="utf-8")
