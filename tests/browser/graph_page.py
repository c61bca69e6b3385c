"""A graph view in a notebook that is open in a browser, as a person uses it."""

from __future__ import annotations

import json
from typing import Any

WAIT_MS = 60_000


class GraphPage:
    """One graph view.

    Args:
        page: playwright's page.
        number: which of the views in the notebook.
    """

    def __init__(self, page: Any, number: int = 0) -> None:
        self._page = page
        self._number = number
        self.element = page.locator(".pslab-graph").nth(number)
        self.element.wait_for(timeout=WAIT_MS)
        self.until("scene && view.frames > 0")

    def read(self, expression: str) -> Any:
        """The value of an expression over the ``view`` and its ``scene``."""
        return json.loads(self._page.evaluate(_script(expression, "JSON.stringify(value ?? null)"), self._number))

    def until(self, expression: str) -> None:
        """Wait until it is true."""
        self._page.wait_for_function(_script(expression, "value"), arg=self._number, timeout=WAIT_MS)

    def place(self, task: str, label: str) -> tuple[float, float]:
        """Where on the screen a node is."""
        found = self.read(f"scene.nodes.find((node) => node.task === '{task}' && node.label.startsWith('{label}'))")
        assert found, self.read("scene.nodes.map((node) => node.task + ' ' + node.label)")
        scale, x, y = (self.read(f"view.viewport.{name}") for name in ("scale", "x", "y"))
        canvas = self.element.locator("canvas")
        canvas.scroll_into_view_if_needed()
        box = canvas.bounding_box()
        return box["x"] + 1 + x + scale * found["x"], box["y"] + 1 + y + scale * found["y"]

    def click(self, task: str, label: str) -> None:
        """Click a node."""
        self._page.mouse.click(*self.place(task, label))

    def double_click(self, task: str, label: str) -> None:
        """Open a scope, or fold the one around an op."""
        self._page.mouse.dblclick(*self.place(task, label))

    def press(self, name: str) -> None:
        """Press one of the buttons above."""
        self.element.locator(f"button[data-name={name}]").click(timeout=WAIT_MS)

    def facts(self) -> dict[str, str]:
        """What is told of what is selected."""
        facts = self.element.locator(".pslab-facts")
        return dict(zip(facts.locator("dt").all_inner_texts(), facts.locator("dd").all_inner_texts(), strict=True))


def _script(expression: str, result: str) -> str:
    return f"""(number) => {{
        const view = document.querySelectorAll('.pslab-graph')[number]?.parentElement.pslab;
        const scene = view?.drawing?.scene;
        const value = view && ({expression});
        return {result};
    }}"""
