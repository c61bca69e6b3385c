"""A parameter view in a notebook that is open in a browser, as a person uses it."""

from __future__ import annotations

from typing import Any

WAIT_MS = 60_000


class ParametersPage:
    """One parameter view."""

    def __init__(self, page: Any) -> None:
        self._page = page
        self.element = page.locator(".pslab-parameters").first
        self.element.wait_for(timeout=WAIT_MS)

    def until(self, expression: str) -> None:
        """Wait until it is true of the ``view`` and its ``scene``."""
        script = """(expression) => {
            const view = document.querySelector('.pslab-parameters')?.parentElement.pslab;
            return view && new Function('view', 'scene', `return ${expression}`)(view, view.scene);
        }"""
        self._page.wait_for_function(script, arg=expression, timeout=WAIT_MS)

    def read(self, expression: str) -> Any:
        return self.element.evaluate(f"element => {{ const view = element.parentElement.pslab, {{ scene }} = view; return {expression}; }}")

    def choose(self, name: str, words: str) -> None:
        self.element.locator(f"[data-name={name}] label:text-is('{words}')").click()
