"""What workers contribute, on its way to the parameter servers: as it is, or compressed.

The ops that encode are on the worker, those that decode are beside the variable, so what crosses the cut between them is the code.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pslab.errors import UsageError
from pslab.graph.operation import Operation
from pslab.graph.ops.arrays import zeros
from pslab.graph.ops.math import add, subtract
from pslab.graph.ops.numerics import check_numerics
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.train.compression import Compression
from pslab.train.epoch_names import variables_of
from pslab.train.job import Job
from pslab.train.replica import worker_device


@dataclass(frozen=True)
class Exchange:
    """A worker's contributions, and what becomes of them.

    Attributes:
        arrived: one per variable, of its dtype and shape: on the worker where nothing is compressed, else decoded on the variable's task.
        sent: the ops on the worker that make what is sent.
        begin: to run once before the first step: nothing is left over yet.
    """

    arrived: Sequence[Tensor]
    sent: Sequence[Operation]
    begin: Sequence[Operation] = ()

    def precede(self, ops: Iterable[Operation]) -> None:
        """Let ops on the state of a ps wait for what is decoded there, so that decoding does not part them from the update that follows."""
        for op in ops:
            for tensor in self.arrived:
                if tensor.device == op.device:
                    op.add_control_input(tensor.op)


def send(job: Job, worker: int, contributions: Sequence[Tensor], variables: Sequence[Variable]) -> Exchange:
    """Send a worker's contributions to the tasks of their variables, compressed as the job's strategy says.

    With error feedback, a step sends the code of ``contribution + residual``, and the residual becomes what the code lacks. Residuals are local variables of the
    worker that belong to the epoch: what they hold when it ends is given up, some steps' worth of contributions. One that arrives too late is dropped, as without
    compression: it counts as sent.

    Args:
        job: what is trained, and how.
        worker: index of the worker.
        contributions: one per variable, on the worker.
        variables: on their tasks.

    Raises:
        UsageError: a variable has no static shape.
    """
    compression = job.strategy.compression
    if compression is None:
        return Exchange(contributions, [c.op for c in contributions])
    arrived: list[Tensor] = []
    sent: list[Operation] = []
    begin: list[Operation] = []
    for number, (contribution, variable) in enumerate(zip(contributions, variables, strict=True)):
        if not variable.shape.is_fully_defined():
            raise UsageError(f"{variable.op.name} has shape {variable.shape}: what is compressed must have one that is known", "use compression=None")
        graph = variable.graph
        residual = _residual(job, worker, variable) if compression.error_feedback else None
        with graph.device(worker_device(worker)), graph.name_scope(f"compressed_{worker}/{variable.op.name}"):
            whole = contribution if residual is None else add(contribution, residual)
            # what is not finite would stay in the residual for ever
            whole = check_numerics(whole, f"what worker:{worker} contributes to {variable.op.name}")
            whole.set_shape(variable.shape)
            code = compression.encode(whole, worker * len(variables) + number)
            kept = [] if residual is None else [_keep_rest(compression, residual, whole, code)]
        with graph.colocate_with(variable.op), graph.control_dependencies(kept), graph.name_scope(f"decoded_{worker}/{variable.op.name}"):
            arrived.append(compression.decode(code, variable.value()))
        sent.extend(tensor.op for tensor in code)
        if residual is not None:
            begin.append(residual.initializer)
    return Exchange(arrived, sent, begin)


def _residual(job: Job, worker: int, variable: Variable) -> Variable:
    graph = variable.graph
    with graph.device(worker_device(worker)), graph.name_scope(variables_of(job.epoch_id)):
        initial = zeros(variable.shape.as_tuple(), variable.dtype)
        return Variable(initial, trainable=False, collections=[], name=f"worker_{worker}/{variable.op.name}/residual")


def _keep_rest(compression: Compression, residual: Variable, whole: Tensor, code: Sequence[Tensor]) -> Operation:
    return residual.assign(subtract(whole, compression.decode(code, whole))).op
