"""What is drawn of a race: what each worker does from message to message, what it pushes and reads, the versions on each ps."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from pslab.lab.language import tr
from pslab.train.race import APPLIED, DROPPED, GATHERED, READ, UPDATED, Event, Message, Moment, Race
from pslab.train.strategy import Replication
from pslab.train.updates import SSP, Sync

PUSHES = (APPLIED, GATHERED, DROPPED)
COMPUTES, COMMITS, HELD, WAITS, ASKS = "computes", "commits", "held", "waits", "asks"
"""What a worker does: computes at what it has read; is on its way through the gates of several ps; waits for slower workers; for the update that it is
part of; to read."""


@dataclass(frozen=True)
class Span:
    """What a worker does for some time.

    Attributes:
        worker: who.
        what: one of the words above.
        begin: the moment in which it begins.
        end: the moment in which it ends; None if it goes on.
        versions: what it computes at, per ps; empty of what is no computing.
    """

    worker: int
    what: str
    begin: int
    end: int | None
    versions: tuple[int, ...] = ()


def spans(race: Race) -> list[Span]:
    """What the workers do, each in order. What takes no time is left out."""
    used = used_ps(race)
    lanes = [_Lane(worker, used, _standing(race)) for worker in range(race.workers)]
    reads = set(reads_of(race))
    for event in race.events:
        if event.worker is not None and (event.what != READ or event in reads):
            lanes[event.worker].take(event)
    return [span for lane in lanes for span in lane.told()]


def used_ps(race: Race) -> list[str]:
    """The ps at which something happens, in order; those without parameters are left out."""
    seen = {event.ps for event in race.events} | {message.ps for moment in race.moments for message in moment.waiting}
    return sorted(seen or {f"ps:{i}" for i in range(race.ps)}, key=lambda name: int(name.partition(":")[2]))


def scene(race: Race) -> dict[str, Any]:
    """All that is drawn, as values for JSON."""
    return {
        "strategy": str(race.strategy),
        "live": race.live,
        "ps": used_ps(race),
        "workers": race.workers,
        "required": race.required,
        "gathers": race.strategy.gathered,
        "drops": isinstance(race.strategy.update, Sync),
        "moments": _moments(race),
        "versions": [list(told) for told in versions_of(race)],
        "pushes": [[e.moment, e.ps, e.worker, e.what, e.staleness] for e in race.events if e.what in PUSHES],
        "reads": [[e.moment, e.ps, e.worker, e.version] for e in reads_of(race)],
        "spans": [[s.worker, s.what, s.begin, s.end, list(s.versions)] for s in spans(race)],
    }


def reads_of(race: Race) -> list[Event]:
    """The reads by which workers have the parameters: in-graph, what the clock notes is only that they may ask for them."""
    messages = {moment.number: moment.message for moment in race.moments}
    between = race.strategy.replication is Replication.BETWEEN_GRAPH
    return [e for e in race.events if e.what == READ and (between or _asked(e, messages.get(e.moment)))]


def versions_of(race: Race) -> list[tuple[int, str, int]]:
    """Moment, ps and version of each update, and of the beginning."""
    told = []
    for ps in used_ps(race):
        mine = [e for e in race.events if e.ps == ps]
        first = mine[0].version - (mine[0].what in (APPLIED, UPDATED)) if mine else 0
        told.append((race.moments[0].number, ps, first))
        told += [(e.moment, ps, e.version) for e in mine if e.what in (APPLIED, UPDATED)]
    return told


def words(moment: Moment, events: Sequence[Event]) -> str:
    """What happened in a moment, in a sentence."""
    message = moment.message
    if message is None:
        return tr("All have read the parameters, and compute." if events else "Nothing has been let in yet.")
    who = f"worker:{message.worker}"
    pushed = next((e for e in events if e.what in PUSHES), None)
    if pushed is None:
        read = next((e for e in events if e.what == READ), None)
        told = [tr("{} reads at {}", who, message.ps) if read is None else tr("{} reads version {} of {}", who, read.version, message.ps)]
    else:
        at = pushed.version - (pushed.what == APPLIED) - (pushed.staleness or 0)
        told = [tr("What {} computed at version {} of {}, {} stale, is {}", who, at, message.ps, pushed.staleness, _fate(pushed))]
    updated = next((e for e in events if e.what == UPDATED), None)
    readers = sorted({e.worker for e in events if e.what == READ and e.worker is not None and e.worker != message.worker})
    if updated is not None:
        told.append(tr("with that the update to version {} is made", updated.version))
    if readers:
        told.append(tr("{} may read, too", _and(f"worker:{k}" for k in readers)))
    return tr("{}.", tr("; ").join(told))


def _fate(pushed: Event) -> str:
    """What became of what was pushed."""
    if pushed.what == APPLIED:
        return tr("applied as version {}", pushed.version)
    return tr("kept for an update of several" if pushed.what == GATHERED else "dropped")


def _moments(race: Race) -> list[dict[str, Any]]:
    events: dict[int, list[Event]] = {}
    for event in race.events:
        events.setdefault(event.moment, []).append(event)
    read: dict[tuple[str, int], int] = {}
    version: dict[str, int] = {}
    told = []
    for moment in race.moments:
        for event in events.get(moment.number, []):
            version[event.ps] = event.version
            if event.what == READ and event.worker is not None:
                read[event.ps, event.worker] = event.version
        told.append(
            {
                "number": moment.number,
                "words": words(moment, events.get(moment.number, [])),
                "step": moment.global_step,
                "loss": moment.loss,
                "norm": moment.norm,
                "waiting": [_waiting(m, read.get((m.ps, m.worker)), version.get(m.ps, 0)) for m in moment.waiting],
                "held": list(moment.held),
                "gathered": {ps: list(workers) for ps, workers in (moment.gathered or {}).items()},
            }
        )
    return told


def _waiting(message: Message, read: int | None, version: int) -> dict[str, Any]:
    """A message that waits; where it brings something, what that was computed at, and how stale it would be now."""
    known = message.what == "commit" and read is not None
    return {
        "ps": message.ps,
        "worker": message.worker,
        "what": message.what,
        "version": read if known else None,
        "stale": version - read if known and read is not None else None,
    }


def _asked(event: Event, message: Message | None) -> bool:
    return message is not None and message.what == "read" and message.worker == event.worker


def _standing(race: Race) -> str:
    """What a worker does that has brought all it had."""
    if race.strategy.replication is Replication.IN_GRAPH:
        return ASKS
    return WAITS if race.strategy.gathered else HELD if isinstance(race.strategy.update, SSP) else COMMITS


@dataclass
class _Lane:
    worker: int
    used: Sequence[str]
    standing: str
    have: dict[str, int] = field(default_factory=dict)
    brought: set[str] = field(default_factory=set)
    found: list[Span] = field(default_factory=list)
    open: Span | None = None

    def take(self, event: Event) -> None:
        if event.what == READ:
            self.have[event.ps] = event.version
            if len(self.have) == len(self.used):
                self._turn(COMPUTES, event.moment, tuple(self.have[ps] for ps in self.used))
            return
        if self.open is None or self.open.what == COMPUTES:
            self.have = {}
            self.brought = set()
            self._turn(COMMITS, event.moment)
        self.brought.add(event.ps)
        if len(self.brought) == len(self.used):
            self._turn(self.standing, event.moment)

    def told(self) -> list[Span]:
        return [*self.found, *([self.open] if self.open is not None else [])]

    def _turn(self, what: str, moment: int, versions: tuple[int, ...] = ()) -> None:
        if self.open is not None and self.open.begin < moment:
            self.found.append(Span(self.open.worker, self.open.what, self.open.begin, moment, self.open.versions))
        self.open = Span(self.worker, what, moment, None, versions)


def _and(names: Iterable[str]) -> str:
    *first, last = names
    return tr("{} and {}", tr(", ").join(first), last) if first else last
