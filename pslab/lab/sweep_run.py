"""Running an experiment on the lab's cluster, run after run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from pslab.data.partitions import DataSource
from pslab.errors import PslabError, UsageError
from pslab.lab.lab_cluster import LabCluster
from pslab.lab.measure import Measured, failed, measure
from pslab.lab.memory import MOST, check_training, chunk_that_fits, estimate, held
from pslab.lab.plan import Plan
from pslab.lab.setup import Setup
from pslab.lab.sweep import Sweep
from pslab.lab.sweep_news import Interrupted, News, make_all
from pslab.lab.sweep_store import found, read
from pslab.lab.sweep_summary import how_to_go_on
from pslab.lab.until import Until
from pslab.train.model_session import CHUNK
from pslab.train.plans import evaluation_step
from pslab.train.trainer import Trainer

if TYPE_CHECKING:
    from pslab.cluster import Cluster

RETURN_S = 20.0
"""Seconds in which a task that a run has lost comes back for the next."""


class Bench:
    """What runs are made on.

    Args:
        cluster: the lab's.
        dataset: what to train on.
        setups: how, by the number of a point.
        own: the lab's own training, if there is one; it is set aside while runs are made.
    """

    def __init__(self, cluster: LabCluster, dataset: DataSource, setups: list[Setup], own: Trainer | None) -> None:
        self._cluster = cluster
        self._dataset = dataset
        self._setups = setups
        self._own = own

    def make(self, sweep: Sweep, news: News) -> None:
        """Make the runs that ``sweep`` has not, one after the other. A run that fails is recorded, and the next one begins.

        Afterwards the cluster is as large as it was, and the lab's own training is where it was.

        Raises:
            OpError: the results cannot be written.
        """
        with self._own.lent() if self._own is not None else nullcontext():
            cluster = self._cluster.require()
            ps, workers = cluster.ps, cluster.workers
            try:
                for number, seed in sweep.missing:
                    news.begin(number, seed)
                    sweep.add(number, seed, self._run(self._setups[number], seed, sweep.plan.until, news))
            except Interrupted:
                pass
            finally:
                _scale(cluster, ps, workers)

    def _run(self, setup: Setup, seed: int, until: Until, news: News) -> Measured:
        cluster = self._cluster.require()
        trainer = None
        try:
            _scale(cluster, setup.ps, setup.workers)
            for task in cluster.tasks:  # one that a run has lost is on its way back
                cluster.wait_for(task, RETURN_S)
            model = replace(setup.recipe, seed=seed).model(self._dataset)
            trainer = Trainer(
                cluster,
                self._dataset,
                model,
                setup.strategy,
                setup.batch_size,
                seed,
                setup.reading,
                shares=setup.shares,
                passes=setup.passes,
            )
            self._cluster.slow_down(trainer)
            return measure(trainer, until, setup.division().sizes(setup.workers), self._evaluation(trainer, setup), news.look)
        except Exception as error:  # whatever it is, it is of this run
            return failed(error.message if isinstance(error, PslabError) else f"{type(error).__name__}: {error}")
        finally:
            if trainer is not None:
                trainer.close()

    def _evaluation(self, trainer: Trainer, setup: Setup) -> Callable[[], Mapping[str, float]]:
        """The test, as many examples at a time as fit; what the training itself needs must fit, too."""
        dataset, room, job = self._dataset, self._cluster.room, trainer.job().fed
        most = MOST if dataset.examples is None else dataset.examples // setup.workers
        check_training(estimate(job, setup.batch_size, held(dataset, setup.workers), most, room))
        tested = held(dataset, setup.workers, dataset.x_test.nbytes + dataset.y_test.nbytes)
        chunk = chunk_that_fits(evaluation_step(job), tested, CHUNK, room, "testing")
        return lambda: trainer.evaluate(chunk)


def run_sweep(plan: Plan, bench: Bench, path: str | Path | None, resume: Sweep | None) -> Sweep:
    """Run what is planned and was not run before, and show how far it is.

    Args:
        plan: what is to be run.
        bench: what it is run on.
        path: where it is kept, or None.
        resume: what was run before, or None.

    Raises:
        UsageError: what was run before is another experiment; or something else is kept in ``path``.
        OpError: the results cannot be written.
    """
    sweep = _begun(plan, None if path is None else Path(path).expanduser(), resume)
    if sweep.missing and make_all(lambda news: bench.make(sweep, news), sweep):
        print(f"interrupted; {how_to_go_on(sweep)}")
    return sweep


def _begun(plan: Plan, path: Path | None, resume: Sweep | None) -> Sweep:
    kept = read(path) if path is not None and found(path) else None
    if kept is not None and resume is not None:
        raise UsageError(f"there is a sweep in {path} already, and another to go on with", "path= or resume=, or another path")
    before = kept if resume is None else resume
    sweep = Sweep(plan) if before is None else before.continued(plan)
    sweep.path = path
    if path is not None:
        sweep.save(path)
    return sweep


def _scale(cluster: Cluster, ps: int, workers: int) -> None:
    if (cluster.ps, cluster.workers) != (ps, workers):
        cluster.scale(ps=ps, workers=workers)
