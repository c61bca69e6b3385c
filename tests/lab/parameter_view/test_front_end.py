"""The front end of the parameter view: one text that a browser takes, and drawing that Node tests."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from pslab.lab.parameter_view.front_end import FRONT, MODULES, SHARED, module_text, style_text

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node")


def test_every_module_is_in_the_text_once_and_imports_only_those_before_it() -> None:
    assert sorted(MODULES) == sorted(path.stem for path in FRONT.glob("*.mjs"))
    for number, name in enumerate(MODULES):
        imported = re.findall(r'from "[./\w]*/(\w+)\.mjs"', (FRONT / f"{name}.mjs").read_text())
        assert set(imported) <= {*SHARED, *MODULES[:number]}, name


def test_the_text_imports_nothing_and_exports_the_widget() -> None:
    text = module_text()
    assert not re.search(r"^\s*import\b", text, re.MULTILINE)
    assert re.findall(r"^export\b.*", text, re.MULTILINE) == ["export default { render };"]
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")
    assert "https://" not in text + style_text()


@needs_node
def test_the_text_is_a_module(tmp_path) -> None:
    (tmp_path / "parameters.mjs").write_text(module_text())
    subprocess.run([NODE, "--check", tmp_path / "parameters.mjs"], check=True)


@needs_node
def test_everything_is_drawn_where_it_is() -> None:
    test = Path(__file__).with_name("front") / "parameters.test.mjs"
    done = subprocess.run([NODE, "--test", test], check=False, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout[-6000:]
