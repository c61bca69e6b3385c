"""Figures: what is drawn is what was recorded."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Affine2D, BboxTransformTo

from pslab.lab.chart import averaged
from pslab.lab.figures import comparison_figure, training_figure
from pslab.lab.tables import metrics_table
from pslab.trace.records import step_dtype
from pslab.train.compression import TopK
from pslab.train.strategy import ALL_MODES, Strategy


def table(steps: int = 400, modes: int = 2):
    return metrics_table(raw(steps, modes), ALL_MODES)


def raw(steps: int = 400, modes: int = 2):
    records = np.zeros(steps, step_dtype(("accuracy",)))
    at = np.arange(steps)
    records["time"] = 1e9 + at * 0.01
    records["wall"] = 0.02
    records["worker"] = at % 2
    records["global_step"] = at + 1
    records["strategy"] = at * modes // max(steps, 1)
    records["loss"] = 2.0 * np.exp(-at / 100)
    records["observed"] = at % 50 == 0
    records["divergence"] = np.where(records["observed"], 1e-3, np.nan)
    records["compute"], records["wait"], records["push"], records["pull"] = 1e-3, 2e-3, 3e-4, 4e-4
    records["bytes_pushed"], records["bytes_pulled"] = 38_000, 39_000
    return records


def test_a_table_has_a_row_per_step_and_readable_columns() -> None:
    frame = table()
    assert list(frame.columns[:7]) == ["time", "worker", "step", "global_step", "replication", "update", "compression"]
    assert "accuracy" in frame
    assert frame["time"].iloc[0] == pytest.approx(0.02)
    assert set(frame["update"]) == {"async", "sync"}


def test_losses_divergences_bytes_and_times_are_those_of_the_table() -> None:
    loss, divergence, sizes, times = training_figure(table()).axes
    raw = loss.lines[0]
    np.testing.assert_allclose(raw.get_ydata(), 2.0 * np.exp(-np.arange(0, 400, 2) / 100))
    np.testing.assert_allclose(divergence.lines[0].get_ydata(), 1e-3)
    assert {line.get_label(): float(np.mean(line.get_ydata())) for line in sizes.lines if not line.get_label().startswith("_")} == pytest.approx(
        {"pushed": 38_000, "pulled": 39_000}
    )
    tops = [area.get_paths()[0].vertices[:, 1].max() for area in times.collections[:4]]
    np.testing.assert_allclose(tops, np.cumsum([1e-3, 2e-3, 3e-4, 4e-4]))


def test_a_change_of_mode_is_marked_where_it_came() -> None:
    texts = {t.get_text(): t.get_position()[0] for t in training_figure(table()).axes[0].texts}
    assert set(texts) == {"between-graph\nasync", "between-graph\nsync"}
    assert texts["between-graph\nsync"] == pytest.approx(201, abs=5)
    assert not training_figure(table(modes=1)).axes[0].texts


def test_a_change_of_compression_is_a_change_of_mode() -> None:
    frame = metrics_table(raw(), [Strategy(), Strategy(compression=TopK())])
    assert set(frame["compression"]) == {"", "top-k 1 %"}
    assert {t.get_text() for t in training_figure(frame).axes[0].texts} == {"between-graph\nasync", "between-graph\nasync,\ntop-k 1 %"}


def test_steps_of_two_modes_that_mix_make_one_mark() -> None:
    frame = table()
    swap = frame.index[[199, 200]]
    frame.loc[swap, "update"] = frame.loc[swap[::-1], "update"].to_numpy()
    assert len(training_figure(frame).axes[0].texts) == 2


def test_curves_are_averaged_within_a_mode_and_without_nans() -> None:
    frame = table()
    frame["loss"] = np.where(frame["update"] == "sync", 1.0, 3.0)
    frame.loc[::5, "loss"] = np.nan
    steps, losses = averaged(frame, "loss")
    assert set(losses) == {1.0, 3.0}
    assert np.all(np.diff(steps) > 0)
    frame["ramp"] = frame["global_step"] - 1.0
    steps, ramp = averaged(frame, "ramp")
    np.testing.assert_allclose(ramp, steps - 1)


def test_observed_steps_do_not_count_as_costs() -> None:
    frame = table()
    frame.loc[frame["observed"], ["bytes_pushed", "compute"]] = 1e12
    *_, sizes, times = training_figure(frame).axes
    assert max(np.max(line.get_ydata()) for line in sizes.lines) < 1e5
    assert times.get_ylim()[1] < 1
    *_, sizes, times = comparison_figure({"one": frame}).axes
    assert [p.get_width() for p in sizes.patches] == [38_000, 39_000, 0]
    frame["observed"] = True
    assert [ax.texts[-1].get_text() for ax in training_figure(frame).axes[2:]] == ["each step so far was observed"] * 2


@pytest.mark.parametrize(
    ("divergences", "scale"), [([1e-3, 1e-2], "log"), ([0.0, 1e-2], "symlog"), ([0.0, 0.0], "linear"), ([np.nan, np.nan], "linear")]
)
def test_divergence_is_logarithmic_where_it_can_be(divergences, scale) -> None:
    frame = table(steps=2, modes=1)
    frame["divergence"] = divergences
    assert training_figure(frame).axes[1].get_yscale() == scale
    comparison_figure({"mode": frame}).draw_without_rendering()


def crowd(workers: int, modes: int, compression: str = ""):
    frame = table(steps=1200, modes=4)
    frame["worker"] = np.arange(1200) % workers
    stretch = np.arange(1200) * modes // 1200
    frame["replication"] = np.where(stretch % 2, "between-graph", "in-graph")
    frame["update"] = np.where(stretch // 2 % 2, "async", "sync")
    frame["compression"] = np.where(stretch % 3, "", compression)
    return frame


def outline(text: Text) -> Path:
    """The box around a text, which may be slanted, in pixels."""
    angle, style = text.get_rotation(), text.get_rotation_mode()
    if not angle or style != "anchor":
        return Path.unit_rectangle().transformed(BboxTransformTo(text.get_window_extent()))
    text.set_rotation(0)
    level = text.get_window_extent()
    text.set_rotation(angle)
    x, y = text.get_transform().transform(text.get_position())
    return Path.unit_rectangle().transformed(BboxTransformTo(level) + Affine2D().rotate_deg_around(x, y, angle))


def labels_out_of_view(axis) -> list[Text]:
    """Matplotlib keeps ticks a little beyond the axes, and does not draw them."""
    low, high = sorted(axis.get_view_interval())
    return [tick.label1 for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()) if not low <= tick.get_loc() <= high]


def words_that_meet(figure) -> list[tuple[str, str]]:
    figure.draw_without_rendering()
    hidden = {label for ax in figure.axes for axis in (ax.xaxis, ax.yaxis) for label in labels_out_of_view(axis)}
    shown = [t for t in figure.findobj(Text) if t.get_visible() and t.get_text().strip() and t not in hidden]
    assert min(t.get_fontsize() for t in shown if "$" not in t.get_text()) >= 10
    outlines = [(t.get_text(), outline(t)) for t in shown]
    return [(a, b) for (a, one), (b, other) in itertools.combinations(outlines, 2) if one.intersects_path(other)]


def test_bars_compare_the_modes() -> None:
    sizes, times = comparison_figure({"one": table(), "other": table()}).axes[2:]
    assert [p.get_width() for p in sizes.patches][:2] == [38_000, 38_000]
    assert sum(p.get_width() for p in times.patches) == pytest.approx(2 * (1e-3 + 2e-3 + 3e-4 + 4e-4))


@pytest.mark.parametrize("steps", [0, 1, 2])
def test_few_steps_or_none_are_drawn_too(steps, tmp_path) -> None:
    frame = table(steps)
    training_figure(frame).savefig(tmp_path / "training.png")
    figure = comparison_figure({"mode": frame})
    figure.savefig(tmp_path / "modes.png")
    if not steps:
        assert all(ax.texts[0].get_text() == "no steps yet" for ax in figure.axes)


@pytest.mark.parametrize("compression", ["", "top-k 1 %", "top-k 1 %, no error feedback"])
@pytest.mark.parametrize(("workers", "modes"), [(1, 1), (2, 3), (8, 6), (3, 10)])
def test_no_words_of_a_training_meet_or_leave_the_page(workers, modes, compression) -> None:
    figure = training_figure(crowd(workers, modes, compression))
    assert words_that_meet(figure) == []
    page = figure.bbox
    assert all(page.x0 <= t.get_window_extent().x0 and t.get_window_extent().x1 <= page.x1 for ax in figure.axes for t in ax.texts)


def test_no_words_of_a_comparison_meet_and_legends_cover_no_axes() -> None:
    figure = comparison_figure({str(mode): table() for mode in ALL_MODES})
    assert words_that_meet(figure) == []
    for ax in figure.axes:
        assert not any(ax.get_legend().get_window_extent().overlaps(other.get_window_extent()) for other in figure.axes)
