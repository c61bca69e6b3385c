"""A race: what has happened at the ps, message after message. A state machine that is shown how things stand at the gates; it asks nobody."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from pslab.train.homecoming import FIRST_PS
from pslab.train.order_service import AtGate
from pslab.train.strategy import Strategy
from pslab.train.updates import KAsync, Sync

READ, APPLIED, GATHERED, DROPPED, UPDATED = "read", "applied", "gathered", "dropped", "updated"
"""What can happen at a ps: a worker reads; what it brings is applied, kept for an update of several, or dropped as stale; such an update is made."""
KEPT = 400
"""Moments that are remembered; the oldest go first."""


@dataclass(frozen=True)
class Message:
    """Something that waits at a gate.

    Attributes:
        ps: whose gate.
        worker: who sent it.
        what: ``"commit"``, or ``"read"``.
    """

    ps: str
    worker: int
    what: str

    def __str__(self) -> str:
        return f"{self.what} of worker:{self.worker} at {self.ps}"


class Event(NamedTuple):
    """Something that happened at a ps.

    Attributes:
        moment: the number of the message by which it came, from 1 on; 0 before any.
        what: `READ`, `APPLIED`, `GATHERED`, `DROPPED` or `UPDATED`.
        ps: where.
        worker: whose doing it was; None of an update of several.
        version: updates that the ps had made in this race: when that was read, or, of the others, when this was done.
        staleness: of what a worker brings, updates since it read.
    """

    moment: int
    what: str
    ps: str
    worker: int | None
    version: int
    staleness: int | None = None


@dataclass(frozen=True)
class Moment:
    """How things stood after a message, just before the next.

    Attributes:
        number: messages that had been let in.
        message: the last of them; None before the first.
        global_step: updates that were made of the model.
        waiting: what waited at the gates.
        held: workers that waited for slower ones.
        gathered: per ps, workers whose contributions an update of several waited for others with.
        loss: on some test examples, with the parameters as they were on the ps; None where nobody looked.
        norm: ‖θ‖ of those; None likewise.
    """

    number: int
    message: Message | None
    global_step: int
    waiting: tuple[Message, ...] = ()
    held: tuple[int, ...] = ()
    gathered: Mapping[str, tuple[int, ...]] | None = None
    loss: float | None = None
    norm: float | None = None


@dataclass(frozen=True)
class Race:
    """What is known of a race.

    Attributes:
        strategy: the mode.
        ps: number of parameter servers.
        workers: number of workers.
        required: how many contributions make an update; 1 where each is applied as it comes.
        moments: by number.
        events: in the order in which they were seen; on each ps, that in which they happened.
        live: whether messages wait at the gates; otherwise the training has gone on.
    """

    strategy: Strategy
    ps: int
    workers: int
    required: int
    moments: tuple[Moment, ...]
    events: tuple[Event, ...]
    live: bool = True


class RaceBook:
    """Tells from how things stand at the gates, before and after a message, what has happened.

    Where contributions are applied as they come, the ledgers have it all. Where they are gathered, the accumulators say what was kept and what was
    dropped, and the global step when the workers that wait for an update have read.

    Args:
        strategy: the mode.
        ps: number of parameter servers.
        workers: number of workers.
        first_step: the global step at the beginning.
    """

    def __init__(self, strategy: Strategy, ps: int, workers: int, first_step: int) -> None:
        self.strategy = strategy
        update = strategy.update
        self._required = workers - update.backup if isinstance(update, Sync) else update.k if isinstance(update, KAsync) else 1
        self._ps, self._workers, self._first_step = ps, workers, first_step
        self._events: list[Event] = []
        self._moments = [Moment(0, None, first_step)]
        self._used: set[str] = set()
        self._versions = {f"ps:{i}": 0 for i in range(ps)}
        self._read: dict[tuple[str, int], int] = {}
        self._entries = dict.fromkeys(self._versions, 0)
        self._gates: Mapping[str, AtGate] = {}
        self._handed: dict[int, set[str]] = {}
        self._goes_on_after = dict.fromkeys(range(workers), 0)
        self._kept: dict[str, Counter[int]] = {}
        self._chosen: Counter[int] | None = None

    def let_in(self, message: Message) -> None:
        """A message is about to be let in: what is seen from now on comes of it."""
        self._moments.append(Moment(self._moments[-1].number + 1, message, self._moments[-1].global_step))
        if len(self._moments) > KEPT:
            first = self._moments.pop(0).number + 1
            self._events = [event for event in self._events if event.moment >= first]

    def see(self, gates: Mapping[str, AtGate], orders: Mapping[str, np.ndarray[Any, Any]], global_step: int) -> None:
        """How things stand now.

        Args:
            gates: per ps, its gate.
            orders: per ps, all entries of its ledger; none where contributions are gathered.
            global_step: updates that were made of the model.
        """
        self._used |= {ps for ps, gate in gates.items() if gate.waiting or gate.passed}
        if self.strategy.gathered:
            self._see_gathered(gates, global_step - self._first_step)
        else:
            for ps, order in orders.items():
                self._see_entries(ps, [int(entry) for entry in order[self._entries[ps] :]])
        self._gates = gates
        self._moments[-1] = replace(
            self._moments[-1],
            global_step=global_step,
            waiting=tuple(Message(ps, worker, what) for ps, gate in gates.items() for worker, what in gate.waiting.items()),
            held=gates[FIRST_PS].held,
            gathered={ps: gate.gathered for ps, gate in gates.items() if gate.gathered},
        )

    def measured(self, loss: float, norm: float) -> None:
        """Loss and norm of the parameters as they are now."""
        self._moments[-1] = replace(self._moments[-1], loss=loss, norm=norm)

    @property
    def due(self) -> bool:
        """Whether enough has been gathered everywhere for an update that is not made yet."""
        if not self.strategy.gathered or not self._used:
            return False
        if isinstance(self.strategy.update, KAsync):  # the first ps chooses whose contributions the others wait for
            return self._chosen is not None and all(self._chosen <= self._kept.get(ps, Counter()) for ps in self._used)
        return all(self._kept.get(ps, Counter()).total() >= self._required for ps in self._used)

    @property
    def now(self) -> Moment:
        """The last moment."""
        return self._moments[-1]

    def stands(self, worker: int | None) -> bool:
        """Whether nothing can come of a worker before something comes of others; of None, never."""
        return worker in self.now.held or (worker in self._handed and self._handed[worker] >= self._used)

    def version(self, ps: str) -> int:
        """Updates that a ps has made in this race."""
        return self._versions[ps]

    def brought(self) -> Event | None:
        """What became of what the last message brought; None if it was a read."""
        number = self.now.number
        mine = [e for e in self._events if e.moment == number and e.what in (APPLIED, GATHERED, DROPPED)]
        return mine[0] if mine else None

    def race(self, live: bool = True) -> Race:
        """All of it."""
        return Race(self.strategy, self._ps, self._workers, self._required, tuple(self._moments), tuple(self._events), live)

    def _add(self, what: str, ps: str, worker: int | None, version: int, staleness: int | None = None) -> None:
        self._events.append(Event(self.now.number, what, ps, worker, version, staleness))

    def _reads(self, ps: str, worker: int) -> None:
        self._read[ps, worker] = self._versions[ps]
        self._add(READ, ps, worker, self._versions[ps])

    def _see_entries(self, ps: str, entries: Sequence[int]) -> None:
        self._entries[ps] += len(entries)
        for entry in entries:
            if entry < 0:
                self._reads(ps, ~entry)
            else:
                stale = self._versions[ps] - self._read[ps, entry]
                self._versions[ps] += 1
                self._add(APPLIED, ps, entry, self._versions[ps], stale)

    def _see_gathered(self, gates: Mapping[str, AtGate], version: int) -> None:
        for ps in sorted(self._used):
            for worker in range(self._workers):
                if (ps, worker) not in self._read:  # all have read when the race began
                    self._read[ps, worker] = 0
                    self._events.append(Event(0, READ, ps, worker, 0))
        message = self.now.message
        if message is not None and gates[message.ps].passed > self._passed(message.ps):
            self._see_handed_in(message, dropped=gates[message.ps].dropped > self._gates[message.ps].dropped)
        if version > self._versions[FIRST_PS]:
            self._kept = {ps: kept - self._chosen if self._chosen is not None else Counter() for ps, kept in self._kept.items()}
            self._choose()
            for ps in sorted(self._used):
                self._add(UPDATED, ps, None, version)
            self._versions = dict.fromkeys(self._versions, version)
        for worker, handed in list(self._handed.items()):
            if handed >= self._used and version > self._goes_on_after[worker]:
                del self._handed[worker]
                for ps in sorted(self._used):
                    self._reads(ps, worker)

    def _see_handed_in(self, message: Message, dropped: bool) -> None:
        ps, worker = message.ps, message.worker
        version, read = self._versions[ps], self._read[ps, worker]
        self._add(DROPPED if dropped else GATHERED, ps, worker, version, version - read)
        self._handed.setdefault(worker, set()).add(ps)
        if ps == FIRST_PS:  # where it is decided how long it waits
            self._goes_on_after[worker] = read if isinstance(self.strategy.update, Sync) else version
        if not dropped:
            self._kept.setdefault(ps, Counter())[worker] += 1
            if ps == FIRST_PS and self._chosen is None:
                self._choose()

    def _choose(self) -> None:
        there = self._kept.get(FIRST_PS, Counter())
        enough = isinstance(self.strategy.update, KAsync) and there.total() >= self._required
        self._chosen = Counter(there) if enough else None

    def _passed(self, ps: str) -> int:
        return self._gates[ps].passed if ps in self._gates else 0
