"""Front ends: ES modules and style sheets as the one text of each that a widget takes, without a bundler."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

_IMPORT = re.compile(r'^import \{[^}]*\} from "[./\w]+\.mjs";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)


@dataclass(frozen=True)
class FrontEnd:
    """What a page takes of one widget.

    Attributes:
        modules: ES modules. Each may import from those before it. Their top-level names are different, so they may share one scope.
        styles: style sheets, in order.
    """

    modules: Sequence[Path]
    styles: Sequence[Path]

    @property
    def text(self) -> str:
        """All modules in one: what they import of each other is there already."""
        return "\n".join(_EXPORT.sub("", _IMPORT.sub("", path.read_text(encoding="utf-8"))) for path in self.modules)

    @property
    def style(self) -> str:
        """All style sheets in one."""
        return "".join(path.read_text(encoding="utf-8") for path in self.styles)

    def __add__(self, other: FrontEnd) -> FrontEnd:
        return FrontEnd([*self.modules, *other.modules], [*self.styles, *other.styles])


def in_front_of(place: str, modules: Sequence[str], styles: Sequence[str] = ()) -> FrontEnd:
    """Modules and style sheets, by their names, in the directory ``front`` beside the file ``place``."""
    front = Path(place).with_name("front")
    return FrontEnd([front / f"{name}.mjs" for name in modules], [front / f"{name}.css" for name in styles])


DRAWING = in_front_of(__file__, ("words_zh", "words", "live", "dom", "format", "scales", "marks", "pen"), ("panel",))
"""What all widgets draw with."""
_PLOTS = ("history", "series_plot", "area_plot", "timeline_plot", "link_plot", "figures")
PANEL = DRAWING + in_front_of(__file__, (*_PLOTS, "controls", "tasks", "zoom", "plots", "panel"))
"""The panel's."""
