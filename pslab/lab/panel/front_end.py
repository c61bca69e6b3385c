"""The front end's modules as the one that a widget takes."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

FRONT = Path(__file__).with_name("front")
MODULES = (
    *("words_zh", "words", "live", "dom", "format", "history", "scales", "marks", "pen", "series_plot", "area_plot"),
    *("timeline_plot", "link_plot", "figures", "controls", "tasks", "zoom", "plots", "panel"),
)
"""Each may import from those before it. Their top-level names are different, so they may share one scope."""
DRAWING = ("words_zh", "words", "live", "dom", "format", "marks", "pen")
"""Those that other widgets draw with."""

_IMPORT = re.compile(r'^import \{[^}]*\} from "[./\w]+\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


def module_text() -> str:
    """All modules in one."""
    return bundle([FRONT / f"{name}.mjs" for name in MODULES])


def bundle(modules: Sequence[Path]) -> str:
    """Several modules in one: what they import of each other is there already."""
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", path.read_text(encoding="utf-8"))) for path in modules)


def style_text() -> str:
    """The style sheet."""
    return (FRONT / "panel.css").read_text(encoding="utf-8")
