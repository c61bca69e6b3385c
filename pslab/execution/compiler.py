"""The compiler: from a partition to one straight-line Python generator over arrays.

The source it writes is meant to be read: print `Program.source`. A name per tensor, a call per op, a ``yield`` where the task must receive, send
or wait, and ``with monitor:`` around runs of ops that touch the task's state. Elementwise ops write into a buffer that nobody needs any more.
"""

from __future__ import annotations

import functools
import itertools
import keyword
import linecache
import re
import weakref
from collections.abc import Callable, Iterable
from typing import Any

from pslab.errors import InternalError, InvalidArgumentError, OpError, ResourceExhaustedError
from pslab.execution.arrays import ArrayBackend, backend
from pslab.execution.effects import Recv, Send, Steps, Wait
from pslab.graph.device import DeviceSpec
from pslab.graph.liveness import last_uses, sections, shared_tensors
from pslab.graph.node import Node, op_of
from pslab.graph.plan import Cut, Partition

_INDENT = "    "
_serial = itertools.count()


class Program:
    """A compiled partition, bound to the state of its task.

    Attributes:
        partition: what it was compiled from.
        source: the Python source of the generator function.
        file: the name that Python knows the source by.
    """

    def __init__(self, partition: Partition, source: str, start: Callable[[Iterable[Any]], Steps], lines: dict[int, Node], file: str) -> None:
        self.partition = partition
        self.source = source
        self.start = start
        self._lines = lines
        self.file = file

    def node_at(self, line: int) -> Node | None:
        """The op that a line of the source runs, or None."""
        return self._lines.get(line)

    def explain(self, error: Exception) -> Exception:
        """The error to report for ``error``, which came out of this program: with the op's name, device and origin where it happened in one."""
        node = self._node_of(error)
        if node is None or (isinstance(error, OpError) and error.op is not None):
            return error
        place = {"op": node.name, "device": node.device, "origin": node.origin}
        if isinstance(error, OpError):
            return type(error)(error.message, error.hint, **place)
        if isinstance(error, MemoryError):
            return ResourceExhaustedError(f"out of memory: {error}", "a smaller batch, or fewer tasks on this machine", **place)
        if isinstance(error, ValueError | IndexError | TypeError | FloatingPointError | OverflowError):
            return InvalidArgumentError(f"{node.type}: {error}", **place)
        return InternalError(f"{node.type}: {type(error).__name__}: {error}", **place)

    def _node_of(self, error: Exception) -> Node | None:
        trace = error.__traceback__
        while trace is not None:
            if trace.tb_frame.f_code.co_filename == self.file:
                return self._lines.get(trace.tb_lineno)
            trace = trace.tb_next
        return None


def compile_partition(partition: Partition, state: Any) -> Program:
    """Compile ``partition`` for the task whose state is ``state``.

    Args:
        partition: a task's part of a plan.
        state: what stateful kernels get: ``variables``, ``resource(key, factory)`` and the ``monitor`` they run under.
    """
    return _Compiler(partition, state).compile()


