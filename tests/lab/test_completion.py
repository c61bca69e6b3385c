"""Tab after %pslab, in IPython's own completer."""

from __future__ import annotations

import numpy as np
import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from pslab.lab.parser import build_parser, verbs_of
from tests.lab.fake import FakeLab


@pytest.fixture
def tab():
    """What Tab offers at the end of a cell."""
    shell = InteractiveShell.instance()
    shell.user_ns["lab"] = FakeLab()
    shell.run_line_magic("load_ext", "pslab")

    def press(cell: str) -> set[str]:
        with provisionalcompleter():
            return {completion.text for completion in shell.Completer.completions(cell, len(cell))}

    press.names = shell.user_ns
    yield press
    shell.run_line_magic("unload_ext", "pslab")
    InteractiveShell.clear_instance()


def test_the_verbs(tab) -> None:
    assert tab("%pslab ") == set(verbs_of(build_parser()))
    assert tab("%pslab clu") == {"cluster"}
    assert tab("%pslab cluster ") == {"start", "scale", "kill", "slow", "status", "link", "unlink", "stop"}
    assert tab("a = 1\n%pslab cluster st") == {"start", "status", "stop"}


def test_options_and_their_choices(tab) -> None:
    assert tab("%pslab train ") == {"--help", "--steps", "--wait"}
    assert tab("%pslab train --wait ") == {"--help", "--steps"}
    assert tab("%pslab mode --rep") == {"--replication"}
    assert tab("%pslab mode --update ") == {"sync", "async", "ssp", "k-async", "ring", "pipeline"}
    assert tab("%pslab model mlp --optimizer m") == {"momentum"}


def test_the_tasks_of_the_cluster_that_runs(tab) -> None:
    assert tab("%pslab cluster kill ") == {"ps:0", "worker:0", "worker:1", "--help"}
    assert tab("%pslab cluster kill wo") == {"worker:0", "worker:1"}
    assert tab("%pslab cluster slow ") == {"worker:0", "worker:1", "--help", "--delay", "--distribution", "--shape"}
    tab.names["lab"] = "something else"
    assert tab("%pslab cluster kill wo") == set()


def test_logs_and_the_training_s_own(tab) -> None:
    assert {"-", "--until", "--help"} <= tab("%pslab replay ")
    assert tab("%pslab replay --until ac") == set()
    assert "accuracy=" in tab("%pslab sweep --until ac")
    assert "--help" in tab("%pslab log ")


def test_functions_and_arrays_of_the_notebook(tab) -> None:
    def mine(x, y):
        return None

    mine.__module__ = "__main__"
    tab.names.update(mine=mine, _hidden=mine, features=np.zeros(3))
    assert {"mlp", "logistic", "mine"} <= tab("%pslab model ")
    assert "_hidden" not in tab("%pslab model ")
    assert tab("%pslab data fe") == {"features"}


def test_files_where_a_file_is_named(tab, tmp_path, monkeypatch) -> None:
    (tmp_path / "first.safetensors").touch()  # also what a log may be called
    monkeypatch.chdir(tmp_path)
    assert "first.safetensors" in tab("%pslab restore fi")
    assert "first.safetensors" in tab("%pslab restore ")
    assert "first.safetensors" in tab("%pslab replay fi")


@pytest.mark.parametrize("cell", ["%pslabx ", "pslab clu", "x = 1 # %pslab clu"])
def test_other_lines_are_left_alone(tab, cell) -> None:
    assert "cluster" not in tab(cell)
