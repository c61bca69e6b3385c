"""What training costs, as tables and pictures."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.lab.cost_figures import cost_figure, traffic_figure
from pslab.lab.costs import Cost, links_table, tensor_sizes
from pslab.lab.display import show_cost, show_table
from pslab.runtime.tally import Weight
from pslab.runtime.transport import Network, Sent
from pslab.simulate.cost import Prediction
from pslab.train.traffic import TaskTraffic, Traffic

TRAFFIC = Traffic(
    {
        "ps:0": TaskTraffic(
            {"worker:0": Sent(10, 1000, 0.5), "ps:1": Sent(3, 30, 0.0)}, [Weight("worker:0", "w:0", 4, 400), Weight("worker:1", "w:0", 1, 300)]
        ),
        "worker:0": TaskTraffic({"ps:0": Sent(20, 4000, 1.0)}, []),
    },
    {"worker:0": 10, "worker:1": 5},
)
COST = Cost(
    Prediction(0.02, 0.005, 0.001, 0.006, 0.008, "ps", {"network": 0.005, "ps": 0.01, "cores": 0.015}, {"ps:0": 0.97, "worker:0": 0.4}),
    {"wall": 0.021, "compute": 0.006, "wait": 0.0, "push": 0.006, "pull": 0.009},
    40,
    Network(1e6, 0.001),
)


def test_a_row_per_link_in_all_and_per_step_of_the_worker_at_its_end() -> None:
    table = links_table(TRAFFIC)
    assert table[["from", "to"]].to_numpy().tolist() == [["ps:0", "ps:1"], ["ps:0", "worker:0"], ["worker:0", "ps:0"]]
    assert table["bytes"].tolist() == [30, 1000, 4000]
    assert table["messages_per_step"].tolist() == [3 / 15, 1.0, 2.0]  # no worker is at the first: steps of all count
    assert table["bytes_per_step"].tolist() == [2.0, 100.0, 400.0]
    assert table["seconds_per_step"].tolist() == [0.0, 0.05, 0.1]


def test_before_anything_was_sent_the_table_is_empty() -> None:
    table = links_table(Traffic({}, {}))
    assert len(table) == 0
    assert traffic_figure(table).axes[0].texts[0].get_text() == "nothing was sent yet"


def test_tensors_weigh_their_mean() -> None:
    assert tensor_sizes(TRAFFIC) == {"w:0": (100 + 300) / 2}


def test_a_cost_is_a_row_predicted_and_a_row_measured() -> None:
    assert COST.table.loc["predicted"].tolist() == [0.02, 0.005, 0.001, 0.006, 0.008]
    assert COST.table.loc["measured"].tolist() == [0.021, 0.006, 0.0, 0.006, 0.009]
    assert COST.table.columns.tolist() == ["step", "compute", "wait", "push", "pull"]
    assert COST.bottleneck == "ps"


def test_a_cost_says_why() -> None:
    why = (
        "bottleneck: the ps tasks' ports, where messages queue: if these took no time, a step would take 10 ms, not 20 ms; "
        "the port of ps:0 is busy 97% of the time"
    )
    assert COST.why == why
    assert str(COST).splitlines()[-1] == why
    shown = repr(show_cost(COST))
    assert "0.95 of the measured" in shown
    assert "predicted  20.00 ms  5.00 ms" in shown


def test_the_pictures_show_the_numbers() -> None:
    bars = traffic_figure(links_table(TRAFFIC)).axes[0].patches
    assert sorted(bar.get_width() for bar in bars) == [2.0, 100.0, 400.0]
    figure = cost_figure(COST)
    widths = np.array([bar.get_width() for bar in figure.axes[0].patches]).reshape(4, 2)
    assert widths[:, 0].sum() == pytest.approx(0.02)
    assert figure.axes[0].get_title(loc="left") == "Time per worker step; bottleneck: ps"


def test_a_table_is_shown_with_few_digits() -> None:
    shown = repr(show_table("traffic", links_table(TRAFFIC)[2:]))
    assert "worker:0  ps:0  20        4000   1        2                  400             0.1" in shown
