"""The controls of what makes training hard: a straggler, and the links between the tasks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pslab.errors import UsageError
from pslab.lab.language import tr
from pslab.lab.panel.desk import Desk
from pslab.lab.panel.face import Control, Face
from pslab.runtime.transport.network import Link, Pair, pair, parse_bandwidth, parse_time, say_link
from pslab.train.delays import DISTRIBUTIONS, Constant, Delay, Exponential, Pareto, span

NOBODY = "nobody"
ALL_LINKS = "all links"
NO_LIMIT, AS_OTHERS = "no limit", "as others"
_DELAYS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0)
_LATENCIES = (0.0, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 0.01, 0.02, 0.05, 0.1)
_BANDWIDTHS = tuple(factor * 10**power / 8 for power in range(6, 10) for factor in (1, 2, 5))
_TAIL = 1.5


# Stragglers


def _straggler(desk: Desk) -> Face:
    slow = desk.lab.cluster.delays
    now = ", ".join(slow) or NOBODY
    workers = [f"worker:{i}" for i in range(desk.lab.cluster.workers or desk.workers)]
    options = tuple(dict.fromkeys([NOBODY, *workers, now]))
    words = ", ".join(tr("{} slower by {}", task, delay) for task, delay in slow.items()) or tr("nobody slow")
    return Face(tr("Slow worker"), now, words, options, hint=tr("Who takes longer in each step; several by their own menus below"))


def _set_straggler(desk: Desk, task: Any) -> None:
    slow = desk.lab.cluster.delays
    if task == ", ".join(slow):
        return
    if task != NOBODY:
        desk.lab.cluster.slow(str(task), desk.delay)
    for other in slow:
        if other != task:
            desk.lab.cluster.slow(other, None)


def _delay_now(desk: Desk) -> Delay:
    return next(iter(desk.lab.cluster.delays.values()), desk.delay)


def _seconds(delay: Delay) -> float:
    """What a distribution is given by."""
    return delay.scale if isinstance(delay, Pareto) else delay.mean


def _kind(delay: Delay) -> str:
    return {Constant: "constant", Exponential: "exponential", Pareto: "pareto"}[type(delay)]


def _set(desk: Desk, delay: Delay) -> None:
    desk.delay = delay
    for task in desk.lab.cluster.delays:
        desk.lab.cluster.slow(task, delay)


def _delay(desk: Desk) -> Face:
    now = _seconds(_delay_now(desk))
    return Face(tr("By"), span(now), "", ladder=_ladder(span, _DELAYS, now), hint=tr("How much longer: the mean, of Pareto the least"))


def _set_delay(desk: Desk, value: Any) -> None:
    delay = _delay_now(desk)
    _set(desk, DISTRIBUTIONS[_kind(delay)](parse_time(str(value)), getattr(delay, "shape", _TAIL)))


def _distribution(desk: Desk) -> Face:
    now = _kind(_delay_now(desk))
    return Face(
        tr("In each step"), now, "", tuple(DISTRIBUTIONS), hint=tr("All alike, many short and few long (exponential), or with a heavy tail (Pareto)")
    )


def _set_distribution(desk: Desk, value: Any) -> None:
    if value not in DISTRIBUTIONS:
        raise UsageError(f"there is no distribution {value!r}", f"one of: {', '.join(DISTRIBUTIONS)}")
    delay = _delay_now(desk)
    _set(desk, DISTRIBUTIONS[value](_seconds(delay), getattr(delay, "shape", _TAIL)))


# Links


def _pairs(desk: Desk) -> dict[str, Pair]:
    """The links between a worker and a ps, and those that have something of their own."""
    cluster = desk.lab.cluster
    pairs = [pair(f"ps:{j}", f"worker:{i}") for i in range(cluster.workers) for j in range(cluster.ps)]
    return {f"{two} – {one}": (one, two) for one, two in dict.fromkeys([*pairs, *dict(cluster.network.links)])}


def _link_now(desk: Desk) -> Pair | None:
    return _pairs(desk).get(desk.link)


def _link(desk: Desk) -> Face:
    pairs = _pairs(desk)
    return Face(tr("Which"), desk.link if desk.link in pairs else ALL_LINKS, "", (ALL_LINKS, *pairs), hint=tr("Which link the next two are about"))


def _set_link(desk: Desk, value: Any) -> None:
    if value != ALL_LINKS and value not in _pairs(desk):
        raise UsageError(f"there is no link {value!r}", f"one of: {', '.join((ALL_LINKS, *_pairs(desk)))}")
    desk.link = value


def _own(desk: Desk) -> Link:
    """What the link that the controls are about has of its own."""
    network, between = desk.lab.cluster.network, _link_now(desk)
    return Link(network.bandwidth, network.latency, network.jitter) if between is None else dict(network.links).get(between, Link())


def _otherwise(desk: Desk, usual: str) -> str:
    return usual if _link_now(desk) is None else AS_OTHERS


def _say_bandwidth(value: float) -> str:
    return say_link(value, None, None)


def _say_latency(value: float) -> str:
    return span(value) if value else "0 s"


def _bandwidth(desk: Desk) -> Face:
    own, none = _own(desk).bandwidth, _otherwise(desk, NO_LIMIT)
    now = none if own is None else _say_bandwidth(own)
    ladder = (*_ladder(_say_bandwidth, _BANDWIDTHS, own), none)
    return Face(tr("Bandwidth"), now, "", ladder=ladder, hint=tr("Of each task's port; of one link, of a cable of its own: 100 Mbit/s, 12 MB/s"))


def _latency(desk: Desk) -> Face:
    own, none = _own(desk).latency, _otherwise(desk, "")
    now = none if own is None else _say_latency(own)
    ladder = (*((none,) if none else ()), *_ladder(_say_latency, _LATENCIES, own))
    return Face(tr("Latency"), now, "", ladder=ladder, hint=tr("From the leaving of a byte to its arrival: 1 ms, 200 us"))


def _set_bandwidth(desk: Desk, value: Any) -> None:
    _shape(desk, replace(_own(desk), bandwidth=None if value in (NO_LIMIT, AS_OTHERS) else parse_bandwidth(value)))


def _set_latency(desk: Desk, value: Any) -> None:
    _shape(desk, replace(_own(desk), latency=None if value == AS_OTHERS else parse_time(value)))


def _shape(desk: Desk, wanted: Link) -> None:
    if wanted != _own(desk):
        desk.lab.cluster.link(wanted.bandwidth, wanted.latency, wanted.jitter, between=_link_now(desk))


def _ladder(say: Any, usual: Iterable[float], now: float | None) -> tuple[str, ...]:
    return tuple(say(value) for value in sorted({*usual, *(() if now is None else (now,))}))


STRAGGLER = (
    Control("straggler", _straggler, _set_straggler),
    Control("delay", _delay, _set_delay),
    Control("distribution", _distribution, _set_distribution),
)
"""The controls of who is slow."""
LINKS = (Control("link", _link, _set_link), Control("bandwidth", _bandwidth, _set_bandwidth), Control("latency", _latency, _set_latency))
"""The controls of what goes between the tasks."""
