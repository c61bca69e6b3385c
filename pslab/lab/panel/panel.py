"""The panel's widgets.

Two comms: one takes wishes from the front end and is never published on, the other (`Teller.line`) tells what has changed. ipykernel 7 gives a comm's messages to
the subshell that last published on it; where nobody has, they go to the one that the front end asks for, which answers also while a cell runs.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from time import monotonic, sleep, thread_time, time
from typing import TYPE_CHECKING, Any

import traitlets

from pslab.errors import UsageError
from pslab.lab import palette
from pslab.lab.panel.actions import ACTIONS
from pslab.lab.panel.controls import CONTROLS
from pslab.lab.panel.desk import Desk
from pslab.lab.panel.feed import Feed, Message
from pslab.lab.panel.front_end import PANEL
from pslab.lab.panel.living import Living
from pslab.lab.panel.snapshot import Still, snapshot
from pslab.lab.panel.teller import Teller

if TYPE_CHECKING:
    from pslab.lab.lab import Lab

SURVEY_S = 0.5
"""Seconds after which it is seen whether the survey is due."""
TASKS_S = 1.0
"""Seconds between two looks at the tasks."""
_SETTERS = {control.name: control.apply for control in CONTROLS}
_PALETTE = {
    "series": list(palette.SERIES),
    "phases": {name: colour for name, (colour, _) in palette.PHASES.items()},
    "flows": {name: colour for name, (colour, _, _) in palette.FLOWS.items()},
}


class Panel(Living):
    """Controls and live plots of a lab; shown where it is the value of a cell.

    Args:
        station: what it shares with the other panels of the lab.
        hide: names of controls and buttons that are not shown.
        lock: names of those that are shown, but cannot be used.
    """

    _esm = PANEL.text
    _css = PANEL.style
    palette = traitlets.Dict().tag(sync=True)
    hide = traitlets.List().tag(sync=True)
    lock = traitlets.List().tag(sync=True)

    def __init__(self, station: Station, hide: Sequence[str], lock: Sequence[str]) -> None:
        super().__init__(station.teller, palette=_PALETTE, hide=list(hide), lock=list(lock))
        self._station = station
        self.on_msg(self._hear)

    def __repr__(self) -> str:
        return "pslab panel"

    def still(self) -> Still:
        """A picture of the training as it is now."""
        return snapshot(self._station.desk.lab)

    def _hear(self, _: Panel, content: dict[str, Any], buffers: list[bytes]) -> None:
        name = content.get("ask")
        if name is None:
            self._station.begin_anew()
        elif name not in (*self.hide, *self.lock):
            with suppress(UsageError):  # a front end of another version
                self._station.desk.ask(name, content.get("value"))


class Station:
    """What all panels of a lab share: the desk, the feed, and the thread that tells what has changed while a panel is open.

    Args:
        lab: whose.

    Attributes:
        desk: where wishes are granted.
        teller: tells all panels what has changed.
        survey_s: processor time that each part of the survey has taken, in seconds.
    """

    def __init__(self, lab: Lab) -> None:
        grants = {**_SETTERS, **ACTIONS, "freeze": lambda _desk, _value: self._feed.freeze(), "thaw": lambda _desk, _value: self._feed.thaw()}
        self.desk = Desk(lab, grants, frozenset(_SETTERS))
        self._feed: Feed = Feed(self.desk)
        self._training = "idle"
        self.survey_s: defaultdict[str, float] = defaultdict(float)
        self.teller = Teller("panel", self._news, self.desk.stirred)
        survey = self._feed.survey
        for part, look, period in (("survey", lambda: survey.look(monotonic()), SURVEY_S), ("tasks", survey.look_at_tasks, TASKS_S)):
            threading.Thread(target=self._look_around, args=(part, look, period), name=f"pslab panel {part}", daemon=True).start()

    def open(self, hide: Sequence[str], lock: Sequence[str]) -> Panel:
        """A further panel.

        Raises:
            UsageError: there is no control or button of such a name.
        """
        for name in (*hide, *lock):
            if name not in self.desk.names:
                raise UsageError(f"the panel has no {name!r}", f"one of: {', '.join(self.desk.names)}")
        return Panel(self, hide, lock)

    def begin_anew(self) -> None:
        """Tell everything again: a front end has just come."""
        self._feed.begin_anew()

    def _look_around(self, part: str, look: Callable[[], None], period: float) -> None:
        while self.teller.wait():
            before = thread_time()
            with suppress(Exception):  # a cluster that is being changed, or a mode that the cost model does not know: the next look may see more
                look()
            self.survey_s[part] += thread_time() - before
            sleep(period)

    def _news(self) -> Message | None:
        try:
            message = self._feed.next(time(), monotonic())
        except Exception as error:  # the lab goes on, and so does the panel with its next look
            return Message({"state": {"message": f"the panel cannot look: {type(error).__name__}: {error}"}}, [])
        now = self._training if message is None else message.content.get("state", {}).get("training", self._training)
        if self._training == "running" != now:
            threading.Thread(target=self._take_pictures, name="pslab panel snapshot", daemon=True).start()
        self._training = now
        return message

    def _take_pictures(self) -> None:
        self.teller.keep(snapshot(self.desk.lab))
