"""The divergence of replicas as tables and as a picture."""

from __future__ import annotations

import math

import pytest

from pslab.lab.display import show_divergence, show_merge_gap
from pslab.lab.divergence_figure import divergence_figure
from pslab.lab.divergence_tables import divergence_history_table, divergence_table
from pslab.train.distances import Distance
from pslab.train.divergence_history import Look
from pslab.train.merge_gap import MergeGap
from pslab.train.strategy import Strategy
from pslab.train.updates import Async, Sync

NAN = math.nan
MODES = [Strategy(update=Sync()), Strategy(update=Async())]


def seen(distance: float, cosine: float) -> list[Distance]:
    pairs = [("worker:0", "ps", 1), ("worker:1", "ps", 2), ("worker:0", "worker:1", 3)]
    return [Distance(a, b, name, distance * factor, cosine) for a, b, factor in pairs for name in ("w", "b", "all")]


def looks(cosine: float = 0.5) -> list[Look]:
    return [Look(100.0 + i, 10 * i, int(i > 2), seen(0.1 * (i + 1), cosine)) for i in range(5)]


def test_the_table_over_time_tells_when_and_in_which_mode() -> None:
    table = divergence_history_table(looks(), MODES)
    assert list(table.columns) == ["time", "global_step", "mode", "first", "second", "parameter", "distance", "cosine"]
    assert len(table) == 5 * 9
    last = table.iloc[-1]
    assert (last["time"], last["global_step"], last["mode"], last["distance"]) == (4.0, 40, str(MODES[1]), pytest.approx(1.5))


def test_the_picture_has_a_line_per_worker_one_per_pair_and_marks_changes_of_mode() -> None:
    served, between, ways, heat, *_ = divergence_figure(divergence_history_table(looks(), MODES)).axes
    assert [text.get_text() for text in served.get_legend().get_texts()] == ["worker:0", "worker:1"]
    assert [text.get_text() for text in between.get_legend().get_texts()] == ["worker:0 – worker:1"]
    assert list(between.lines[0].get_ydata()) == pytest.approx([0.3, 0.6, 0.9, 1.2, 1.5])
    assert served.lines[-1].get_xdata()[0] == 30
    assert list(ways.lines[0].get_ydata()) == [0.5] * 5
    assert [label.get_text() for label in heat.get_yticklabels()] == ["w", "b"]
    assert heat.images[0].get_array().shape == (2, 5)


def test_what_there_is_not_is_said() -> None:
    assert "no replica" in divergence_figure(divergence_history_table([], MODES)).axes[0].texts[0].get_text()
    assert "no two replicas move" in divergence_figure(divergence_history_table(looks(NAN), MODES)).axes[2].texts[0].get_text()


def test_pairs_and_the_gap_are_shown() -> None:
    shown = repr(show_divergence(divergence_table(seen(0.25, -0.5))))
    assert "worker:0 – worker:1  0.75" in shown
    assert "-0.500" in shown
    gap = repr(show_merge_gap(MergeGap({"worker:0": 4, "worker:1": 4}, {"worker:0": 0.5, "worker:1": 0.7}, 0.9)))
    assert "+0.3000" in gap
    assert "step 4" in gap
