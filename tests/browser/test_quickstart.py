"""The quickstart in JupyterLab, as a person runs it: all cells, in a real browser."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

NOTEBOOK = Path(__file__).parents[2] / "notebooks" / "00-quickstart.ipynb"


@pytest.mark.browser
@pytest.mark.timeout(400)
def test_the_quickstart_runs_in_jupyterlab(open_notebook) -> None:
    page = open_notebook(NOTEBOOK)
    page.run_all(timeout=240)
    shown = [page.outputs(cell) for cell in range(len(page))]
    plots = [cell for cell, outputs in enumerate(shown) if any(o.mime == "image/png" and o.images == 1 for o in outputs)]
    assert plots, "no plot"
    page.screenshot("quickstart-plot", plots[0])
    page.screenshot("quickstart-end", len(page) - 1)
    accuracies = [float(a) for outputs in shown for o in outputs for a in re.findall(r"accuracy\s+(\d\.\d+)", o.text)]
    assert len(accuracies) >= 2
    assert min(accuracies) > 0.9
