"""Still pictures beside a widget: each place keeps the last, and is not told of it twice."""

from __future__ import annotations

import pytest

from pslab.lab.panel import living
from pslab.lab.panel.living import Living
from pslab.lab.panel.snapshot import Still
from pslab.lab.panel.teller import Teller


class Place:
    """Where a widget is shown."""

    def __init__(self, first: Still) -> None:
        self.kept = [first]

    def update(self, still: Still) -> None:
        self.kept.append(still)


class View(Living):
    now = Still("test", "", b"")

    def still(self) -> Still:
        return self.now


@pytest.fixture
def places(monkeypatch) -> list[Place]:
    shown: list[Place] = []

    def display(what: object, display_id: bool = False, **_: object) -> Place | None:
        if not display_id:
            return None
        assert isinstance(what, Still)
        shown.append(Place(what))
        return shown[-1]

    monkeypatch.setattr(living, "display", display)
    return shown


def test_each_place_keeps_the_last_picture_and_is_told_once(places) -> None:
    view = View(Teller("test", lambda: None))
    first, second = view.now, Still("test", "", b"")
    view.keep(second)  # nobody sees it yet, so the first place begins with what is so then
    view._ipython_display_()
    for still in (first, second, second):
        view.keep(still)
    view.now = second
    view._ipython_display_()
    view.keep(second)
    assert [place.kept for place in places] == [[first, second], [second]]
    view.now = Still("test", "", b"")
    view.close()
    assert [place.kept[-1] for place in places] == [view.now, view.now]
