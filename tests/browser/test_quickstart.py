"""The quickstart in JupyterLab, as a person runs it: the first three cells, a look at each view, and all the others. It makes the tour's pictures."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.browser.graph_page import GraphPage
from tests.browser.notebook_page import NotebookPage
from tests.browser.panel_page import PanelPage
from tests.browser.race_page import RacePage

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "00-quickstart.ipynb"


def cell_of(words: str, notebook: NotebookPage) -> int:
    """The code cell that says so."""
    (found,) = [cell for cell in range(len(notebook)) if words in notebook.source(cell)]
    return found


@pytest.mark.browser
@pytest.mark.timeout(400)
def test_the_quickstart_runs_in_jupyterlab_and_its_third_cell_is_a_panel_that_trains(open_notebook) -> None:
    notebook = open_notebook(NOTEBOOK)
    notebook.page.set_viewport_size({"width": 1180, "height": 900})
    notebook.page.keyboard.press("Control+b")
    for cell in range(3):
        notebook.run(cell)
    panel = PanelPage(notebook.page)
    panel.until("state.training === 'running' && history.curve('loss').x.length > 0")
    drawn = panel.read("history.curve('loss').x.at(-1)")
    panel.until(f"state.training === 'running' && history.curve('loss').x.at(-1) > {drawn} + 300")
    losses = panel.read("history.curve('loss').y")
    assert losses[-1] < 0.5 * losses[0]
    panel.choose("update", "sync")
    panel.until("state.controls.update.value === 'sync' && state.step > state.marks.at(-1).step + 300")
    assert panel.out_of_place() == []
    notebook.page.set_viewport_size({"width": 1280, "height": 900})
    notebook.pictures("tour-panel", panel.element)

    panel.choose("update", "async")
    notebook.run(3)
    graph = GraphPage(notebook.page)
    graph.until("scene.mode === 'between-graph async' && scene.measured && view.drawing.glows(performance.now())")
    graph.press("fit")
    graph.click("worker:0", "ps:0")
    assert "measured" in graph.facts()["bytes"]
    notebook.pictures("tour-graph", graph.element)

    last = cell_of("%pslab race", notebook)
    notebook.run_from(4, last, timeout=120)
    plot = cell_of("%pslab plot", notebook)
    assert [o.images for o in notebook.outputs(plot) if o.mime == "image/png"] == [1]
    race = RacePage(notebook.page)
    race.press("Begin")
    race.until("scene && scene.moments[0].waiting.length === 2")
    for worker in (1, 1, 1, 0):
        race.let_in(worker)
    assert [int(push["stale"]) for push in race.drawn("push")] == [0, 0, 0, 3]
    notebook.pictures("tour-race", race.element)

    notebook.run_from(last + 1, len(notebook) - 1, timeout=120)
    said = [output.text for cell in range(len(notebook)) for output in notebook.outputs(cell)]
    accuracies = [float(found) for text in said for found in re.findall(r"accuracy\s+(\d\.\d+)", text)]
    assert len(accuracies) >= 2
    assert min(accuracies) > 0.9
