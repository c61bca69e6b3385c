"""What a task of a training cluster can be asked to do. One object per task; every method is called from outside, by name."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pslab.data.partitions import Share
from pslab.errors import FailedPreconditionError, UsageError
from pslab.execution.arrays import gpu_memory
from pslab.graph.ops.random import GENERATORS
from pslab.runtime.targets import publish, withdraw
from pslab.runtime.task_server import TaskServer
from pslab.runtime.transport import Network, Sent
from pslab.sync.claim_ops import claims_of
from pslab.sync.ops import ACCUMULATORS
from pslab.trace.recorder import Fetched, Recorder
from pslab.trace.records import step_dtype
from pslab.train.camera import Camera, Shot
from pslab.train.delays import Delay
from pslab.train.distances import ReplicaParameters
from pslab.train.epoch_end import forget_epoch
from pslab.train.job import Job
from pslab.train.loop import Loop, LoopStatus
from pslab.train.model_session import ModelSession
from pslab.train.order_service import OrderService
from pslab.train.part import Part, batches_of
from pslab.train.reading import Reading, write_share
from pslab.train.resident import Residence
from pslab.train.straggler import STRAGGLER, changing
from pslab.train.traffic import TaskTraffic

GLOBAL_STEP = "global_step"
"""Name of the variable that counts the updates."""
RECORDS = 200_000
"""Step records that a task keeps: some 25 MB, and at full speed more than a minute."""


class Progress(NamedTuple):
    """How far a training is.

    Attributes:
        global_step: updates that were made.
        granted: updates that were made or are being made.
        late: contributions of this epoch that came too late to be in an update.
    """

    global_step: int
    granted: int
    late: int = 0


class Report(NamedTuple):
    """How a task's part of an epoch fares.

    Attributes:
        loops: its loops.
        records: its new step records.
    """

    loops: list[LoopStatus]
    records: Fetched


class Left(NamedTuple):
    """What an epoch has left on a task.

    Attributes:
        order: the entries of its ledger, as `Ledger.order` gives them; none if there is none here.
        dropped: contributions that were in no update: those that came too late, and those that its accumulators still held.
    """

    order: np.ndarray[Any, Any]
    dropped: int


class TaskService(OrderService):
    """A task: its server on the data plane, and its training loops.

    Args:
        name: the task's name.
        host: address to listen on.
        secret: what peers must prove to know.
        resolve: from a task's name to its server's address.
        ssl_contexts: (for listening, for connecting), or None.

    Attributes:
        address: where its server listens.
        unix: whether tasks on one machine talk over Unix-domain sockets; a subclass may forbid it.
    """

    unix = True

    def __init__(self, name: str, *, host: str, secret: bytes, resolve: Callable[[str], str], ssl_contexts: Any = None) -> None:
        self._name = name
        self._tasks: list[str] = [name]
        self._server = TaskServer(name, tasks=self._tasks, resolve=resolve, host=host, unix=self.unix, secret=secret, ssl_contexts=ssl_contexts)
        self.address = self._server.address.to_string()
        publish(self.address, self._server)
        self._lock = threading.Lock()
        self._data: Share | None = None
        self._part: Part | None = None
        self._built: Part | None = None
        self._recorder = Recorder(step_dtype(), RECORDS)
        self._model: ModelSession | None = None
        self._camera = Camera()
        self._share: Path | None = None
        self._sent_before: dict[str, Sent] = {}

    def close(self) -> None:
        """End the loops and stop serving."""
        self.discard()
        self.stop({})
        self._drop_share()
        if self._model is not None:
            self._model.close()
        withdraw(self.address)
        self._server.close()

    def gpu_memory(self) -> int | None:
        """Bytes of memory of the GPU that it computes on; None without one."""
        return gpu_memory()

    def shape(self, network: Network) -> None:
        """Give the links of this task another shape, from now on."""
        self._server.port.shape(network)

    def traffic(self) -> TaskTraffic:
        """What this task has sent since `go`, or its start."""
        sent = {peer: sent - self._sent_before.get(peer, Sent()) for peer, sent in self._server.port.sent().items()}
        return TaskTraffic({peer: now for peer, now in sent.items() if now.messages}, self._server.task.tally.weights())

    def go(self) -> None:
        """Let the loops that were begun go, and count what is sent from now on."""
        self._sent_before = self._server.port.sent()
        self._server.task.tally.begin_anew()
        with self._lock:
            for loop in self._loops:
                loop.start()

    # Training

    def load(self, data: Share, metrics: tuple[str, ...]) -> None:
        """Keep the data that this task's loops take batches from, and make room for the records of a model with these metrics."""
        self._data = data
        if self._recorder.dtype != step_dtype(metrics):
            self._recorder = Recorder(step_dtype(metrics), RECORDS)

    def begin_anew(self) -> None:
        """Forget the step records, and let random sequences begin anew."""
        self._recorder = Recorder(self._recorder.dtype, RECORDS)
        for resources in (GENERATORS, STRAGGLER):
            self._server.task.drop_resources(resources)

    def prepare(self, job: Job) -> None:
        """Write the file that this worker's examples are to be read from, where the job reads from files."""
        index = int(self._name.partition(":")[2])
        if job.reading is Reading.FILES:
            self._share = write_share(job, index, batches_of(self._data, job, index))

    def build(self, job: Job) -> None:
        """Build this task's part of the job, which may begin at another step, and with other batches. Nothing else is touched: an older epoch may be on.

        Raises:
            PslabError: the graph cannot be built or placed, or a task that is needed cannot be reached.
        """
        self._tasks[:] = job.task_names
        self.discard()
        self._built = self._part_of(job)

    def discard(self) -> None:
        """Let go of a part that was built, and will not begin."""
        built, self._built = self._built, None
        if built is not None:
            built.close()

    def start(self, job: Job) -> None:
        """Begin this task's part of the job, whose loops wait for `go`. A task that was started anew since it was to build it does so now.

        Raises:
            PslabError: as of `build`.
        """
        with self._lock:
            self._tasks[:] = job.task_names
            part, self._built = self._built or self._part_of(job), None
            try:
                part.begin(job)
            except BaseException:
                part.close()
                raise
            self._part = part

    def _part_of(self, job: Job) -> Part:
        return Part(self._name, self.address, self._camera, self._data, self._recorder, job)

    def slow(self, delay: Delay | None) -> None:
        """Be so much slower in each step of training from now on, or no slower if None; a sleep in progress ends if that is another delay."""
        with changing(self._server.task) as straggler:
            straggler.slow(delay, seed=int(self._name.partition(":")[2]))
            straggler.doze()

    def wake(self) -> None:
        """End the sleep of a step in flight, and let none begin before `slow` is called again."""
        with changing(self._server.task) as straggler:
            straggler.wake()

    def stop_updates(self, epoch_id: str, patience: float) -> None:
        """End the loops that make updates, each after its turn in flight, or after ``patience`` seconds; who waits here for others goes on."""
        self.let_go(epoch_id)
        with self._lock:
            for loop in self._loops:
                if loop.makes_updates:
                    loop.stop(patience)

    def stop(self, cursors: Mapping[str, int]) -> Report:
        """End all loops, with all that makes updates; how they have fared."""
        task = self._server.task
        with task.monitor:
            claims_of(task).end()
            task.monitor.notify_all()
        with self._lock:
            for loop in self._loops:
                loop.stop(patience=0)
            ended, part, self._part = self.report(cursors), self._part, None
            if part is not None:
                part.close()
            return ended

    @property
    def _loops(self) -> list[Loop]:
        return [] if self._part is None else self._part.loops

    @property
    def _residence(self) -> Residence | None:
        return None if self._part is None else self._part.residence

    def resident_step(self) -> int | None:
        """The updates that the parameters which live on the workers have had, as far as this task knows; None if it has none, or they are lost."""
        residence = self._residence
        return None if residence is None else residence.step()

    def publish(self) -> None:
        """Bring the parameters that live on the workers to the ps, and the global step with them. Call it between two steps.

        Raises:
            FailedPreconditionError: this task has none.
        """
        residence = self._residence
        if residence is None:
            raise FailedPreconditionError(f"{self._name} has no parameters to publish")
        residence.publish()

    def film(self) -> None:
        """Trace the steps that this task's loops begin from now on."""
        self._camera.start()

    def shots(self) -> list[Shot]:
        """The steps that were traced until now."""
        return self._camera.shots()

    def cut(self) -> list[Shot]:
        """Trace no further steps; those that were."""
        return self._camera.stop()

    def loops(self) -> list[LoopStatus]:
        """How the loops of this task fare."""
        return [loop.status() for loop in self._loops]

    def replicas(self) -> list[ReplicaParameters]:
        """The parameters with which the replicas that are driven here came to their last commits."""
        return [replica for loop in self._loops for replica in loop.replicas]

    def report(self, cursors: Mapping[str, int]) -> Report:
        """How the loops of this task fare, and its step records since its cursor among ``cursors``, or all where that was before it was started anew."""
        try:
            records = self._recorder.since(cursors.get(self._name, 0))
        except UsageError:
            records = self._recorder.since(0)
        return Report(self.loops(), records)

    # The state that training keeps on a ps

    def begin(self, epoch_id: str, granted: int) -> dict[str, np.ndarray[Any, Any]]:
        """A new epoch begins, at global step ``granted``: loops of earlier ones are refused from now on, and its own wait for a `limit`.

        Returns:
            Where each random sequence of this task is, as `generators`.
        """
        task = self._server.task
        with task.monitor:
            claims_of(task).begin(epoch_id, granted)
            task.monitor.notify_all()
        return self.generators()

    def limit(self, updates: int) -> int:
        """Let updates be claimed up to global step ``updates``; returns how many are claimed."""
        task = self._server.task
        with task.monitor:
            claims = claims_of(task)
            claims.limit = updates
            task.monitor.notify_all()
            return claims.granted

    def pause(self) -> None:
        """Let no further update be claimed."""
        self.limit(0)

    def progress(self) -> Progress:
        """How far the training is."""
        task = self._server.task
        with task.monitor:
            late = max((a.stats().dropped for a in task.resources(ACCUMULATORS)), default=0)
            return Progress(int(task.variables.read(GLOBAL_STEP)), claims_of(task).granted, late)

    def go_back(self, step: int) -> None:
        """Let the global step be that of the parameters that lie on the ps: those that were to take their place are lost."""
        task = self._server.task
        with task.monitor:
            task.variables.assign(GLOBAL_STEP, np.asarray(step, np.int64))

    def drop(self, epoch_id: str) -> Left:
        """Forget what an epoch, which has ended on all tasks, has left here: what it kept and read, and the file that it read from."""
        self._drop_share()
        order = self.ledger(epoch_id)
        return Left(order, forget_epoch(self._server.task, epoch_id))

    def _drop_share(self) -> None:
        share, self._share = self._share, None
        if share is not None:
            share.unlink(missing_ok=True)

    # The model, at the chief

    def model(self, job: Job) -> None:
        """Take on the model of a job."""
        self._tasks[:] = job.task_names
        if self._model is not None:
            self._model.close()
        self._model = ModelSession(job.fed, self.address)

    def ask(self, method: str, **arguments: Any) -> Any:
        """Call a method of the `ModelSession`.

        Raises:
            FailedPreconditionError: this task has no model.
        """
        if self._model is None:
            raise FailedPreconditionError(f"{self._name} has no model")
        return getattr(self._model, method)(**arguments)
