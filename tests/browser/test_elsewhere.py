"""All live views in other places than JupyterLab, on a very wide screen: Notebook 7 and Voilà. They train there, draw, and answer."""

from __future__ import annotations

from pathlib import Path
from time import monotonic
from typing import Any

import nbformat
import pytest

from tests.browser.graph_page import GraphPage
from tests.browser.jupyter import chromium, notebook7, voila
from tests.browser.notebook_page import READY_MS
from tests.browser.panel_page import PanelPage
from tests.browser.parameters_page import ParametersPage
from tests.browser.race_page import RacePage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]

CELLS = ("%load_ext pslab\n%pslab panel", "%pslab graph --live", "%pslab trajectories --live", "%pslab race")


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Has the notebook ``views.ipynb``."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
    (tmp_path / "served").mkdir()
    nbformat.write(notebook, tmp_path / "served" / "views.ipynb")
    return tmp_path / "served"


def test_in_notebook_7(directory: Path, pictures: Path) -> None:
    with notebook7(directory) as address, chromium() as page:
        page.goto(address.format("views.ipynb"))
        for number in range(len(CELLS)):
            _run_cell(page, number)
        _all_live(page)
        page.screenshot(path=str(pictures / "notebook7.png"), full_page=True)


def test_in_voila(directory: Path, pictures: Path) -> None:
    with voila(directory) as address, chromium() as page:
        page.set_viewport_size({"width": 2560, "height": 1440})
        page.goto(address.format("views.ipynb"))
        page.locator(".pslab-panel").first.wait_for(timeout=READY_MS)
        _all_live(page)
        page.screenshot(path=str(pictures / "voila.png"), full_page=True)


def _run_cell(page: Any, number: int) -> None:
    """Notebook 7 forgets what is run before there is a kernel, and says nowhere when there is: so it is asked again until the cell has a prompt."""
    cell = page.locator(".jp-Notebook .jp-CodeCell").nth(number)
    cell.locator(".cm-content").click(timeout=READY_MS)
    deadline = monotonic() + READY_MS / 1000
    while cell.locator(".jp-InputPrompt").inner_text().strip() == "[ ]:":
        assert monotonic() < deadline
        page.keyboard.press("Control+Enter")
        page.wait_for_timeout(500)


def _all_live(page: Any) -> None:
    _trains(page)
    graph = GraphPage(page)
    graph.until("scene.mode === 'between-graph sync' && scene.bands.length === 3")
    parameters = ParametersPage(page)
    parameters.until("scene.trails.length === 3 && view.frames > 3")
    race = RacePage(page)
    race.press("Begin")
    race.until("scene && scene.moments[0].waiting.length === 2")
    race.let_in(1)
    race.until("scene.moments.length === 2")
    assert not page.locator(".pslab-snapshot img >> visible=true").count()


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
