"""A still picture of a scene, as SVG: what a notebook shows that is opened without the kernel that drew it."""

from __future__ import annotations

import base64
import html
import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from pslab.lab.graph_view.parts import Flow, Kind
from pslab.lab.graph_view.scene import HEIGHT
from pslab.lab.language import tr
from pslab.lab.palette import BANDS, CUT, GREY, INK
from pslab.lab.panel.snapshot import DARK

_DASHES = {Flow.WAIT: "2 3", Flow.STATE: "6 3"}
_ROUND = 5.0


def svg_of(scene: Mapping[str, Any]) -> str:
    """The scene as an SVG document."""
    parts = [_band(band, scene["height"]) for band in scene["bands"]]
    parts += [_edge(edge) for edge in sorted(scene["edges"], key=lambda edge: edge["flow"] == Flow.MESSAGE)]
    parts += [_node(node) for node in scene["nodes"]]
    size = f"width='{scene['width']:.0f}' height='{scene['height']:.0f}' viewBox='0 0 {scene['width']:.0f} {scene['height']:.0f}'"
    style = "font-family='system-ui,sans-serif' font-size='11'"
    return f"<svg xmlns='http://www.w3.org/2000/svg' {size} {style}><rect width='100%' height='100%' fill='white'/>{''.join(parts)}</svg>"


class Still:
    """The picture, as it was last. Where the view itself lives, its front end hides it.

    Args:
        scene: what is drawn; nothing is where it is None.
        words: what it is of.

    Attributes:
        scene: what is drawn.
    """

    def __init__(self, scene: Mapping[str, Any] | None, words: str) -> None:
        self.scene, self._words = scene, words

    def __repr__(self) -> str:
        return f"pslab graph: {self._words}" if self.scene is not None else ""

    def _repr_html_(self) -> str:
        if self.scene is None:
            return "<div class='pslab-snapshot'></div>"
        words = html.escape(tr("{}. %pslab graph --live opens a live one.", self._words), quote=True)
        data = base64.b64encode(svg_of(self.scene).encode()).decode()
        picture = f"<img style='max-width:100%' alt='{words}' src='data:image/svg+xml;base64,{data}'>"
        return f"<style>{_HIDE_BROKEN} {DARK}</style><div class='pslab-snapshot'>{picture}<p>{words}</p></div>"


_HIDE_BROKEN = (
    ".jp-OutputArea-child:has(> .jp-widgets-error):has(+ .jp-OutputArea-child .pslab-snapshot img),"
    ".jp-OutputArea-child:has(> .jupyter-widgets):not(:has(.pslab-graph)):not(:has(.pslab-panel)):has(+ .jp-OutputArea-child .pslab-snapshot img)"
    " { display: none }"
)
"""Where there is no view but a word that its widget was not found, the picture stands alone."""


def _band(band: Mapping[str, Any], height: float) -> str:
    colour = BANDS.get(band["job"], GREY)
    place = f"x='{band['x']:.0f}' y='4' width='{band['width']:.0f}' height='{height - 8:.0f}' rx='6'"
    return (
        f"<rect {place} fill='{colour}' fill-opacity='0.12' stroke='{colour}'/>"
        f"<text x='{band['x'] + 10:.0f}' y='21' font-weight='bold' fill='{INK}'>{band['task']}</text>"
    )


def _edge(edge: Mapping[str, Any]) -> str:
    points = list(zip(edge["path"][::2], edge["path"][1::2], strict=True))
    message = edge["flow"] == Flow.MESSAGE
    path = _cornered(points) if message else _curved(points)
    colour = CUT if message else INK
    dash = f" stroke-dasharray='{_DASHES[edge['flow']]}'" if edge["flow"] in _DASHES else ""
    return f"<path d='{path}' fill='none' stroke='{colour}' stroke-width='{edge['width']:.1f}' stroke-opacity='{0.75 if message else 0.45}'{dash}/>"


def _curved(points: Sequence[tuple[float, float]]) -> str:
    path = "M{:.1f} {:.1f}".format(*points[0])
    for (x0, y0), (x1, y1) in itertools.pairwise(points):
        bend = (y1 - y0) / 2
        path += f"C{x0:.1f} {y0 + bend:.1f} {x1:.1f} {y1 - bend:.1f} {x1:.1f} {y1:.1f}"
    return path


def _cornered(points: Sequence[tuple[float, float]]) -> str:
    path = "M{:.1f} {:.1f}".format(*points[0])
    for before, corner, after in zip(points, points[1:], points[2:], strict=False):
        begin, end = _towards(corner, before), _towards(corner, after)
        path += f"L{begin[0]:.1f} {begin[1]:.1f}Q{corner[0]:.1f} {corner[1]:.1f} {end[0]:.1f} {end[1]:.1f}"
    return path + "L{:.1f} {:.1f}".format(*points[-1])


def _towards(corner: tuple[float, float], other: tuple[float, float]) -> tuple[float, float]:
    distance = abs(other[0] - corner[0]) + abs(other[1] - corner[1])
    share = min(_ROUND, distance / 2) / distance if distance else 0.0
    return corner[0] + share * (other[0] - corner[0]), corner[1] + share * (other[1] - corner[1])


def _node(node: Mapping[str, Any]) -> str:
    colour = BANDS.get(node["task"].partition(":")[0], GREY)
    message = node["kind"] in (Kind.SEND, Kind.RECEIVE)
    rounded = 2 if node["kind"] == Kind.STATE else HEIGHT / 2
    place = f"x='{node['x'] - node['w'] / 2:.1f}' y='{node['y'] - HEIGHT / 2:.1f}' width='{node['w']:.1f}' height='{HEIGHT}' rx='{rounded}'"
    border = f"stroke='{CUT if message else INK}' stroke-width='{2 if node['returned'] or node['folds'] else 0.8}'"
    dash = " stroke-dasharray='4 2'" if node["kind"] == Kind.FED else ""
    fill = "white" if message or node["kind"] == Kind.FED else colour
    words = f"<tspan fill-opacity='0.6'>{html.escape(node['soft'])}</tspan>{html.escape(node['label'])}"
    return (
        f"<rect {place} fill='white'/><rect {place} fill='{fill}' fill-opacity='0.45' {border}{dash}/>"
        f"<text x='{node['x']:.1f}' y='{node['y'] + 3.7:.1f}' text-anchor='middle' fill='black'>{words}</text>"
    )
