"""How far the workers are in their data, where those come to an end: who gets what next, and who is out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pslab.data.batches import Batches
from pslab.data.division import Division
from pslab.errors import UsageError
from pslab.train.strategy import Strategy
from pslab.train.updates import Immediate


@dataclass(frozen=True)
class DataPlace:
    """How far a worker is in its data.

    Attributes:
        worker: its index.
        batches: how many it has taken, in all modes until now.
        examples: how many those were.
        out: whether there are none to come.
    """

    worker: int
    batches: int
    examples: int
    out: bool

    @classmethod
    def of(cls, worker: int, batches: Batches, in_flight: bool) -> DataPlace:
        """That of the worker whose batches they are; the last may be in flight, so that it is not out yet."""
        taken = batches.step
        return cls(worker, int(min(taken, batches.total)), batches.examples_before(taken), taken >= batches.total and not in_flight)

    def __str__(self) -> str:
        return f"worker:{self.worker} after {self.batches} steps ({self.examples} examples)"


def told(places: Iterable[DataPlace]) -> str:
    """Who is out of data, for people; empty where nobody is."""
    out = [str(place) for place in places if place.out]
    return f"out of data: {', '.join(out)}" if out else ""


class Places:
    """The places of all workers while epochs come and go. What has been in an update, or was dropped on the way to one, is not had again.

    Args:
        division: how the data are divided; where they do not end, there is nothing to keep.
    """

    def __init__(self, division: Division) -> None:
        self._division = division
        self._now: dict[int, DataPlace] = {}
        self._began: tuple[int, ...] = ()
        self._step = 0

    def now(self) -> tuple[DataPlace, ...]:
        """Those of all workers that have begun; none where data do not end."""
        return tuple(self._now[worker] for worker in sorted(self._now))

    def out(self) -> tuple[int, ...]:
        """The workers that are out of data."""
        return tuple(place.worker for place in self.now() if place.out)

    def next(self, workers: int) -> tuple[int, ...]:
        """The batch with which each worker goes on; empty where data do not end."""
        return tuple(self._now[w].batches if w in self._now else 0 for w in range(workers)) if self._division.passes is not None else ()

    def ended(self, strategy: Strategy, workers: int) -> bool:
        """Whether no further update can be made: everybody is out, or anybody where all are needed."""
        out = len(self.out())
        return out > 0 if strategy.resident else out == workers

    def check(self, workers: int) -> None:
        """Whether so many workers can go on with these data.

        Raises:
            UsageError: others have begun, whose batches would be those of nobody.
        """
        if any(place.batches for place in self.now()) and workers != len(self._now):
            raise UsageError(
                f"{len(self._now)} workers are on their way through the data; who of {workers} has had what would be known of nobody",
                "lab.data(passes=…), or lab.reset(), begins the data anew; with passes=None workers may come and go",
            )

    def divide(self, division: Division) -> None:
        """Let the data be divided otherwise from now on.

        Raises:
            UsageError: they end, and workers are on their way through them.
        """
        if division != self._division and any(place.batches for place in self.now()):
            raise UsageError(
                f"workers are on their way through the data, with batches of {self._division.batch_size}; who has had what would be known of nobody",
                "lab.data(passes=…, batch_size=…) begins the data anew; with passes=None batches may change on the way",
            )
        self._division = division

    def begin(self, places: Sequence[int], step: int) -> None:
        """An epoch begins, with these batches and at global step ``step``."""
        self._began, self._step = tuple(places), step

    def go_to(self, places: Sequence[int]) -> None:
        """Let the workers go on with these batches, wherever they are."""
        self._now = {worker: DataPlace(worker, batches, 0, out=False) for worker, batches in enumerate(places)}

    def note(self, places: Iterable[DataPlace]) -> None:
        """These were seen."""
        self._now.update((place.worker, place) for place in places)

    def end(self, strategy: Strategy, step: int) -> None:
        """An epoch ends at global step ``step``: where a worker commits once per update, what was to be in the next one is had again."""
        if isinstance(strategy.update, Immediate):
            return
        sizes = self._division.sizes(len(self._began))
        for worker, began in enumerate(self._began):
            used = began + (step - self._step) * strategy.commit_every
            if worker in self._now and used < self._now[worker].batches:
                self._now[worker] = DataPlace(worker, used, used * sizes[worker], out=False)
