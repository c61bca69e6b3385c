"""The picture of trajectories: each path where it was, over the loss."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.lab.trajectories_figure import trajectories_figure
from pslab.train.trajectories import Landscape

XS = YS = np.linspace(-1, 1, 5)
BOWL = XS[None, :] ** 2 + YS[:, None] ** 2 + 0.1
PATHS = {
    "ps": (np.arange(3), np.array([[0.8, 0.8], [0.4, 0.5], [0.0, 0.0]])),
    "worker:0": (np.arange(2), np.array([[0.8, 0.8], [0.2, 0.6]])),
    "worker:1": (np.arange(2), np.array([[0.8, 0.8], [0.6, 0.2]])),
}


def landscape(losses=BOWL) -> Landscape:
    return Landscape(PATHS, (0.9, 0.08), XS, YS, losses)


def test_each_path_goes_through_its_points_and_the_ps_lies_above() -> None:
    axes = trajectories_figure(landscape(), "as told").axes[0]
    lines = {line.get_label(): line for line in axes.lines if not line.get_label().startswith("_")}
    assert list(lines) == ["worker:0", "worker:1", "ps"]
    for name, line in lines.items():
        np.testing.assert_array_equal(np.column_stack(line.get_data()), PATHS[name][1])
    assert axes.get_title(loc="left") + axes.get_title() == "as told"
    assert "90%" in axes.get_xlabel()
    assert "8%" in axes.get_ylabel()


def test_shades_are_by_factors_where_losses_are_and_the_key_has_the_least_and_no_more_than_the_greatest() -> None:
    figure = trajectories_figure(landscape(), "")
    words = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert words[0] == "0.1"
    assert float(words[-1]) <= 2.1
    values = [float(w) for w in words]
    ratios = np.diff(np.log(values))
    assert ratios.max() - ratios.min() < 0.1


@pytest.mark.parametrize("losses", [np.full((5, 5), np.nan), np.ones((5, 5))])
def test_without_a_surface_the_paths_are_drawn_all_the_same(losses) -> None:
    figure = trajectories_figure(landscape(losses), "")
    assert len(figure.axes) == 1
    assert len(figure.axes[0].lines) == 9
