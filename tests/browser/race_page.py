"""A race in a notebook that is open in a browser, as a person uses it."""

from __future__ import annotations

from typing import Any

WAIT_MS = 60_000


class RacePage:
    """One view of a race."""

    def __init__(self, page: Any, number: int = 0) -> None:
        self._page, self._number = page, number
        self.element = page.locator(".pslab-race").nth(number)
        self.element.wait_for(timeout=WAIT_MS)

    def until(self, expression: str) -> None:
        """Wait until it is true of ``state``, its ``scene`` and the ``view``."""
        script = """([number, expression]) => {
            const view = document.querySelectorAll('.pslab-race')[number]?.parentElement.pslab;
            const { state } = view ?? { state: {} };
            return view && new Function('view', 'state', 'scene', `return ${expression}`)(view, state, state.scene);
        }"""
        self._page.wait_for_function(script, arg=[self._number, expression], timeout=WAIT_MS)

    def press(self, words: str) -> None:
        self.element.locator(f".pslab-bar button:has-text('{words}')").click(timeout=WAIT_MS)

    def let_in(self, worker: int, what: str = "commit", ps: int = 0) -> None:
        """Click on a message in the picture, and wait until it is through."""
        made = self.moments()
        self.element.locator(f"[data-message='{what} {worker} ps:{ps}'][role=button]").click(timeout=WAIT_MS)
        self.until(f"scene.moments.at(-1).number === {made} + 1")

    def moments(self) -> int:
        return int(self.element.evaluate("element => element.parentElement.pslab.state.scene.moments.at(-1).number"))

    def drawn(self, kind: str) -> list[dict[str, str]]:
        """The data of what is drawn of a kind, and its title."""
        script = "parts => parts.map((part) => ({ ...part.dataset, title: part.querySelector('title')?.textContent }))"
        return self.element.locator(f".pslab-race-{kind}").evaluate_all(script)  # type: ignore[no-any-return]
