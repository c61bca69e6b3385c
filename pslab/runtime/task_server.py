"""The server of a task: what lets other tasks run their part of a step here, and clients their sessions."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Collection
from time import monotonic, perf_counter_ns
from typing import Any

from pslab.errors import CancelledError, UnavailableError
from pslab.execution.compiler import Program
from pslab.graph.plan import Cut, Partition
from pslab.runtime.client_session import ClientSession
from pslab.runtime.config import ConfigProto
from pslab.runtime.connections import Connections
from pslab.runtime.driver import Link, drive
from pslab.runtime.failure import pack_error
from pslab.runtime.master import Master
from pslab.runtime.rendezvous import StepKey
from pslab.runtime.step_run import TRACED
from pslab.runtime.tally import is_weighed
from pslab.runtime.task import Task
from pslab.runtime.tracing import Tracer, pack_spans
from pslab.runtime.transport import Channel, Kind, Listener, Message, Port, connect

Arrays = tuple[Any, ...]

TELL_S = 5.0
"""Seconds after which whoever waits for another task says so."""
LAST_ANSWERS_S = 0.5
"""Seconds that answers in preparation have at the end of the process."""
_RETRY_S = 0.05
_log = logging.getLogger("pslab.waiting")


class TaskServer:
    """A `Task` that others can reach.

    Args:
        name: the task's name, such as ``"worker:1"``.
        tasks: names of all tasks of the cluster; a live view where tasks come and go.
        resolve: from a task's name to the address of its server, asked whenever a new channel is needed.
        host: host or address to listen on.
        port: port to listen on; 0 takes a free one.
        unix: whether peers on this machine may come over a Unix-domain socket.
        secret: what every peer must prove to know.
        ssl_contexts: (for listening, for connecting), or None for plain sockets.
        patience: seconds to wait for the server of another task that was not up before. One that was, and does not answer any more, is lost.
        config: the options that hold where a session gives none.

    Attributes:
        task: the task.
        address: where it listens.
        port: its lines to the other tasks.
    """

    def __init__(
        self,
        name: str,
        *,
        tasks: Collection[str],
        resolve: Callable[[str], str],
        host: str = "127.0.0.1",
        port: int = 0,
        unix: bool = True,
        secret: bytes = b"",
        ssl_contexts: tuple[Any, Any] | None = None,
        patience: float = 0.0,
        config: ConfigProto | None = None,
    ) -> None:
        self.task = Task(name)
        self.port = Port(name)
        self._tasks = tasks
        self._resolve = resolve
        self._secret = secret
        self._patience = patience
        self._config = config
        self._met: set[str] = set()
        self._ssl_for_connecting = ssl_contexts[1] if ssl_contexts else None
        self._peers = Connections(self._dial)
        self._asked = 0
        self._all_answered = threading.Condition()
        self._listener = Listener(
            self._serve,
            name=name,
            host=host,
            port=port,
            unix=unix,
            secret=secret,
            ssl_context=ssl_contexts[0] if ssl_contexts else None,
            task_port=self.port,
        )
        self.address = self._listener.address

    def master(self) -> Master:
        """A new master that drives steps from this task."""
        return Master(self.task, self._tasks, self._dial, self._config)

    def finish_answers(self) -> None:
        """Wait a little until peers have their answers: one may have just brought what lets the program here come to its end."""
        with self._all_answered:
            self._all_answered.wait_for(lambda: self._asked == 0, LAST_ANSWERS_S)

    def close(self) -> None:
        """Stop listening, and give up what runs here for others."""
        self._listener.close()
        self._peers.close()

    def _dial(self, task: str, wanted: Callable[[], bool]) -> Channel:
        address = self._resolve(task)
        began = told = monotonic()
        patience = 0.0 if task in self._met else self._patience
        while True:
            try:
                channel = connect(address, secret=self._secret, name=self.task.name, peer=task, ssl_context=self._ssl_for_connecting, port=self.port)
            except UnavailableError as error:
                now = monotonic()
                if now >= began + patience or not wanted():
                    waited = f"; waited {now - began:.0f} s for it" if patience else ""
                    raise UnavailableError(f"{error.message}{waited}", error.hint) from None
                if now >= told + TELL_S:
                    told = now
                    _log.warning("%s waits for %s, which does not answer at %s", self.task.name, task, address)
                time.sleep(_RETRY_S)
            else:
                self._met.add(task)
                return channel

    def deliver(self, task: str, message: Message) -> int:
        """Send a cut to a task that is not the step's master; returns bytes on the wire."""
        with self._peers.borrow(task) as connection:
            return connection.channel.send(message)

    def _serve(self, channel: Channel) -> None:
        client = _Client(self, channel)
        try:
            while True:
                message = channel.recv()
                self._count(1)
                try:
                    client.handle(message)
                finally:
                    self._count(-1)
        except (UnavailableError, CancelledError):
            return  # the peer is gone, or this server is being closed
        finally:
            client.close()

    def _count(self, change: int) -> None:
        with self._all_answered:
            self._asked += change
            if not self._asked:
                self._all_answered.notify_all()


