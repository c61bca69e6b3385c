"""The widget of a race. As the panel, it has two comms: one takes wishes, the other tells what has changed (`pslab.lab.panel.panel` says why)."""

from __future__ import annotations

import threading
from contextlib import suppress
from time import monotonic
from typing import TYPE_CHECKING, Any

import traitlets

from pslab.errors import UsageError
from pslab.lab import palette
from pslab.lab.language import tr
from pslab.lab.panel.desk import Desk
from pslab.lab.panel.front_end import DRAWING, in_front_of
from pslab.lab.panel.living import Living
from pslab.lab.panel.snapshot import Still, picture
from pslab.lab.panel.teller import Teller
from pslab.lab.race.actions import ACTIONS
from pslab.lab.race.feed import RaceFeed
from pslab.lab.race.race_figure import race_figure

if TYPE_CHECKING:
    from pslab.lab.lab import Lab

FRONT_END = DRAWING + in_front_of(__file__, ("race_layout", "race_diagram", "race_view"), ("race",))
REST_S = 1.0
"""Seconds without a change after which the picture that a notebook keeps is drawn anew."""


class RaceView(Living):
    """A race of a lab, to be stepped through message by message; shown where it is the value of a cell.

    Args:
        station: what it shares with the other views of the lab's races.
    """

    _esm = FRONT_END.text
    _css = FRONT_END.style
    colors = traitlets.List().tag(sync=True)

    def __init__(self, station: RaceStation) -> None:
        super().__init__(station.teller, colors=list(palette.SERIES))
        self._station = station
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        return "pslab race"

    def still(self) -> Still:
        """A picture of the race as it is now."""
        return self._station.still()

    def _hear(self, _: RaceView, content: dict[str, Any], buffers: list[bytes]) -> None:
        name = content.get("ask")
        if name is None:
            self._station.begin_anew()
            return
        with suppress(UsageError):  # a front end of another version
            self._station.desk.ask(name, content.get("value"))


class RaceStation:
    """What all views of a lab's races share: the desk, the feed, and the thread that tells what has changed while a view is open.

    Args:
        lab: whose.

    Attributes:
        desk: where wishes are granted.
        teller: tells all views what has changed.
    """

    def __init__(self, lab: Lab) -> None:
        self.desk = Desk(lab, ACTIONS, frozenset())
        self._feed = RaceFeed(self.desk)
        self._changed_at: float | None = None
        self.teller = Teller("race", self._news, self.desk.stirred)

    def open(self) -> RaceView:
        """A further view."""
        return RaceView(self)

    def begin_anew(self) -> None:
        """Tell everything again: a front end has just come."""
        self._feed.begin_anew()

    def still(self) -> Still:
        """A picture of the race as it is now."""
        race = self._feed.race
        if race is None:
            return Still("race", "", b"")
        return Still("race", tr("{}, after message {}", race.strategy, race.moments[-1].number), picture(race_figure(race)))

    def _news(self) -> tuple[dict[str, Any], list[bytes]] | None:
        now = monotonic()
        try:
            changes = self._feed.next(now)
        except Exception as error:  # the lab goes on, and so does the view with its next look
            changes = {"refusal": {"name": "", "words": f"the race cannot be looked at: {type(error).__name__}: {error}"}}
        if changes is not None and "scene" in changes:
            self._changed_at = now
        elif self._changed_at is not None and now > self._changed_at + REST_S:
            self._changed_at = None
            threading.Thread(target=self._keep_stills, name="pslab race picture", daemon=True).start()
        return None if changes is None else (changes, [])

    def _keep_stills(self) -> None:
        self.teller.keep(self.still())
