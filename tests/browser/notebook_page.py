"""A notebook in JupyterLab, as a person at a browser uses it: runs cells, waits for their prompts, reads their outputs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import Any

from playwright.sync_api import TimeoutError as LateError

READY_MS = 60_000
SAVED_S = 60
STDERR = "application/vnd.jupyter.stderr"  # JupyterLab renders errors as this, too
READ_OUTPUTS = """cell => [...cell.querySelectorAll('.jp-OutputArea-output[data-mime-type]')].map(output => ({
    mime: output.dataset.mimeType, text: output.innerText, images: output.querySelectorAll('img').length}))"""

_SHARE_KERNEL = """async (path) => {
    const [{ kernel }] = await (await fetch('/api/sessions')).json();
    const headers = { 'X-XSRFToken': document.cookie.match(/_xsrf=([^;]+)/)[1] };
    const body = JSON.stringify({ path, name: path, type: 'notebook', kernel: { id: kernel.id } });
    const answer = await fetch('/api/sessions', { method: 'POST', headers, body });
    if (!answer.ok) throw new Error(await answer.text());
}"""


@dataclass(frozen=True)
class Output:
    """What a cell shows.

    Attributes:
        mime: its type, as JupyterLab renders it.
        text: what a person reads of it.
        images: how many images are in it.
    """

    mime: str
    text: str
    images: int


class NotebookPage:
    """One notebook that is open in a browser.

    Args:
        page: playwright's page.
        url: the address of the notebook.
        cells: how many code cells it has.
        pictures: a directory for screenshots.

    Attributes:
        page: playwright's page.
    """

    def __init__(self, page: Any, url: str, cells: int, pictures: Path) -> None:
        self.page = self._page = page
        self._pictures = pictures
        self._cells = page.locator(".jp-Notebook .jp-CodeCell")
        page.goto(url)
        self._cells.nth(cells - 1).wait_for(timeout=READY_MS)
        # the indicator at the notebook says "idle" before there is a kernel, and JupyterLab forgets a run that is asked for then
        page.wait_for_selector(".jp-StatusBar-TextItem:has-text('| Idle')", timeout=READY_MS)

    def __len__(self) -> int:
        """Code cells of the notebook."""
        return int(self._cells.count())

    def prompt(self, cell: int) -> int | None:
        """The number at a code cell; None before it has run, and while it runs."""
        found = re.fullmatch(r"\[(\d+)\]:", self._cells.nth(cell).locator(".jp-InputPrompt").inner_text().strip())
        return int(found[1]) if found else None

    def run(self, cell: int, timeout: float = 60) -> list[Output]:
        """Run a code cell, wait for its new prompt, and return what it shows."""
        self.begin(cell)
        return self.finish(cell, timeout)

    def begin(self, cell: int) -> None:
        """Let a code cell run."""
        self._before = self.prompt(cell)
        self._cells.nth(cell).locator(".cm-content").click()
        self._page.keyboard.press("Control+Enter")

    def finish(self, cell: int, timeout: float = 60) -> list[Output]:
        """Wait until the code cell that was let run has, and return what it shows."""
        self._wait(cell, self._before, monotonic() + timeout)
        return self.outputs(cell)

    def restart_kernel(self) -> None:
        """Restart the kernel, as the menu does."""
        self._page.click(".lm-MenuBar-itemLabel:text-is('Kernel')")
        self._page.click(".lm-Menu-item[data-command='kernelmenu:restart']")
        self._page.click(".jp-Dialog-button.jp-mod-accept")
        self._page.wait_for_selector(".jp-Dialog", state="detached")
        self._page.wait_for_selector(".jp-StatusBar-TextItem:has-text('| Idle')", timeout=READY_MS)

    def beside(self, name: str, cells: int) -> NotebookPage:
        """A second notebook of the same directory, in a tab of its own, on the kernel of this one."""
        self.page.evaluate(_SHARE_KERNEL, name)
        first = self.page.url.partition("?")[0].rpartition("/")[2]
        return NotebookPage(self.page.context.new_page(), self.page.url.replace(first, name), cells, self._pictures)

    def save(self) -> None:
        """Save the notebook, by the keyboard; once more where it has changed meanwhile, for a view may have another picture to keep."""
        deadline = monotonic() + SAVED_S
        while True:
            self._page.keyboard.press("Control+s")
            try:
                return self._page.locator(".jp-mod-dirty").first.wait_for(state="detached", timeout=2_000)
            except LateError:
                assert monotonic() < deadline, "the notebook changes again and again"

    def theme(self, name: str) -> None:
        """Choose a theme, as the menu does."""
        self._page.click(".lm-MenuBar-itemLabel:text-is('Settings')")
        self._page.hover(".lm-Menu-itemLabel:text-is('Theme')")
        self._page.click(f".lm-Menu-itemLabel:text-is('{name}')")
        self._page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")

    def run_all(self, timeout: float) -> None:
        """Run all cells, as the menu does. The first that fails ends it."""
        self._cells.first.locator(".cm-content").click()
        self._page.click(".lm-MenuBar-itemLabel:text-is('Run')")
        self._page.click(".lm-Menu-item[data-command='runmenu:run-all']")
        deadline = monotonic() + timeout
        for cell in range(len(self)):
            self._wait(cell, None, deadline)
            self._check(cell)

    def run_from(self, first: int, last: int, timeout: float) -> None:
        """Run these cells, one after the other. The first that fails ends it."""
        deadline = monotonic() + timeout
        for cell in range(first, last + 1):
            self.run(cell, deadline - monotonic())
            self._check(cell)

    def source(self, cell: int) -> str:
        """What a person reads in a code cell."""
        return str(self._cells.nth(cell).locator(".cm-content").inner_text())

    def outputs(self, cell: int) -> list[Output]:
        """What a code cell shows."""
        return [Output(**found) for found in self._cells.nth(cell).evaluate(READ_OUTPUTS)]

    def screenshot(self, name: str, cell: int | None = None) -> Path:
        """A picture of the window, with a cell's output scrolled into view if one is given; returns its path."""
        if cell is not None:
            self._cells.nth(cell).locator(".jp-OutputArea").scroll_into_view_if_needed()
        self._pictures.mkdir(parents=True, exist_ok=True)
        path = self._pictures / f"{name}.png"
        self._page.screenshot(path=str(path))
        return path

    def pictures(self, name: str, element: Any) -> None:
        """Pictures of an element in both themes: ``NAME-dark.png`` and ``NAME-light.png``."""
        for theme in ("Dark", "Light"):
            self.theme(f"JupyterLab {theme}")
            element.evaluate("element => element.scrollIntoView({ block: 'center' })")
            self._page.mouse.move(0, 0)
            element.screenshot(path=str(self._pictures / f"{name}-{theme.lower()}.png"))

    def _check(self, cell: int) -> None:
        failed = [o.text for o in self.outputs(cell) if o.mime == STDERR]
        assert not failed, f"code cell {cell}: {failed}"

    def _wait(self, cell: int, before: int | None, deadline: float) -> None:
        while (now := self.prompt(cell)) is None or now == before:
            if monotonic() > deadline:
                seen = self.screenshot("late")
                raise AssertionError(f"code cell {cell} has not run; {self.outputs(cell)}; see {seen}")
            self._page.wait_for_timeout(100)
