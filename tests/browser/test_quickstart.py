"""The quickstart in JupyterLab, as a person runs it: all cells, in a real browser."""

from __future__ import annotations

import json
import os
import re
import shutil
from pathlib import Path
from time import monotonic

import pytest

from tests.browser.jupyter import chromium, jupyterlab, server_pause

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "00-quickstart.ipynb"
DEADLINE_S = 240


@pytest.mark.browser
@pytest.mark.timeout(400)
def test_the_quickstart_runs_in_jupyterlab(tmp_path) -> None:
    shutil.copy(NOTEBOOK, tmp_path)
    cells = sum(c["cell_type"] == "code" for c in json.loads(NOTEBOOK.read_text())["cells"])
    pictures = Path(os.environ.get("PSLAB_SCREENSHOTS", tmp_path))
    with jupyterlab(tmp_path) as address, chromium() as page:
        page.goto(address.format(NOTEBOOK.name))
        page.wait_for_selector(".jp-Notebook .jp-CodeCell", timeout=60_000)
        page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status='idle']", timeout=60_000)
        page.click(".jp-Notebook .jp-CodeCell >> nth=0")
        page.click("text=Run >> nth=0")
        page.click(".lm-Menu-item[data-command='runmenu:run-all']")
        deadline = monotonic() + DEADLINE_S
        while (done := _saved_counts(tmp_path / NOTEBOOK.name, page)) < cells:
            assert monotonic() < deadline, f"{done} of {cells} cells have run"
            assert not (failed := _failures(tmp_path / NOTEBOOK.name)), failed
            server_pause(0.5)
        page.keyboard.press("Control+Home")
        outputs = _outputs(tmp_path / NOTEBOOK.name)
        page.screenshot(path=str(pictures / "quickstart-end.png"))
        plot = page.locator(".jp-OutputArea-output img").first
        plot.scroll_into_view_if_needed()
        page.screenshot(path=str(pictures / "quickstart-plot.png"))
    assert any("image/png" in o.get("data", {}) for o in outputs), "no plot"
    accuracies = [float(a) for o in outputs for a in re.findall(r"accuracy\s+(\d\.\d+)", str(o.get("data", {}).get("text/plain", "")))]
    assert len(accuracies) >= 2
    assert min(accuracies) > 0.9


def _saved_counts(path: Path, page) -> int:
    """How many cells of the notebook have run, by what it saves."""
    page.keyboard.press("Control+s")
    return sum(c.get("execution_count") is not None for c in _cells(path))


def _failures(path: Path) -> list[dict]:
    return [o for o in _outputs(path) if o["output_type"] == "error" or "Error:" in str(o.get("text", ""))]


def _outputs(path: Path) -> list[dict]:
    return [o for c in _cells(path) for o in c["outputs"]]


def _cells(path: Path) -> list[dict]:
    """The code cells as they were saved; none while the file is being written."""
    try:
        return [c for c in json.loads(path.read_text())["cells"] if c["cell_type"] == "code"]
    except json.JSONDecodeError:
        return []
