"""A training whose workers take their turns in a given order, one at a time: an asynchronous run without chance."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import numpy as np

from pslab.data.datasets import Dataset
from pslab.data.division import Division
from pslab.runtime.session import Session
from pslab.trace.recorder import Recorder
from pslab.trace.records import step_dtype
from pslab.train.between_graph import worker_graph
from pslab.train.job import Job
from pslab.train.model import Features, Model, try_out
from pslab.train.model_session import ModelSession
from pslab.train.reading import Supply
from pslab.train.replica_turn import ReplicaTurn
from pslab.train.step_recorder import StepRecorder
from pslab.train.strategy import Strategy
from tests.train.tasks import LocalTasks


class Interleaved:
    """The turns of the workers of one job."""

    def __init__(self, tasks: LocalTasks, dataset: Dataset, model: Model, strategy: Strategy, batch_size: int) -> None:
        features = Features.of(dataset.x_train, dataset.y_train)
        job = Job(model, features, tasks.ps, tasks.workers, strategy, "test", 0, Division(batch_size), 0)
        self.recorder = Recorder(step_dtype(tuple(try_out(model, features).metrics)), 10_000)
        for service in tasks.services.values():
            service._tasks[:] = job.task_names
        self._model = ModelSession(job, tasks.services["worker:0"].address)
        self._model.initialise()
        tasks.call("ps:0", "begin", epoch_id=job.epoch_id, granted=0)
        tasks.call("ps:0", "limit", updates=10**9)
        self._sessions, self._turns = [], []
        for worker in range(tasks.workers):
            graph = worker_graph(job, worker)
            session = Session(tasks.services[f"worker:{worker}"].address, graph.replica.graph)
            batches = dataset.for_tasks().batches(job.division, worker, tasks.workers)
            records = StepRecorder(self.recorder, worker, 0)
            self._turns.append(ReplicaTurn(graph, session, batches, Supply(session), records, f"worker:{worker}", job))
            self._turns[-1].begin()
            self._sessions.append(session)

    def take(self, order: Iterable[int]) -> None:
        """Let workers take a turn each, in this order."""
        for worker in order:
            self._turns[worker].take()

    def parameters(self) -> dict[str, np.ndarray]:
        return self._model.parameters()

    def records(self) -> np.ndarray:
        return self.recorder.since(0).records

    def close(self) -> None:
        for session in (*self._sessions, self._model):
            session.close()


@contextmanager
def interleaved(
    build: Callable, strategy: Strategy, workers: int, *, ps: int = 1, rate: float = 0.1, optimizer: str = "sgd", dataset: Dataset | None = None
) -> Iterator[Interleaved]:
    """The turns of a training of ``build``, on data that are all ones where none are given."""
    data = dataset or Dataset("ones", np.ones((64, 1)), np.ones((64, 1)), np.ones((4, 1)), np.ones((4, 1)))
    with LocalTasks(ps, workers) as tasks:
        run = Interleaved(tasks, data, Model(build, optimizer=optimizer, learning_rate=rate), strategy, 4)
        try:
            yield run
        finally:
            run.close()