class _Client:
    """What this task does for the peer at the other end of one channel."""

    def __init__(self, server: TaskServer, channel: Channel) -> None:
        self._server = server
        self._task = server.task
        self._channel = channel
        self._programs: dict[int, Program | Exception] = {}
        self._session: ClientSession | None = None
        self._last_step = (-1, 0)  # of which plan, and when it ended

    def handle(self, message: Message) -> None:
        match message.kind:
            case Kind.STEP:
                self._step(message)
            case Kind.DELIVER:
                self._task.rendezvous.put(StepKey(message.plan, message.step), message.cut, message.arrays, message.size)
            case Kind.REGISTER:
                self._register(message)
            case Kind.DEVICES:
                self._channel.send(Message(Kind.DEVICES, body=",".join(self._task.devices).encode()))
            case Kind.EXTEND | Kind.RUN:
                if self._session is None:
                    self._session = ClientSession(self._server.master())
                self._channel.send(self._session.answer(message))
            case Kind.TENSORS:
                pass  # of a step that failed here before its master knew

    def close(self) -> None:
        if self._session is not None:
            self._session.close()

    def _register(self, message: Message) -> None:
        try:
            self._programs[message.plan] = self._task.compile(Partition.unpack(message.body))
        except Exception as error:
            self._programs[message.plan] = error  # told when the step is to run

    def _step(self, message: Message) -> None:
        key = StepKey(message.plan, message.step)
        plan, ended = self._last_step
        idle = perf_counter_ns() - ended if plan == message.plan else 0
        try:
            program = self._programs[message.plan]
            if isinstance(program, Exception):
                raise program
            fed = len(program.partition.feeds)
            link = _ServedStep(self._server, self._channel, program.partition, message, fed)
            tracer = Tracer(program) if message.body == TRACED else None
            values, times = drive(program, message.arrays[:fed], link, self._task.monitor, tracer)
            times.idle = idle
            times.bytes_fed = sum(a.nbytes for a in message.arrays[:fed])
            if is_weighed(key.step):
                self._task.tally.weigh(program.partition.master, program.partition.fetches, values)
            answer = Message(Kind.DONE, key.plan, key.step, fields=times.as_fields(), arrays=values)
            if tracer is not None:
                answer.body = pack_spans(tracer.spans)
        except Exception as error:
            self._task.rendezvous.forget(key)
            answer = Message(Kind.FAILED, key.plan, key.step, body=pack_error(error))
        self._channel.send(answer)
        self._last_step = message.plan, perf_counter_ns()


class _ServedStep(Link):
    """The link of one step that another task drives."""

    def __init__(self, server: TaskServer, channel: Channel, part: Partition, start: Message, fed: int) -> None:
        self._server = server
        self._channel = channel
        self._part = part
        self._key = StepKey(start.plan, start.step)
        self._arrived: dict[int, tuple[Arrays, int]] = {}
        if part.rides is not None:
            self._arrived[part.rides.index] = start.arrays[fed:], start.size - sum(a.nbytes for a in start.arrays[:fed])

    def send(self, cut: Cut, arrays: Arrays) -> int:
        if is_weighed(self._key.step):
            self._server.task.tally.weigh(cut.destination, cut.tensors, arrays)
        message = Message(Kind.TENSORS, self._key.plan, self._key.step, cut.index, arrays=arrays)
        if cut.destination == self._part.master:
            return self._channel.send(message)
        message.kind = Kind.DELIVER
        return self._server.deliver(cut.destination, message)

    def recv(self, cut: Cut) -> tuple[Arrays, int]:
        if cut.source != self._part.master:
            return self._server.task.rendezvous.take(self._key, cut.index, self.alive)
        while cut.index not in self._arrived:
            message = self._channel.recv()
            if (message.kind, message.plan, message.step) == (Kind.TENSORS, *self._key):
                self._arrived[message.cut] = message.arrays, message.size
        return self._arrived.pop(cut.index)

    def alive(self) -> bool:
        return self._channel.alive()
