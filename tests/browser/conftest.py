"""Notebooks in a real JupyterLab, in a real browser."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import nbformat
import pytest

from tests.browser.jupyter import chromium, jupyterlab
from tests.browser.notebook_page import NotebookPage


@pytest.fixture
def pictures(tmp_path: Path) -> Path:
    """Where screenshots go: the directory ``PSLAB_SCREENSHOTS``, else one of the test's own."""
    directory = Path(os.environ.get("PSLAB_SCREENSHOTS", tmp_path / "pictures")).resolve()
    directory.mkdir(parents=True, exist_ok=True)
    return directory


@pytest.fixture
def open_notebook(tmp_path: Path, pictures: Path) -> Iterator[Callable[[Path], NotebookPage]]:
    """Opens a copy of a notebook."""
    directory = tmp_path / "lab"
    directory.mkdir()
    with jupyterlab(directory) as address, chromium() as page:

        def opened(notebook: Path) -> NotebookPage:
            (directory / notebook.name).write_bytes(notebook.read_bytes())
            cells = sum(cell["cell_type"] == "code" for cell in json.loads(notebook.read_text())["cells"])
            return NotebookPage(page, address.format(notebook.name), cells, pictures)

        yield opened


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., Path]:
    """Writes a notebook of code cells."""

    def written(*cells: str) -> Path:
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3", "language": "python"}
        path = tmp_path / "plain.ipynb"
        nbformat.write(notebook, path)
        return path

    return written
