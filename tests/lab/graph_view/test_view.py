"""The widget: one text that a browser takes, and drawing that Node tests."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

import pslab as tf
from pslab.lab.graph_view.view import FRONT, MODULES
from pslab.lab.panel.front_end import bundle

NODE = shutil.which("node")
needs_node = pytest.mark.skipif(NODE is None, reason="needs Node")


def test_every_module_is_in_the_text_and_imports_only_those_before_it() -> None:
    assert {path.name for path in FRONT.glob("*.mjs")} <= {path.name for path in MODULES}
    for number, path in enumerate(MODULES):
        imported = re.findall(r'from "[./\w]*?(\w+)\.mjs"', path.read_text())
        assert set(imported) <= {other.stem for other in MODULES[:number]}, path.name
    assert not re.search(r"^\s*import\b", bundle(MODULES), re.MULTILINE)


@needs_node
def test_what_is_drawn_is_what_was_told() -> None:
    done = subprocess.run(
        [NODE, "--test", Path(__file__).with_name("front") / "graph.test.mjs"], check=False, capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout[-6000:]


@needs_node
def test_the_text_is_a_module(tmp_path) -> None:

    (tmp_path / "graph.mjs").write_text(bundle(MODULES))
    subprocess.run([NODE, "--check", tmp_path / "graph.mjs"], check=True)


def test_a_view_hears_what_is_asked_and_all_views_of_a_lab_are_told_on_one_line() -> None:
    lab = tf.Lab()
    one, other = lab.graph_view(), lab.graph_view()
    assert one.line is other.line
    one._hear(one, {"ask": "unfold"}, [])
    one._hear(one, {"ask": "of another version"}, [])
    assert repr(one) == "pslab graph"
    one.close()
    other.close()
