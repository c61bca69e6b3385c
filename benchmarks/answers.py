"""How soon the panel answers a click in a real browser while a cell runs: until it shows the value that is in force.

python benchmarks/answers.py (from a checkout: it drives JupyterLab as the browser tests do)
"""

from __future__ import annotations

import tempfile
from pathlib import Path
from time import perf_counter

import nbformat
import numpy as np

from tests.browser.jupyter import chromium, jupyterlab
from tests.browser.notebook_page import NotebookPage
from tests.browser.panel_page import PanelPage

CELLS = ("%load_ext pslab\n%pslab panel", "while True: pass")
ROUNDS = 10
TARGET_S = 0.5


def main() -> None:
    """Print a line per kind of click."""
    with tempfile.TemporaryDirectory() as place, jupyterlab(Path(place)) as address, chromium() as page:
        written = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
        written.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        nbformat.write(written, Path(place) / "answers.ipynb")
        notebook = NotebookPage(page, address.format("answers.ipynb"), len(CELLS), Path(place))
        notebook.run(0)
        panel = PanelPage(page)
        panel.press("start")
        panel.until("state.training === 'running' && state.step > 100")
        notebook.begin(1)
        taken: dict[str, list[float]] = {"a mode": [], "pause": [], "start": []}
        for number in range(ROUNDS):
            rule = ("sync", "async")[number % 2]
            clicks = (
                ("a mode", lambda rule=rule: panel.choose("update", rule), f"state.controls.update.value === '{rule}'"),
                ("pause", lambda: panel.press("pause"), "state.training === 'paused'"),
                ("start", lambda: panel.press("start"), "state.training === 'running'"),
            )
            for name, click, shown in clicks:
                began = perf_counter()
                click()
                panel.until(shown)
                taken[name].append(perf_counter() - began)
        assert notebook.prompt(1) is None, "the cell has ended"
    for name, seconds in taken.items():
        print(f"{name:8} {1e3 * np.median(seconds):5.0f} ms, at most {1e3 * max(seconds):5.0f} ms  (target {1e3 * TARGET_S:.0f})")


if __name__ == "__main__":
    main()
