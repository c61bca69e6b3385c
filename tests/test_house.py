"""The house itself: what is promised of every module, of the packages' façades, and of the notebooks."""

from __future__ import annotations

import ast
import importlib
import json
import re
import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import pslab
from pslab.cli import _parser
from pslab.lab.parser import build_parser, parse, verbs_of

ROOT = Path(__file__).parents[1]
MODULES = sorted((ROOT / "pslab").rglob("*.py"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
README = (ROOT / "README.md").read_text()
TEXTS = {"README.md": README, **{p.name: p.read_text() for p in (ROOT / "notebooks").glob("*.py")}}
LINES = 400
HEAVY = ("distributed", "dask", "matplotlib", "cupy", "IPython", "pandas", "sklearn", "numpy")


def test_importing_pslab_imports_nothing_heavy() -> None:
    code = f"import sys, pslab; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


def test_building_and_running_a_graph_needs_no_dask_and_no_matplotlib() -> None:
    code = "import sys, pslab as tf; tf.Session().run(tf.constant(1) + 1); tf.Lab(); print([m for m in ('distributed','matplotlib','cupy') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT)
    assert done.stdout.strip() == "[]"


FACADES = ["", ".data", ".image", ".layers", ".layers.rnn_cell", ".losses", ".nn", ".python_io", ".summary", ".train"]


@pytest.mark.parametrize("package", [f"pslab{name}" for name in FACADES])
def test_every_name_of_a_facade_is_there(package: str) -> None:
    module = importlib.import_module(package)
    for name in module.__all__:
        getattr(module, name)
    assert set(module.__all__) <= set(dir(module))


def test_a_name_that_is_not_there_names_the_nearest() -> None:
    with pytest.raises(AttributeError, match=r"pslab has no tf\.reduce_men; did you mean tf\.reduce_mean\?"):
        pslab.reduce_men  # noqa: B018


def test_every_op_type_is_found_by_its_name_alone() -> None:
    """A task runs what other programs built: whatever module registers an op must be among those that the registry knows."""
    by_name = "import pslab.graph.registry as r; print(sorted(d.type for d in r.registered()))"
    walk = "pkgutil.walk_packages(pslab.__path__, 'pslab.')"
    everything = f"import importlib, pkgutil, pslab; [importlib.import_module(m.name) for m in {walk} if 'testing' not in m.name];"
    known, everywhere = (
        set(json.loads(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT).stdout.replace("'", '"')))
        for code in (by_name, everything + by_name)
    )
    assert everywhere - known == set()


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
    assert "pip install . && pslab demo" in README
    assert 'pip install -e ".[test]" && pytest' in README


@pytest.mark.parametrize("name", TEXTS)
def test_every_magic_that_is_written_down_can_be_meant(name: str) -> None:
    lines = re.findall(r"^(?:    |# )%pslab (.+)$", TEXTS[name], re.MULTILINE)
    assert lines
    for line in lines:
        parse(line)


def test_every_command_of_the_readme_can_be_meant() -> None:
    commands = re.findall(r"(?:^    |&& )pslab (.+)$", README, re.MULTILINE)
    assert {c.split()[0] for c in commands} == {"demo", "lab", "run"}
    for command in commands:
        _parser().parse_args(shlex.split(command))


def test_the_readme_tells_of_every_verb() -> None:
    table = "\n".join(line for line in README.splitlines() if line.startswith("|"))
    told = {word for code in re.findall(r"`([^`]+)`", table) for word in code.split()}
    verbs = verbs_of(build_parser())
    assert set(verbs) | set(verbs_of(verbs["cluster"])) <= told


def test_the_readme_names_extras_and_files_that_are_there() -> None:
    extras = set(re.findall(r"\.\[(\w+)\]", README))
    assert {"test", "cuda12", "cuda13"} <= extras <= set(PROJECT["optional-dependencies"])
    files = [link for link in re.findall(r"\]\(([^)]+)\)", README) if "://" not in link]
    assert files
    assert [f for f in files if not (ROOT / f).is_file()] == []


def test_the_version_is_one() -> None:
    assert PROJECT["version"] == pslab.__version__
    assert f"## {pslab.__version__}" in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize("entry", PROJECT["scripts"].values())
def test_an_entry_point_resolves(entry: str) -> None:
    module, _, name = entry.partition(":")
    assert callable(getattr(importlib.import_module(module), name))


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(ROOT)))
def test_a_module_is_one_subject_long(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= LINES


def test_tests_lie_as_the_package_does() -> None:
    tests = {p.parent.relative_to(ROOT / "tests") for p in (ROOT / "tests").rglob("test_*.py")} - {Path("browser"), Path("programs")}
    packages = {p.parent.relative_to(ROOT / "pslab") for p in MODULES}
    assert tests <= packages
    untested = packages - tests
    assert not untested, f"no tests of {sorted(map(str, untested))}"
