"""The result of an experiment: a table of runs and their learning curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pslab.errors import UsageError
from pslab.lab.measure import COSTS, Measured
from pslab.lab.plan import Plan

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from pslab.lab.display import Shown

FIGURES = (
    *("outcome", "message", "seconds", "steps", "worker_steps", "examples", "bytes"),
    *(f"{cost}_to_target" for cost in COSTS),
    *("worker_steps_per_s", "bytes_pushed_per_step", "bytes_pulled_per_step", "bytes_fed_per_step"),
    *("staleness_mean", "staleness_max", "divergence_mean", "wait_share"),
)
"""What a row of the table has after the settings and the seed; after these come the figures of the test set."""
CURVE = ("seconds", "steps", "worker_steps", "examples", "bytes")
"""What a row of the learning curves has, likewise."""

Run = tuple[int, int]
"""The number of a point, and a seed."""


class Sweep:
    """The runs of an experiment: those that were made, and which are still to be.

    Args:
        plan: what is to be run.
        runs: what was measured of those that were made.
        path: the directory that it is kept in; None keeps it in memory.

    Attributes:
        plan: what is to be run.
        path: the directory that it is kept in, or None.
    """

    def __init__(self, plan: Plan, runs: Mapping[Run, Measured] | None = None, path: Path | None = None) -> None:
        self.plan = plan
        self.path = path
        self._runs = dict(runs or {})

    @property
    def table(self) -> pandas.DataFrame:
        """A row per run: the settings that the sweep is about, the seed, and what was measured.

        ====================================  =================================================================================================
        outcome                               ``"reached"`` (the target), ``"not reached"``, ``"done"`` (there was none) or ``"failed"``
        message                               why it failed
        seconds                               of training: the longest that a worker was at its steps, waits for others included; no pause, no test
        steps                                 updates of the parameters
        worker_steps, examples                steps of all workers, and the examples in them
        bytes                                 on the wire to and from all workers, headers included
        seconds_to_target, …                  the same where the target was reached, else NaN
        worker_steps_per_s, …                 as of `pslab.trace.summary.StepSummary`
        divergence_mean                       mean ‖θ_worker − θ_ps‖ / ‖θ_ps‖ of the steps where it was observed
        test_loss, test_accuracy, …           on the whole test set, at the end; of a failed run, when it was measured last
        ====================================  =================================================================================================
        """
        return self._frame(FIGURES, ((run, [self._runs[run].figures]) for run in self.made))

    @property
    def curves(self) -> pandas.DataFrame:
        """A row per measurement of each run: the settings, the seed, what was spent until then, and the figures of the test set."""
        return self._frame(CURVE, ((run, self._runs[run].curve) for run in self.made))

    @property
    def summary(self) -> pandas.DataFrame:
        """A row per point: how many of its runs ended how, and means over its runs, beside standard deviations."""
        from pslab.lab.sweep_summary import summary

        return summary(self)

    @property
    def missing(self) -> list[Run]:
        """The runs that are still to be made, in their order."""
        return [run for run in self.plan.runs() if run not in self._runs]

    @property
    def made(self) -> list[Run]:
        """The runs that were made, in the same order."""
        return [run for run in self.plan.runs() if run in self._runs]

    def measured(self, number: int, seed: int) -> Measured:
        """What was measured of one."""
        return self._runs[number, seed]

    @property
    def planned(self) -> int:
        """How many runs there are to be."""
        return len(self.plan.points) * len(self.plan.seeds)

    def __len__(self) -> int:
        """How many were made."""
        return len(self._runs)

    def name(self, number: int) -> str:
        """A point, for people."""
        return ", ".join(f"{key}={value.label}" for key, value in self.plan.points[number].items())

    def add(self, number: int, seed: int, measured: Measured) -> None:
        """A run was made; where there is a path, it is written.

        Raises:
            OpError: it cannot be written; what was there before is untouched.
        """
        self._runs[number, seed] = measured
        if self.path is not None:
            self.save(self.path)

    def continued(self, plan: Plan) -> Sweep:
        """The same runs in a plan that goes on with this one.

        Raises:
            UsageError: it is another experiment; the message has the difference.
        """
        plan.check_continues(self.plan)
        places = [plan.points.index(point) for point in self.plan.points]
        return Sweep(plan, {(places[number], seed): measured for (number, seed), measured in self._runs.items()}, self.path)

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw what the target costs, or what was reached, over the settings, and the learning curves; write the picture to ``path`` if one is given."""
        from pslab.lab.sweep_figure import sweep_figure

        figure = sweep_figure(self)
        if path is not None:
            figure.savefig(Path(path).expanduser())
        return figure

    def save(self, path: str | Path) -> Path:
        """Write it to a directory: ``settings.json``, ``runs.parquet`` and ``curves.parquet``; returns its path.

        Raises:
            OpError: it cannot be written; what was there before is untouched.
        """
        from pslab.lab.sweep_store import write

        return write(self, Path(path).expanduser())

    @classmethod
    def load(cls, path: str | Path) -> Sweep:
        """Read what `save`, or a sweep with a path, has written.

        Raises:
            NotFoundError: there is nothing.
            DataLossError: a file is truncated, or is not what it says it is.
        """
        from pslab.lab.sweep_store import read

        return read(Path(path).expanduser())

    def __or__(self, other: Sweep) -> Sweep:
        """Both in one, as of `pslab.lab.overlay.overlay`."""
        from pslab.lab.overlay import overlay

        return overlay([self, other]) if isinstance(other, Sweep) else NotImplemented

    def __repr__(self) -> str:
        return repr(self._shown())

    def _repr_html_(self) -> str:
        return self._shown()._repr_html_()

    def _shown(self) -> Shown:
        from pslab.lab.sweep_summary import show_sweep

        return show_sweep(self)

    def _frame(self, columns: tuple[str, ...], rows: Iterable[tuple[Run, Sequence[Mapping[str, Any]]]]) -> pandas.DataFrame:
        import pandas

        found = [
            {**{key: value.label for key, value in self.plan.points[number].items()}, "seed": seed, **row}
            for (number, seed), measured in rows
            for row in measured
        ]
        tested = dict.fromkeys(name for row in found for name in row if name.startswith("test_"))
        return pandas.DataFrame(found, columns=[*self.plan.keys, "seed", *columns, *(tested or ("test_loss",))])


def runs_of(plan: Plan, table: pandas.DataFrame, curves: pandas.DataFrame) -> dict[Run, Measured]:
    """The runs that a table and its curves are of.

    Raises:
        UsageError: they are of another plan.
    """
    keys = [*plan.keys, "seed"]
    numbers = {plan.key(number, seed): (number, seed) for number, seed in plan.runs()}
    curve_of: dict[Any, list[dict[str, Any]]] = {}
    for row in curves.to_dict("records"):
        curve_of.setdefault(tuple(row.pop(key) for key in keys), []).append({str(name): value for name, value in row.items()})
    runs = {}
    for row in table.to_dict("records"):
        key = tuple(row.pop(key) for key in keys)
        if key not in numbers:
            raise UsageError(f"the table has a run {key}, which is not in the plan")
        runs[numbers[key]] = Measured({str(name): value for name, value in row.items()}, curve_of.get(key, []))
    return runs
