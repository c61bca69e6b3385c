"""The house itself: what is promised of every module, of the packages' façades, and of the notebooks."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

import pslab

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "pslab").rglob("*.py"))
HEAVY = ("distributed", "dask", "matplotlib", "cupy", "IPython", "pandas", "sklearn", "numpy")


def test_importing_pslab_imports_nothing_heavy() -> None:
    code = f"import sys, pslab; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_building_and_running_a_graph_needs_no_dask_and_no_matplotlib() -> None:
    code = "import sys, pslab as tf; tf.Session().run(tf.constant(1) + 1); tf.Lab(); print([m for m in ('distributed','matplotlib','cupy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("package", ["pslab", "pslab.train", "pslab.nn"])
def test_every_name_of_a_facade_is_there(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        getattr(module, name)
    assert set(module.__all__) <= set(dir(module))


def test_a_name_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match="pslab has no 'reduce_men'; did you mean 'reduce_mean'"):
        pslab.reduce_men  # noqa: B018


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_says_what_it_is_for(path: Path) -> None:
    assert ast.get_docstring(ast.parse(path.read_text())), "no docstring"


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.py")), ids=lambda p: p.stem)
def test_a_notebook_and_its_script_are_one(path: Path) -> None:
    import jupytext

    script, notebook = jupytext.read(path), jupytext.read(path.with_suffix(".ipynb"))
    assert [(c.cell_type, c.source) for c in script.cells] == [(c.cell_type, c.source) for c in notebook.cells]
    assert not any(c.get("outputs") for c in json.loads(path.with_suffix(".ipynb").read_text())["cells"]), "strip the outputs"


def test_the_readme_has_the_two_commands() -> None:
    text = (ROOT / "README.md").read_text()
    assert "pip install . && pslab demo" in text
    assert 'pip install -e ".[test]" && pytest' in text