class _Compiler:
    def __init__(self, partition: Partition, state: Any) -> None:
        self.partition = partition
        self.state = state
        self.globals: dict[str, Any] = {"Recv": Recv, "Send": Send, "Wait": Wait, "monitor": state.monitor}
        self.lines: list[str] = []
        self._depth = 1
        self.nodes: dict[int, Node] = {}
        self.names: dict[tuple[str, str], str] = {}  # (tensor, device) → Python name
        self.homes: dict[str, str] = {}  # tensor → device it was made on
        self.taken: set[str] = {"feeds", *self.globals, *keyword.kwlist}
        self.owned: set[str] = set()  # names whose buffer is this program's alone
        self.last_use = last_uses(partition)
        self.shared = shared_tensors(partition)

    def compile(self) -> Program:
        self.lines.append("def program(feeds):")
        if self.partition.feeds:
            self._line(f"{self._tuple(self._define(f, 'CPU:0') for f in self.partition.feeds)} = feeds")
        position = 0
        for stage in self.partition.stages:
            for cut in stage.receives:
                self._receive(cut)
                position += 1
            position = self._run(stage.nodes, position)
            for cut in stage.sends:
                self._line(f"yield Send({self._constant(f'cut{cut.index}', cut)}, {self._host_tuple(cut.tensors)})  # to {cut.destination}")
                position += 1
                self._forget(cut.tensors, position)
            for node in stage.waits:
                self._wait(node)
                position += 1
        self._line("yield from ()")
        self._line(f"return {self._host_tuple(self.partition.fetches)}")
        source = "\n".join(self.lines) + "\n"
        file = f"<pslab program {next(_serial)} of {self.partition.task}>"
        linecache.cache[file] = (len(source), None, source.splitlines(True), file)
        exec(compile(source, file, "exec"), self.globals)
        program = Program(self.partition, source, self.globals["program"], self.nodes, file)
        weakref.finalize(program, linecache.cache.pop, file, None)
        return program

    # Statements

    def _receive(self, cut: Cut) -> None:
        names = [self._define(t, "CPU:0") for t in cut.tensors]
        target = f"{self._tuple(names)} = " if names else ""
        self._line(f"{target}yield Recv({self._constant(f'cut{cut.index}', cut)})  # from {cut.source}")

    def _run(self, nodes: Iterable[Node], position: int) -> int:
        for stateful, group in sections(nodes):
            if stateful:
                self._bring_inputs(group)
                self._line("with monitor:")
                self._depth += 1
            for node in group:
                self._call(node, position)
                position += 1
                if not stateful:
                    self._forget(node.inputs, position)
            if stateful:
                if any(n.definition.signals for n in group):
                    self._line("monitor.notify_all()")
                self._depth -= 1
                for node in group:
                    self._forget(node.inputs, position)
        return position

    def _call(self, node: Node, position: int) -> None:
        definition, device = node.definition, _device_of(node)
        arguments = self._inputs(node)
        if node.type == "NoOp":
            return
        if node.type == "Const":
            value = self._kernel(node)()
            self.names[node.output(0), device] = self._constant(_identifier(node.name), value)
            self.homes[node.output(0)] = device
            return
        reusable = self._reusable(node, arguments, position)
        call = f"{self._kernel_name(node)}({', '.join([*arguments, *([f'out={reusable}'] if reusable else [])])})"
        results = [self._define(node.output(i), device) for i in range(len(node.outputs))]
        target = f"{self._tuple(results) if len(results) > 1 else results[0]} = " if results else ""
        self._line(f"{target}{call}", node)
        if not (definition.view or definition.stateful):
            self.owned.update(name for i, name in enumerate(results) if node.output(i) not in self.shared)
        if reusable:
            self.owned.discard(reusable)

    def _wait(self, node: Node) -> None:
        arguments = self._inputs(node)
        poll = self._kernel_name(node)
        if arguments:
            poll = f"lambda: {poll}({', '.join(arguments)})"
        results = [self._define(node.output(i), _device_of(node)) for i in range(len(node.outputs))]
        target = f"{self._tuple(results) if len(results) > 1 else results[0]} = " if results else ""
        self._line(f"{target}yield Wait({poll}, {node.name!r}{', busy=True' if node.definition.busy else ''})", node)

    def _forget(self, tensors: Iterable[str], position: int) -> None:
        """Drop names that are not used at or after ``position``, so that their memory is free for what comes next."""
        dead = [
            name
            for t in dict.fromkeys(tensors)
            if self.last_use.get(t, -1) < position
            for device in ("CPU:0", self.homes.get(t, "CPU:0"))
            if (name := self.names.get((t, device))) is not None and name not in self.globals
        ]
        for name in dict.fromkeys(dead):
            self.names = {key: n for key, n in self.names.items() if n != name}
        if dead:
            self._line(f"del {', '.join(dict.fromkeys(dead))}")

    # Buffers

    def _reusable(self, node: Node, arguments: list[str], position: int) -> str | None:
        """The name of an input's buffer that the output may be written into, if one provably fits and nobody needs it later."""
        for index in node.spare:
            if arguments[index] in self.owned and self.last_use[node.inputs[index]] == position:
                return arguments[index]
        return None

    # Names

    def _kernel(self, node: Node) -> Callable[..., Any]:
        definition, device = node.definition, self._backend(node)
        bound = (self.state, node.name, device.xp) if definition.stateful else (device.xp,)
        kernel = functools.partial(definition.kernel, *bound, **node.attrs)
        return kernel if device.device in ("CPU:0", "GPU:0") else _on(device, kernel)

    def _kernel_name(self, node: Node) -> str:
        return self._constant(node.type.lower(), self._kernel(node))

    def _backend(self, node: Node) -> ArrayBackend:
        return backend(_device_of(node))

    def _inputs(self, node: Node) -> list[str]:
        return [self._at(t, _device_of(node)) for t in node.inputs]

    def _bring_inputs(self, group: Iterable[Node]) -> None:
        """Copy what a critical section needs to its devices beforehand."""
        for node in group:
            for tensor in node.inputs:
                if tensor in self.homes:
                    self._at(tensor, _device_of(node))

    def _at(self, tensor: str, device: str) -> str:
        """The name of ``tensor`` on ``device``, copied there first if need be."""
        if (tensor, device) not in self.names:
            home = self.homes[tensor]
            name = self.names[tensor, home]
            if home != "CPU:0":
                to_host = self._constant(f"from_{_identifier(home)}", backend(home).to_host)
                host = self._define(tensor, "CPU:0")
                self._line(f"{host} = {to_host}({name})")
                name = host
            if device != "CPU:0":
                to_device = self._constant(f"to_{_identifier(device)}", backend(device).from_host)
                copy = self._define(tensor, device)
                self._line(f"{copy} = {to_device}({name})")
                self.homes[tensor] = home
        return self.names[tensor, device]

    def _define(self, tensor: str, device: str) -> str:
        op, index = op_of(tensor), tensor.rpartition(":")[2]
        name = self._unique(_identifier(op) + (f"_{index}" if index != "0" else "") + ("" if device == "CPU:0" else f"_{_identifier(device)}"))
        self.names[tensor, device] = name
        self.homes.setdefault(tensor, device)
        return name

    def _constant(self, name: str, value: Any) -> str:
        name = self._unique(name)
        self.globals[name] = value
        return name

    def _unique(self, name: str) -> str:
        unique = name
        for n in itertools.count(2):
            if unique not in self.taken:
                break
            unique = f"{name}_{n}"
        self.taken.add(unique)
        return unique

    def _host_tuple(self, tensors: Iterable[str]) -> str:
        return self._tuple(self._at(t, "CPU:0") for t in tensors)

    @staticmethod
    def _tuple(names: Iterable[str]) -> str:
        listed = list(names)
        return f"({', '.join(listed)}{',' if len(listed) == 1 else ''})"

    def _line(self, text: str, node: Node | None = None) -> None:
        self.lines.append(_INDENT * self._depth + text)
        if node is not None:
            self.nodes[len(self.lines)] = node


def _on(device: ArrayBackend, kernel: Callable[..., Any]) -> Callable[..., Any]:
    """``kernel``, run with ``device`` as the current one."""

    def on_device(*inputs: Any, **keywords: Any) -> Any:
        with device.active():
            return kernel(*inputs, **keywords)

    return on_device


def _device_of(node: Node) -> str:
    spec = DeviceSpec.from_string(node.device)
    return f"{spec.device_type}:{spec.device_index}"


def _identifier(name: str) -> str:
    cleaned = re.sub(r"\W", "_", name)
    return f"_{cleaned}" if cleaned[0].isdigit() else cleaned
