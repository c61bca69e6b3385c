"""The thread that tells: it has news for as long as a view is open, and all views keep its pictures."""

from __future__ import annotations

import threading

from pslab.lab.panel import teller as teller_module
from pslab.lab.panel.snapshot import Still
from pslab.lab.panel.teller import Teller
from tests.waiting import DEADLINE_S, until


class View:
    def __init__(self) -> None:
        self.kept: list[Still] = []

    def keep(self, still: Still) -> None:
        self.kept.append(still)


class News:
    """Counts how often it was asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self.again = threading.Semaphore(0)

    def __call__(self) -> None:
        self.asked += 1
        assert self.again.acquire(timeout=DEADLINE_S)


def test_it_tells_from_the_first_view_to_the_last() -> None:
    news, one, other = News(), View(), View()
    teller = Teller("test", news)
    assert news.asked == 0
    teller.join(one)
    until(lambda: news.asked == 1, "the first view is told nothing")
    teller.join(other)
    teller.leave(one)
    news.again.release()
    until(lambda: news.asked == 2, "the other view is told nothing more")
    teller.leave(other)
    teller.leave(other)  # it may be closed twice
    news.again.release()
    told = threading.Event()
    threading.Thread(target=lambda: teller.wait() and told.set(), daemon=True).start()
    assert not told.wait(0.2)
    assert news.asked == 2
    teller.join(one)
    until(lambda: news.asked == 3, "a view that is opened again is told nothing")
    news.again.release(10)
    teller.leave(one)


def test_what_hurries_is_told_at_once(monkeypatch) -> None:
    monkeypatch.setattr(teller_module, "PERIOD_S", 1000.0)
    news, hurry, view = News(), threading.Event(), View()
    teller = Teller("test", news, hurry)
    teller.join(view)
    news.again.release(10)
    for asked in (1, 2, 3):
        until(lambda asked=asked: news.asked == asked and not hurry.is_set(), "what hurries waits for its turn")
        hurry.set()
    teller.leave(view)


def test_all_views_that_are_open_keep_a_picture() -> None:
    one, other, gone = View(), View(), View()
    teller = Teller("test", lambda: None)
    for view in (one, other, gone):
        teller.join(view)
    teller.leave(gone)
    still = Still("panel", "", b"")
    teller.keep(still)
    assert [view.kept for view in (one, other, gone)] == [[still], [still], []]
    for view in (one, other):
        teller.leave(view)
