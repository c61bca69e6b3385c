"""What verbs show, as text and as HTML."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from IPython.core.formatters import DisplayFormatter

from pslab.lab.display import Shown, show_cluster, show_figures, show_predictions, show_status
from pslab.lab.status import LoopState
from tests.lab.fake import CLUSTER, STATUS


def test_a_table_is_aligned() -> None:
    assert repr(Shown("heading", ("a", "long"), [("wide", 1), ("x", 22)], "note")) == "heading\n  a     long\n  wide  1\n  x     22\nnote"
    assert repr(Shown("heading")) == "heading"


def test_a_notebook_gets_html_with_its_own_colours_and_nothing_unescaped() -> None:
    data, _ = DisplayFormatter().format(show_status(STATUS))
    assert set(data) == {"text/plain", "text/html"}
    assert "var(--jp-" in data["text/html"]
    assert "as &lt;asked&gt;" in data["text/html"]
    assert data["text/html"].count("<tr>") == 1 + len(STATUS.workers)
    assert "<th" not in Shown("no columns", (), [("loss", 1)])._repr_html_()


def test_a_status_says_only_what_is_known() -> None:
    blank = repr(show_status(replace(STATUS, loss=float("nan"), metrics={}, message="", workers=())))
    assert blank == "paused: mlp on digits, between-graph sync, step 7 of 9"
    assert "100 worker steps/s" in repr(show_status(replace(STATUS, state="running")))
    assert "3 gradients dropped" in repr(show_status(replace(STATUS, dropped=3)))
    assert "1 gradient dropped" in repr(show_status(replace(STATUS, dropped=1)))


def test_no_loop_runs_when_the_training_does_not() -> None:
    busy = replace(STATUS, message="", workers=(LoopState("worker:0", "running", 500), LoopState("worker:1", "failed", 3)))
    states = {state: repr(show_status(replace(busy, state=state))).splitlines()[2:] for state in ("running", "paused", "done")}
    assert states["running"] == ["  worker:0  running  500", "  worker:1  failed   3"]
    assert states["done"] == states["paused"] == ["  worker:0  waiting  500", "  worker:1  failed   3"]


def test_a_cluster_tells_its_tasks_and_why_it_is_as_it_is() -> None:
    lines = repr(show_cluster(replace(CLUSTER, processes=False, note="little memory"))).splitlines()
    assert lines[0] == "cluster of 2 tasks, threads of one process"
    assert lines[2].split() == ["ps:0", "running", "11", "here", "50", "MB"]
    assert lines[-1] == "little memory"


def test_figures_and_predictions() -> None:
    assert repr(show_figures("on the test set", {"loss": 0.5})) == "on the test set\n  loss  0.5000"
    shown = repr(show_predictions({"prediction": np.array([3, 1]), "row": np.arange(100.0).reshape(2, 50)})).splitlines()
    assert shown[0] == "2 examples of the test set"
    assert shown[2].split()[:2] == ["0", "3"]
    assert all(len(line) < 80 and line.endswith("…") for line in shown[2:])
