"""What can be asked for in a race."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pslab.errors import FailedPreconditionError, UsageError
from pslab.lab.panel.actions import ACTIONS as BUTTONS
from pslab.lab.panel.desk import Desk
from pslab.train.race import Message


def _begin(desk: Desk, _: Any) -> None:
    """Let messages wait at the gates; start a cluster if there is none."""
    lab = desk.lab
    if not lab.cluster.running:
        lab.strategy.check(desk.workers)
        lab.cluster.start(ps=desk.ps, workers=desk.workers)
    lab.messages()


def _message(desk: Desk, value: Any) -> None:
    """Let one message in: the first that waits, or the one that was chosen, if it waits still."""
    if value is None:
        desk.lab.step(messages=1)
        return
    try:
        chosen = Message(f"ps:{int(value['ps'])}", int(value["worker"]), str(value["what"]))
    except (TypeError, KeyError, ValueError):
        raise UsageError(f"a message has a ps, a worker and a what, found {value!r}") from None
    if chosen not in desk.lab.messages():
        raise FailedPreconditionError(f"the {chosen} does not wait any more", "choose among those that wait now")
    desk.lab.step(messages=1, worker=chosen.worker, ps=int(value["ps"]))


ACTIONS: Mapping[str, Callable[[Desk, Any], object]] = {
    "begin": _begin,
    "message": _message,
    "start": BUTTONS["start"],
    "pause": BUTTONS["pause"],
}
"""What each wish does."""
