"""A task's server in a program of one's own (TensorFlow 1's ``tf.train.Server``)."""

from __future__ import annotations

import atexit
import logging
import sys
import threading
from typing import Any

from pslab.errors import UsageError
from pslab.runtime.cluster_spec import ClusterSpec
from pslab.runtime.config import ConfigProto
from pslab.runtime.targets import publish, withdraw
from pslab.runtime.task_server import TaskServer

PATIENCE_S = 120.0
"""Seconds that a server waits for another that is not up: programs start their tasks in any order."""


class Server:
    """Serves one task of a cluster whose addresses are known beforehand.

    Args:
        server_or_cluster_def: the cluster: a `ClusterSpec`, or what makes one.
        job_name: this task's job.
        task_index: this task's index.
        protocol: ``"grpc"`` is accepted, as TensorFlow programs write it; the wire is pslab's own.
        config: the options of sessions whose target it is, where they give none themselves.
        start: whether to start listening now.

    Raises:
        NotFoundError: the cluster has no such task.
        AlreadyExistsError: its port is in use.
    """

    def __init__(
        self,
        server_or_cluster_def: ClusterSpec | dict[str, Any],
        job_name: str | None = None,
        task_index: int | None = None,
        protocol: str | None = None,
        config: ConfigProto | None = None,
        start: bool = True,
    ) -> None:
        self._spec = ClusterSpec(server_or_cluster_def)
        self._job, self._index = _which(self._spec, job_name, task_index)
        self._config = config
        self._server: TaskServer | None = None
        self._closed = False
        self._target = f"grpc://{self._spec.task_address(self._job, self._index)}"
        if start:
            self.start()

    @staticmethod
    def create_local_server(config: ConfigProto | None = None, start: bool = True) -> Server:
        """A server of its own one-task cluster, on a free port."""
        return Server({"local": ["127.0.0.1:0"]}, "local", 0, config=config, start=start)

    def start(self) -> None:
        """Begin to listen."""
        if self._server is not None:
            return
        host, _, port = self._spec.task_address(self._job, self._index).rpartition(":")
        self._server = TaskServer(
            f"{self._job}:{self._index}",
            tasks=self._spec.task_names(),
            resolve=self._resolve,
            host=host,
            port=int(port),
            patience=PATIENCE_S,
            config=self._config,
        )
        if port == "0":
            self._target = self._server.address.to_string()
        publish(self._target, self._server)
        atexit.register(self._server.finish_answers)

    def _resolve(self, task: str) -> str:
        job, _, index = task.partition(":")
        return self._spec.task_address(job, int(index))

    @property
    def target(self) -> str:
        """What to give a `Session` as its target."""
        return self._target

    @property
    def server_def(self) -> ClusterSpec:
        """The cluster."""
        return self._spec

    def join(self) -> None:
        """Serve until the process ends, or `close` is called.

        Raises:
            SystemExit: the program was started by ``pslab run``, and its workers are done.
        """
        if self._job != "ps":
            _waiting.info(
                "%s:%d serves in Server.join(), and does not end by itself; only a ps does, when the workers are done", self._job, self._index
            )
        with _joined:
            _joined.wait_for(lambda: self._closed or _workers_are_done)
        if not self._closed:
            sys.exit()

    def close(self) -> None:
        """Stop serving."""
        if self._server is not None:
            withdraw(self._target)
            atexit.unregister(self._server.finish_answers)
            self._server.close()
        with _joined:
            self._closed = True
            _joined.notify_all()


_waiting = logging.getLogger("pslab.waiting")
_joined = threading.Condition()
_workers_are_done = False


def end_joining() -> None:
    """Let the servers of this process that wait in `Server.join`, or will, end it."""
    global _workers_are_done
    with _joined:
        _workers_are_done = True
        _joined.notify_all()


def _which(spec: ClusterSpec, job: str | None, index: int | None) -> tuple[str, int]:
    if job is None:
        if len(spec.jobs) != 1:
            raise UsageError(f"which job is this server's? The cluster has {', '.join(spec.jobs) or 'none'}", "pass job_name=")
        job = spec.jobs[0]
    if index is None:
        if spec.num_tasks(job) != 1:
            raise UsageError(f"which task of {job!r} is this server's? It has {spec.num_tasks(job)}", "pass task_index=")
        index = spec.task_indices(job)[0]
    return job, index
