"""The front ends of all widgets: each one text that a browser takes, and drawing that Node tests."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pslab.lab.graph_view.view import FRONT_END as GRAPH
from pslab.lab.panel.front_end import PANEL, FrontEnd
from pslab.lab.parameter_view.view import FRONT_END as PARAMETERS
from pslab.lab.race.race_view import FRONT_END as RACE

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node")
each = pytest.mark.parametrize("front_end", [PANEL, GRAPH, RACE, PARAMETERS], ids=["panel", "graph", "race", "parameters"])


@each
def test_every_module_is_there_once_and_imports_only_those_before_it(front_end: FrontEnd) -> None:
    modules = list(front_end.modules)
    assert len(set(modules)) == len(modules)
    assert set(modules[-1].parent.glob("*.mjs")) <= set(modules)
    for number, path in enumerate(modules):
        imported = {(path.parent / found).resolve() for found in re.findall(r'from "([./\w]+\.mjs)"', path.read_text())}
        assert imported <= {other.resolve() for other in modules[:number]}, path.name


@each
def test_the_text_imports_nothing_and_exports_the_widget(front_end: FrontEnd) -> None:
    assert not re.search(r"^\s*import\b", front_end.text, re.MULTILINE)
    assert re.findall(r"^export\b.*", front_end.text, re.MULTILINE) == ["export default { render };"]
    assert "http://" not in front_end.text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in front_end.text + front_end.style


@needs_node
@each
def test_the_text_is_a_module(front_end: FrontEnd, tmp_path) -> None:
    (tmp_path / "widget.mjs").write_text(front_end.text)
    subprocess.run([NODE, "--check", tmp_path / "widget.mjs"], check=True)


@needs_node
@pytest.mark.parametrize("tests", sorted(Path(__file__).parent.glob("*/front/*.test.mjs")), ids=lambda path: path.stem)
def test_what_is_drawn_is_what_was_told(tests: Path) -> None:
    done = subprocess.run([NODE, "--test", tests], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-6000:]
