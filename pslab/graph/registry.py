"""The registry of operations: everything there is to know about a type of op, in one place."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pslab.errors import NotFoundError

if TYPE_CHECKING:
    from pslab.graph.dtypes import DType
    from pslab.graph.operation import Operation
    from pslab.graph.shape import TensorShape
    from pslab.graph.tensor import Tensor

    Infer = Callable[[Operation], Sequence[tuple[DType, TensorShape]]]
    Gradient = Callable[..., Sequence[Tensor | None]]


class NotYet:
    """What a blocking op's kernel returns while its rule does not let it finish.

    Attributes:
        seconds: after which it may finish though nobody has changed anything.
    """

    __slots__ = ("seconds",)

    def __init__(self, seconds: float = math.inf) -> None:
        self.seconds = seconds


NOT_YET = NotYet()
"""Of a rule without a clock."""


def not_differentiable(op: Operation, *gradients: Tensor | None) -> Sequence[None]:
    """The gradient of an op that lets none flow: its output is constant almost everywhere, or discrete, or no function of its inputs alone."""
    return [None] * len(op.inputs)


@dataclass(frozen=True)
class OpDef:
    """A type of operation.

    Attributes:
        type: TensorFlow's name of the op type, such as ``"MatMul"``.
        infer: from an op (its inputs and attributes) to the dtype and static shape of each output; raises `ShapeError`.
        kernel: computes the outputs: ``kernel(xp, *inputs, **attrs)`` with ``xp`` the array module (NumPy or CuPy). One output is returned bare,
            several as a tuple. An elementwise kernel also takes ``out=``. A stateful kernel is ``kernel(state, name, xp, *inputs, **attrs)`` with
            the `TaskState` and the op's own name.
        gradient: ``gradient(op, *output_gradients)`` builds the gradients with respect to each input (None where there is none). An output's gradient
            is None where nothing flows into it. `not_differentiable` lets no gradient flow; None makes it an error to ask for one.
        flops: floating-point operations of one execution, from static shapes, with None dimensions counted as 1.
        elementwise: outputs one array of the broadcast shape and the dtype of its first input, into ``out=`` if given.
        aligned: of an elementwise op, the number of first inputs that surely have the output's shape: ``out=`` may be the buffer of one of these, and
            of no other. 0 leaves it to the static shapes.
        view: the output may share memory with an input.
        stateful: reads or writes the task's state; runs under its monitor and is never merged with another op.
        locked: False of a stateful op that runs outside the monitor, on purpose.
        signals: a stateful op after which a waiting op may be able to finish.
        blocking: a stateful op whose kernel may return a `NotYet`.
        busy: of a blocking op, whether its waiting counts as computing: not others keep the task waiting, it is slow itself.
        host_only: runs on the CPU even where the task has a GPU.
        portable: means the same in every process. An op that calls code of the program that built it does not: it is in no graph that is written to a
            file or read from one.
        scratch: bytes that the kernel takes for itself, beside its inputs and outputs, from static shapes.
    """

    type: str
    infer: Infer
    kernel: Callable[..., Any]
    gradient: Gradient | None = None
    flops: Callable[[Operation], int] = lambda op: 0
    elementwise: bool = False
    aligned: int = 0
    view: bool = False
    stateful: bool = False
    locked: bool = True
    signals: bool = False
    blocking: bool = False
    busy: bool = False
    host_only: bool = False
    portable: bool = True
    scratch: Callable[[Operation], int] = lambda op: 0


MODULES = (
    "pslab.graph.ops",
    "pslab.graph.ops.uninitialized",
    "pslab.optim.decay",
    "pslab.data.decode_csv",
    "pslab.data.file_ops",
    "pslab.data.input_producers",
    "pslab.data.parse_example",
    "pslab.data.reader_ops",
    "pslab.data.string_ops",
    "pslab.optim.hogwild",
    "pslab.optim.ops",
    "pslab.queues.ops",
    "pslab.sessions.roster",
    "pslab.summary.ops",
    "pslab.sync.claim_ops",
    "pslab.sync.gate_ops",
    "pslab.sync.ledger_ops",
    "pslab.sync.mailbox_ops",
    "pslab.sync.ops",
    "pslab.sync.pacing_ops",
    "pslab.sync.quorum_ops",
    "pslab.sync.tick",
    "pslab.sync.weighing_ops",
    "pslab.train.arrival_ops",
    "pslab.train.divergence",
    "pslab.train.pipeline",
    "pslab.train.staleness",
    "pslab.train.straggler",
)
"""Where op types are registered. Modules above this one are known by name only, and imported when a type is asked for that is not registered yet:
a task runs what other programs built."""

_DEFS: dict[str, OpDef] = {}


def register(type: str, **fields: Any) -> OpDef:
    """Add an op type to the registry; ``fields`` are those of `OpDef`."""
    if type in _DEFS:
        raise ValueError(f"op type {type!r} is registered twice")
    _DEFS[type] = OpDef(type, **fields)
    return _DEFS[type]


def op_def(type: str) -> OpDef:
    """Look an op type up.

    Raises:
        NotFoundError: there is no such op type.
    """
    if type not in _DEFS:
        _load()
    if type not in _DEFS:
        raise NotFoundError(f"there is no op type {type!r}", "was this graph written by a newer version of pslab, or by another program?")
    return _DEFS[type]


def registered() -> Iterator[OpDef]:
    """All op types, by name."""
    _load()
    return iter(sorted(_DEFS.values(), key=lambda d: d.type))


def _load() -> None:
    for module in MODULES:
        importlib.import_module(module)
