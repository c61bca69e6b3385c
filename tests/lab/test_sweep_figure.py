"""The figure of an experiment: what is drawn is what is in the table."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pslab.lab.sweep import Sweep
from pslab.lab.sweep_series import layout_of, spoken
from pslab.lab.until import Until
from pslab.train.commits import Differences, Elastic
from pslab.train.strategy import ALL_MODES, Strategy
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.lab.sweeps import ALL_FAILED, NOW, filled
from tests.lab.test_figures import words_that_meet

LINES = {"batch_size": [32, 64, 128], "update": [Sync(), Async()]}
WORDS = {"replication": ["between-graph", "in-graph"], "update": [Sync(), Async()]}


def lines_named(ax) -> dict[str, tuple[list[float], list[float]]]:
    return {str(line.get_label()): (list(line.get_xdata()), list(line.get_ydata())) for line in ax.lines if not str(line.get_label()).startswith("_")}


@pytest.mark.parametrize(("panel", "column"), [(0, "seconds_to_target"), (1, "examples_to_target"), (2, "bytes_to_target")])
def test_lines_are_means_bands_are_extremes_and_dots_are_runs(panel, column) -> None:
    sweep = filled(LINES)
    ax = sweep.plot().axes[panel]
    drawn = lines_named(ax)
    assert list(drawn) == ["sync", "async"]
    for band, (name, (x, y)) in zip(ax.collections, drawn.items(), strict=True):
        mine = sweep.table[sweep.table["update"] == name].groupby("batch_size")[column]
        assert x == [32, 64, 128]
        np.testing.assert_allclose(y, mine.mean())
        corners = band.get_paths()[0].vertices[:, 1]
        assert (corners.min(), corners.max()) == (mine.min().min(), mine.max().max())
    dots = [line for line in ax.lines if line.get_linestyle() == "None"]
    assert sorted(v for line in dots for v in line.get_ydata()) == pytest.approx(sorted(sweep.table[column]))


def test_powers_are_evenly_apart_and_ticks_are_the_values() -> None:
    figure = filled(LINES).plot()
    figure.draw_without_rendering()
    assert figure.axes[0].get_xscale() == "log"
    assert [tick.get_text() for tick in figure.axes[0].get_xticklabels()] == ["32", "64", "128"]
    assert filled({"workers": [1, 2, 3]}).plot().axes[0].get_xscale() == "linear"


def test_words_are_rows_with_a_dot_per_run_and_a_bar_at_the_mean() -> None:
    sweep = filled(WORDS)
    ax = sweep.plot().axes[0]
    assert [t.get_text() for t in ax.get_yticklabels()] == ["between-graph, sync", "between-graph, async", "in-graph, sync", "in-graph, async"]
    dots, bars = ax.lines[::2], ax.lines[1::2]
    for (row, point), dot, bar in zip(enumerate(sweep.plan.points), dots, bars, strict=True):
        mine = sweep.table[(sweep.table["replication"] == point["replication"].label) & (sweep.table["update"] == point["update"].label)]
        assert list(dot.get_xdata()) == list(mine["seconds_to_target"])
        assert set(dot.get_ydata()) == {row}
        assert bar.get_xdata()[0] == pytest.approx(mine["seconds_to_target"].mean())


def test_learning_curves_are_those_of_the_runs() -> None:
    sweep = filled(LINES, seeds=2)
    curves = sweep.plot().axes[3]
    thin = [line for line in curves.lines if line.get_linewidth() < 1 and line.get_linestyle() == "-"]
    assert len(thin) == len(sweep)
    assert sum(len(line.get_xdata()) for line in thin) == len(sweep.curves)
    assert max(max(line.get_ydata()) for line in thin) == sweep.curves["test_accuracy"].max()
    assert 0.95 in {float(line.get_ydata()[0]) for line in curves.lines if len(set(line.get_ydata())) == 1}


def test_without_a_target_what_was_reached_is_drawn() -> None:
    sweep = filled({"learning_rate": [0.01, 0.1, 1.0]}, Until(steps=100))
    reached, time, *_ = sweep.plot().axes
    assert reached.get_title(loc="left") == "Test accuracy at the end"
    np.testing.assert_allclose(reached.lines[1].get_ydata(), sweep.table.groupby("learning_rate")["test_accuracy"].mean())
    assert time.get_title(loc="left") == "Training time"


def test_a_loss_as_target_draws_losses() -> None:
    figure = filled(LINES, Until(loss=0.5, steps=100)).plot()
    assert figure.axes[0].get_title(loc="left") == "Training time to loss 0.5"
    assert figure.axes[3].get_title(loc="left") == "Test loss over time"


def test_runs_that_did_not_reach_it_are_crosses_above_all_that_is_drawn() -> None:
    sweep = filled({"batch_size": [4, 8, 64], "update": [Sync(), Async()]})
    figure = sweep.plot()
    ax = figure.axes[0]
    crosses = [line for line in ax.lines if line.get_marker() == "x"]
    assert [list(line.get_xdata()) for line in crosses] == [[4, 8], [4, 8]]
    assert sweep.table["seconds_to_target"].max() < 0.9 * ax.get_ylim()[1]
    assert "not reached: 12 of 18 runs" in [t.get_text() for t in figure.legends[0].get_texts()]
    rows = filled(WORDS, cost=lambda setup: 100.0 if setup.strategy.update == Sync() else 1.0).plot().axes[0]
    assert [line.get_ydata()[0] for line in rows.lines if line.get_marker() == "x"] == [0, 2]


def test_failed_runs_are_counted_and_not_drawn() -> None:
    figure = filled(LINES, failing=(0, 1)).plot()
    assert "failed, and not drawn: 2 of 18 runs" in [t.get_text() for t in figure.legends[0].get_texts()]
    assert [ax.texts[0].get_text() for ax in filled(LINES, failing=ALL_FAILED).plot().axes] == ["each run so far has failed"] * 3 + [
        "no run was made yet"
    ]
    empty = Sweep(filled(LINES).plan)
    assert [ax.texts[0].get_text() for ax in empty.plot().axes] == ["no run was made yet"] * 4


def test_the_key_with_the_most_numbers_is_along_the_axis() -> None:
    assert layout_of(filled({"workers": [1, 2], "batch_size": [8, 16, 32], "update": [Sync(), Async()]}, seeds=1)).x == "batch_size"
    layout = layout_of(filled({"workers": [1, 2], "update": [Sync()]}, seeds=1))
    assert (layout.x, [series.name for series in layout.series]) == ("workers", [""])
    assert layout_of(filled(WORDS, seeds=1)).x is None
    assert layout_of(filled({"batch_size": [8]}, seeds=1)).x is None


def test_hand_picked_points_of_which_none_differ_in_a_number_alone_are_rows() -> None:
    assert layout_of(filled(RULES, seeds=1, now=MANY)).x is None
    layout = layout_of(filled([{"ps": 1, "batch_size": 8}, {"ps": 1, "batch_size": 16}, {"ps": 2, "batch_size": 32}], seeds=1))
    assert (layout.x, layout.values, [series.name for series in layout.series]) == ("batch_size", (8, 16, 32), ["ps 1", "ps 2"])


def test_what_most_have_in_common_goes_without_saying() -> None:
    names = [series.name for series in layout_of(filled(RULES, seeds=1, now=dataclasses.replace(NOW, workers=4))).series]
    assert names[0] == "sync"
    assert names[2] == "2-async"
    assert names[-2:] == ["async, elastic, α 0.3, commit every 4", "async, differences, outer rate 0.7, outer momentum 0.9, commit every 16"]
    three = [{"batch_size": 8, "ps": 1}, {"batch_size": 8, "ps": 2}, {"batch_size": 16, "ps": 1}]
    assert [series.name for series in layout_of(filled(three, seeds=1)).series] == ["ps 1", "ps 2"]


def test_numbers_are_told_with_their_setting() -> None:
    assert [spoken("batch_size", 8), spoken("update", "sync"), spoken("hidden", "64-32"), spoken("compression", "none")] == [
        *("batch size 8", "sync", "hidden 64-32", "compression none")
    ]


MODES = [{"replication": mode.replication, "update": mode.update} for mode in ALL_MODES]
RULES = [
    *({"update": update} for update in (Sync(), Sync(backup=1), KAsync(2), Async(), SSP(staleness=3), Async(by_staleness=True), Async(lock=False))),
    *({"update": Async(compensation=0.04)}, {"commit": Elastic(0.3), "commit_every": 4}, {"commit": Differences(0.7, 0.9), "commit_every": 16}),
]
MANY = dataclasses.replace(NOW, workers=4, strategy=Strategy(update=Sync(backup=1)))


@pytest.mark.parametrize(
    ("grid", "until"),
    [
        (LINES, Until(accuracy=0.95, steps=300)),
        (MODES, Until(accuracy=0.95, steps=300)),
        ({"learning_rate": [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0]}, Until(steps=50)),
        ({"batch_size": [1, 2, 4, 8, 16, 32], "optimizer": ["sgd", "adam", "momentum"], "workers": [3, 4]}, Until(accuracy=0.9, steps=200)),
        ({"replication": ["between-graph"], "update": [Sync(), Sync(backup=1), Async()], "optimizer": ["sgd", "adam", "rmsprop"]}, Until(loss=0.4)),
        ({"update": [Async()]}, Until(steps=50)),
        (RULES, Until(accuracy=0.9, steps=200)),
    ],
)
def test_no_words_meet_or_leave_the_page(grid, until) -> None:
    figure = filled(grid, until, seeds=2, now=MANY, failing=(1,)).plot()
    assert words_that_meet(figure) == []
    legends = [*figure.legends, *(legend for ax in figure.axes if (legend := ax.get_legend()) is not None)]
    for legend in legends:
        box = legend.get_window_extent()
        assert figure.bbox.x0 <= box.x0 and box.x1 <= figure.bbox.x1
        assert not any(box.overlaps(ax.get_window_extent()) for ax in figure.axes)


def test_a_picture_is_written(tmp_path) -> None:
    filled(LINES).plot(tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
