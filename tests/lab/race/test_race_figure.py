"""The still picture of a race."""

from __future__ import annotations

from matplotlib.patches import Rectangle

from pslab.lab.race.race_figure import SHOWN, race_figure
from pslab.train.order_service import AtGate
from pslab.train.race import Message, RaceBook
from pslab.train.strategy import Strategy
from pslab.train.updates import Async, Sync
from tests.lab.race.test_scene import Ledgers


def words(figure) -> list[str]:
    return [text.get_text() for text in figure.axes[0].texts if text.get_text()]


def test_it_has_versions_staleness_and_a_bar_per_stretch_of_work() -> None:
    told = Ledgers(Strategy(update=Async()))
    told.see(ps_0=[~0, ~1])
    for worker in (1, 1, 0):
        told.let_in("ps:0", worker, ps_0=[worker, ~worker])
    figure = race_figure(told.race())
    axes = figure.axes[0]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["ps:0", "worker:0", "worker:1"]
    assert sorted(w for w in words(figure) if "stale" in w) == ["0 stale", "0 stale", "2 stale"]
    assert [axes.get_yticks()[0]] * 4 == [t.get_position()[1] for t in axes.texts if t.get_text().startswith("v") and t.get_weight() == "bold"]
    bars = [p for p in axes.patches if isinstance(p, Rectangle)]
    assert len(bars) == 5
    push, again = sorted(bar.get_x() + bar.get_width() for bar in bars)[:2]
    assert (push, again) == (0.7, 1.7)  # where worker 1 leaves for its first and second push


def test_what_is_dropped_is_told() -> None:
    book = RaceBook(Strategy(update=Sync(backup=1)), 1, 2, 0)
    book.see({"ps:0": AtGate({0: "commit", 1: "commit"}, 0, True, 0, ())}, {}, 0)
    book.let_in(Message("ps:0", 0, "commit"))
    book.see({"ps:0": AtGate({1: "commit"}, 1, True, 0, ())}, {}, 1)
    book.let_in(Message("ps:0", 1, "commit"))
    book.see({"ps:0": AtGate({}, 2, True, 0, (), (), 1)}, {}, 1)
    assert "1 stale: dropped" in words(race_figure(book.race()))


def test_of_many_messages_the_last_are_shown() -> None:
    told = Ledgers(Strategy(update=Async()), workers=1)
    told.see(ps_0=[~0])
    for _ in range(50):
        told.let_in("ps:0", 0, ps_0=[0, ~0])
    figure = race_figure(told.race())
    assert [label.get_text() for label in figure.axes[0].get_xticklabels()] == [str(n) for n in range(51 - SHOWN, 51)]
    assert "v1" not in words(figure)
    assert "v50" in words(figure)
