"""A session whose client is another process: the graph comes in pieces, names come instead of tensors."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

from pslab.errors import PslabError
from pslab.graph.graph import Graph
from pslab.graph.node import Node, import_nodes, nodes_of
from pslab.graph.operation import Operation
from pslab.graph.packing import pack, unpack
from pslab.graph.tensor import Tensor
from pslab.runtime.config import ConfigProto
from pslab.runtime.failure import pack_error, unpack_error
from pslab.runtime.master import Master, PreparedStep, StepResult
from pslab.runtime.run_options import PLAIN, RunOptions
from pslab.runtime.tracing import pack_spans, unpack_spans
from pslab.runtime.transport import Channel, Kind, Message


class ClientSession:
    """The server's side: a copy of the client's graph, and the master that runs its steps."""

    def __init__(self, master: Master) -> None:
        self._master = master
        self._graph = Graph()
        self._prepared: dict[int, PreparedStep] = {}

    def answer(self, message: Message) -> Message:
        """Do what the client asks for."""
        try:
            if message.kind == Kind.EXTEND:
                return self._extend(message)
            options = RunOptions(*unpack(message.body)) if message.body else PLAIN
            result = self._prepared[message.plan].run(message.arrays, options)
            spans = {task: pack_spans(traced) for task, traced in result.spans.items()}
            return Message(Kind.RESULT, body=pack(spans) if spans else b"", arrays=result.values)
        except PslabError as error:
            return Message(Kind.FAILED, body=pack_error(error))

    def _extend(self, message: Message) -> Message:
        """Add the new nodes, and prepare the step that they were sent for."""
        nodes, fetches, feeds, soft, log, timeout = unpack(message.body)
        import_nodes(self._graph, (node for plain in nodes if (node := Node(*plain)).name not in self._graph))
        config = ConfigProto(allow_soft_placement=soft, log_device_placement=log, operation_timeout_in_ms=timeout)
        step = self._master.prepare(
            self._graph,
            [self._graph.as_graph_element(name) for name in fetches],
            [self._graph.get_tensor_by_name(name) for name in feeds],
            config,
        )
        self._prepared[message.plan] = step
        return Message(Kind.RESULT)

    def close(self) -> None:
        """Give up what still runs for the client."""
        self._master.close()


class RemoteMaster:
    """The client's side: what a `Session` holds in place of a `Master` when its target is in another process.

    Args:
        channel: a channel to the target's server, which is this session's alone.
    """

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._turn = threading.Lock()
        self._sent: set[str] = set()
        self._plans = 0

    def prepare(self, graph: Graph, fetches: Sequence[Tensor | Operation], feeds: Sequence[Tensor], config: ConfigProto) -> RemoteStep:
        """Like `Master.prepare`; the graph's new ops are sent along."""
        new = [op for op in graph.operations if op.name not in self._sent]
        self._plans += 1
        request = (
            tuple(node.to_plain() for node in nodes_of(new)),
            tuple(f.name for f in fetches),
            tuple(f.name for f in feeds),
            config.allow_soft_placement,
            config.log_device_placement,
            config.operation_timeout_in_ms,
        )
        self.ask(Message(Kind.EXTEND, plan=self._plans, body=pack(request)))
        self._sent.update(op.name for op in new)
        return RemoteStep(self, self._plans, sum(isinstance(f, Tensor) for f in fetches))

    def ask(self, message: Message) -> Message:
        """Send a request and wait for its answer.

        Raises:
            PslabError: what went wrong there.
            UnavailableError: the server is gone.
        """
        try:
            with self._turn:
                self._channel.send(message)
                answer = self._channel.recv()
        except KeyboardInterrupt:
            self._channel.close()  # an answer that nobody waits for must not be taken for the next one's
            raise
        if answer.kind == Kind.FAILED:
            raise unpack_error(answer.body)
        return answer

    def cancel(self) -> None:
        """Give up what runs."""
        self._channel.close()

    def close(self) -> None:
        """Let go of the server."""
        self._channel.close()


class RemoteStep:
    """A step that was prepared at the server."""

    def __init__(self, master: RemoteMaster, plan: int, fetches: int) -> None:
        self._master = master
        self._plan = plan
        self.borrowed = (False,) * fetches

    def run(self, feeds: Sequence[Any], options: RunOptions = PLAIN) -> StepResult:
        """Run it; see `PreparedStep.run`."""
        order = b"" if options == PLAIN else pack((options.trace_level, options.timeout_in_ms))
        answer = self._master.ask(Message(Kind.RUN, plan=self._plan, body=order, arrays=tuple(feeds)))
        spans = unpack(answer.body) if answer.body else {}
        return StepResult(answer.arrays, {}, {task: unpack_spans(traced) for task, traced in spans.items()})
