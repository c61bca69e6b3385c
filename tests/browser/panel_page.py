"""A panel in a notebook that is open in a browser, as a person uses it."""

from __future__ import annotations

import json
from typing import Any

WAIT_MS = 60_000
_OUT_OF_PLACE = """panel => {
    const right = (element) => element.getBoundingClientRect().right;
    const whole = [...panel.querySelectorAll('.pslab-label, .pslab-status, .pslab-legend, .pslab-bar button')];
    const cut = whole.filter((e) => e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 3);
    const over = [...panel.querySelectorAll('*')].filter((e) => right(e) > right(panel) + 1 && !e.closest('.pslab-said, .pslab-unit'));
    const beyond = [...panel.querySelectorAll('figcaption > *')].filter((e) => right(e) > right(e.closest('.pslab-figure')) - 1);
    return [...cut, ...over, ...beyond].map((e) => `${e.className} ${e.textContent}`);
}"""


class PanelPage:
    """One panel.

    Args:
        page: playwright's page.
        number: which of the panels in the notebook.
    """

    def __init__(self, page: Any, number: int = 0) -> None:
        self._page = page
        self._number = number
        self.element = page.locator(".pslab-panel").nth(number)
        self.element.wait_for(timeout=WAIT_MS)
        self.until("state.controls")

    def read(self, expression: str) -> Any:
        """The value of an expression over the panel's ``history`` and its ``state``."""
        script = """([number, expression]) => {
            const { history } = document.querySelectorAll('.pslab-panel')[number].parentElement.pslab;
            return JSON.stringify(new Function('history', 'state', `return ${expression}`)(history, history.state) ?? null);
        }"""
        return json.loads(self._page.evaluate(script, [self._number, expression]))

    def until(self, expression: str) -> None:
        """Wait until it is true."""
        script = """([number, expression]) => {
            const view = document.querySelectorAll('.pslab-panel')[number]?.parentElement.pslab;
            return view && new Function('history', 'state', `return ${expression}`)(view.history, view.history.state);
        }"""
        self._page.wait_for_function(script, arg=[self._number, expression], timeout=WAIT_MS)

    def out_of_place(self) -> list[str]:
        """What is cut off, or runs over the edge of the panel or of its figure."""
        return self.element.evaluate(_OUT_OF_PLACE)  # type: ignore[no-any-return]

    def press(self, name: str) -> None:
        """Press one of the buttons above."""
        self.element.locator(f".pslab-bar button[data-name={name}]").click(timeout=WAIT_MS)

    def choose(self, control: str, option: str) -> None:
        """Choose an option of a control."""
        place = self.element.locator(f"[data-name={control}]")
        if place.locator("select").count():
            place.locator("select").select_option(option)
        else:
            place.locator(f"label:text-is('{option}')").click()

    def type(self, control: str, value: str) -> None:
        """Type a number into a control, with the keyboard alone."""
        field = self.element.locator(f"[data-name={control}] input")
        field.focus()
        self._page.keyboard.press("Control+a")
        self._page.keyboard.type(value)
        self._page.keyboard.press("Enter")

    def shown(self, control: str) -> str:
        """What a control shows."""
        place = self.element.locator(f"[data-name={control}]")
        for kind in ("select", "input[type=text]"):
            if place.locator(kind).count():
                return str(place.locator(kind).input_value())
        return str(place.locator("input:checked").get_attribute("value"))
