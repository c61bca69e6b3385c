"""The panel in other places than JupyterLab: Notebook 7 and Voilà. It trains there, and answers."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import nbformat
import pytest

from tests.browser.jupyter import chromium, notebook7, voila
from tests.browser.notebook_page import READY_MS
from tests.browser.panel_page import PanelPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Has the notebook ``panel.ipynb``."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("%load_ext pslab\n%pslab panel")])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    (tmp_path / "served").mkdir()
    nbformat.write(notebook, tmp_path / "served" / "panel.ipynb")
    return tmp_path / "served"


def test_in_notebook_7(directory: Path, pictures: Path) -> None:
    with notebook7(directory) as address, chromium() as page:
        page.goto(address.format("panel.ipynb"))
        _run_first_cell(page)
        _trains(page)
        page.screenshot(path=str(pictures / "notebook7.png"))


def test_in_voila(directory: Path, pictures: Path) -> None:
    with voila(directory) as address, chromium() as page:
        page.goto(address.format("panel.ipynb"))
        page.locator(".pslab-panel").first.wait_for(timeout=READY_MS)
        _trains(page)
        page.screenshot(path=str(pictures / "voila.png"))


def _run_first_cell(page: Any) -> None:
    """Notebook 7 forgets what is run before there is a kernel, and says nowhere when there is: so it is asked again until the cell has a prompt."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").first
    cell.locator(".cm-content").click(timeout=READY_MS)
    deadline = monotonic() + READY_MS / 1000
    while cell.locator(".jp-InputPrompt").inner_text().strip() == "[ ]:":
        assert monotonic() < deadline
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(500)


def _trains(page: Any) -> None:
    panel = PanelPage(page)
    panel.press("start")
    panel.until("state.training === 'running' && state.step > 100")
    panel.choose("update", "sync")
    panel.until("state.controls.update.value === 'sync'")
    step = panel.read("state.step")
    panel.until(f"state.step > {step} + 50 && history.curve('loss').x.length > 10")
    assert panel.element.locator("[data-plot=loss] canvas").is_visible()
    panel.press("stop")
    panel.until("state.training === 'idle'")
    assert not page.locator(".pslab-snapshot img").first.is_visible()
