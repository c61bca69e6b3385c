"""A task's part of an epoch: the graphs that it builds of the job, and the loops that drive them."""

from __future__ import annotations

from contextlib import ExitStack

from pslab.data.batches import Batches
from pslab.data.partitions import Share
from pslab.errors import FailedPreconditionError
from pslab.graph.graph import Graph
from pslab.runtime.session import Session
from pslab.trace.recorder import Recorder
from pslab.train.camera import Camera, FilmedSession
from pslab.train.chief_turn import ChiefTurn
from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.gating import chief, tower_steps, worker_graph
from pslab.train.in_graph import TowersGraph, TowersStep
from pslab.train.job import CHIEF, CLIENT, Job
from pslab.train.loop import CHIEFS, Loop
from pslab.train.pipeline import pipeline
from pslab.train.pipeline_turn import PipelineTurn
from pslab.train.reading import Supply
from pslab.train.remaining_towers import RemainingTowers
from pslab.train.replica_turn import ReplicaTurn
from pslab.train.resident import Residence
from pslab.train.ring import ring_replica
from pslab.train.ring_turn import RingTurn
from pslab.train.step_recorder import StepRecorder
from pslab.train.strategy import Replication
from pslab.train.towers_turn import TowersTurn


class Part:
    """What a task has to do in an epoch. It is built without a touch to any task's state, so that an older epoch may be on meanwhile, and then begun.

    Args:
        task: name of the task.
        address: of its server.
        camera: what films its steps.
        data: what its loops take batches from.
        recorder: where its steps are written.
        job: the job.

    Attributes:
        loops: the loops; none where the task drives nothing in this mode.
        residence: the way to parameters that live on the workers; None where it has none.

    Raises:
        PslabError: the graph cannot be built or placed, or a task that is needed cannot be reached.
    """

    def __init__(self, task: str, address: str, camera: Camera, data: Share | None, recorder: Recorder, job: Job) -> None:
        self._task = task
        self._address = address
        self._camera = camera
        self._data = data
        self._recorder = recorder
        self._batches: dict[int, Batches] = {}
        self._sessions: list[Session] = []
        self._supplies: list[Supply] = []
        self.residence: Residence | None = None
        try:
            self.loops = self._build(job)
        except BaseException:
            self.close()
            raise

    def begin(self, job: Job) -> None:
        """Begin with the batches that the job names: the first parameters are read, and all is ready for the loops to start.

        Raises:
            OpError: a task that is needed was lost.
        """
        for worker, batches in self._batches.items():
            batches.seek(job.place(worker))
        if self.residence is not None:
            self.residence.load()
        for loop in self.loops:
            loop.begin()

    def close(self) -> None:
        """Let go of everything, when the loops have ended."""
        with ExitStack() as ending:  # each is ended, whatever becomes of another; what supplies the sessions first
            for session in self._sessions:
                ending.callback(session.close)
            for supply in self._supplies:
                ending.callback(supply.end)
            self._sessions, self._supplies, self.residence = [], [], None

    def _build(self, job: Job) -> list[Loop]:
        if isinstance(job.strategy.update, Pipeline):
            return [self._pipeline(job)] if self._task == CLIENT else []
        if job.strategy.replication is Replication.IN_GRAPH:
            return self._towers(job) if self._task == CLIENT else []
        kind, _, index = self._task.partition(":")
        if kind != "worker":
            return []
        if isinstance(job.strategy.update, RingAllReduce):
            return [self._ring(job, int(index))]
        return [*self._chief(job), self._replica(job, int(index))]

    def _chief(self, job: Job) -> list[Loop]:
        if not job.strategy.gathered or self._task != CHIEF:
            return []
        update = chief(job)
        return [Loop(CHIEFS, ChiefTurn(update, self._session(update.graph)))]

    def _replica(self, job: Job, worker: int) -> Loop:
        batches = self._batches_of(job, worker)
        graph = worker_graph(job, worker)
        session = self._session(graph.replica.graph)
        records = StepRecorder(self._recorder, worker, job.epoch)
        turn = ReplicaTurn(graph, session, batches, self._supply(session), records, self._task, job)
        return Loop(self._task, turn, makes_updates=not job.strategy.gathered, data={worker: batches})

    def _towers(self, job: Job) -> list[Loop]:
        data = {worker: self._batches_of(job, worker) for worker in range(job.workers)}
        records = {worker: StepRecorder(self._recorder, worker, job.epoch) for worker in data}

        def turn_of(graph: TowersGraph, step: TowersStep) -> TowersTurn:
            session, workers = self._session(graph.replica.graph), step.workers
            return TowersTurn(graph, step, session, [data[w] for w in workers], self._supply(session), [records[w] for w in workers])

        if job.strategy.gathered:
            return [Loop("client", RemainingTowers(job, data, turn_of), data=data)]
        return [Loop(f"tower:{w}", turn_of(*step), data={w: data[w]}) for w, step in zip(data, tower_steps(job), strict=True)]

    def _ring(self, job: Job, worker: int) -> Loop:
        graph = ring_replica(job, worker)
        session = self._session(graph.replica.graph)
        self.residence = Residence(graph.resident, session)
        records = StepRecorder(self._recorder, worker, job.epoch)
        batches = self._batches_of(job, worker)
        turn = RingTurn(graph, session, job, batches, self._supply(session), records)
        return Loop(self._task, turn, makes_updates=graph.claim is not None, data={worker: batches})

    def _pipeline(self, job: Job) -> Loop:
        graph = pipeline(job)
        session = self._session(graph.replica.graph)
        self.residence = Residence(graph.resident, session)
        data = {worker: self._batches_of(job, worker) for worker in range(job.workers)}
        records = {worker: StepRecorder(self._recorder, worker, job.epoch) for worker in graph.stages}
        return Loop("client", PipelineTurn(graph, session, list(data.values()), records), data=data)

    def _session(self, graph: Graph) -> Session:
        session = FilmedSession(self._camera, self._address, graph)
        self._sessions.append(session)
        return session

    def _supply(self, session: Session) -> Supply:
        supply = Supply(session)
        self._supplies.append(supply)
        return supply

    def _batches_of(self, job: Job, worker: int) -> Batches:
        batches = self._batches[worker] = batches_of(self._data, job, worker)
        return batches


def batches_of(data: Share | None, job: Job, worker: int) -> Batches:
    """The batches of a worker, from where the job begins.

    Raises:
        FailedPreconditionError: the task has no data.
    """
    if data is None:
        raise FailedPreconditionError(f"there are no data for worker:{worker} to train on")
    batches = data.batches(job.division, worker, job.workers)
    batches.seek(job.place(worker))
    return batches
