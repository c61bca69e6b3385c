"""Figures: what is drawn is what was recorded."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.lab.figures import comparison_figure, training_figure
from pslab.lab.tables import metrics_table
from pslab.trace.records import step_dtype
from pslab.train.strategy import ALL_MODES


def table(steps: int = 400, modes: int = 2):
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
    return metrics_table(records, ALL_MODES)


def test_a_table_has_a_row_per_step_and_readable_columns() -> None:
    frame = table()
    assert list(frame.columns[:6]) == ["time", "worker", "step", "global_step", "replication", "update"]
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
    assert set(texts) == {"between-graph async", "between-graph sync"}
    assert texts["between-graph sync"] == pytest.approx(201, abs=5)
    assert not training_figure(table(modes=1)).axes[0].texts


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
