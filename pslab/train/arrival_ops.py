"""Ops on a contribution that has come to its variable's task: elastic averaging, delay compensation, weights.

They read the task's state, or must not be parted from an op that does: all are stateful, so that they run in one critical section with the update.
"""

from __future__ import annotations

from typing import Any

from pslab.graph.build import apply_one
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.sync.ledger_ops import ledger_of


def elastic_difference(replica: Tensor, variable: Variable, alpha: float) -> Tensor:
    """α·(x̃ − x) of a replica's parameter x and the ``variable`` x̃ as it is now: what moves the one, and less of which moves the other."""
    return apply_one("ElasticDifference", [replica], variable=variable.op.name, alpha=alpha)


def weigh(contribution: Tensor, staleness: Tensor, share: int) -> Tensor:
    """``contribution`` divided by ``share``, and by ``staleness`` where that is more than 1."""
    return apply_one("Weigh", [contribution, staleness], share=share)


def compensate_delay(gradient: Tensor, variable: Variable, ledger: str, worker: int, strength: float) -> Tensor:
    """λ·g⊙g⊙(w − v) + g, for the ``variable`` w as it is now, and a gradient g of ``worker`` at v, as the ledger has kept it."""
    return apply_one("CompensateDelay", [gradient], variable=variable.op.name, ledger=ledger, worker=worker, strength=strength)


def _infer(op: Operation) -> infer.Inferred:
    return [(op.inputs[0].dtype, op.inputs[0].shape)]


def _elastic(state: Any, name: str, xp: Any, replica: Any, *, variable: str, alpha: float) -> Any:
    difference = state.variables.read(variable) - replica
    return difference.dtype.type(alpha) * difference


def _weigh(state: Any, name: str, xp: Any, contribution: Any, staleness: Any, *, share: int) -> Any:
    return contribution / contribution.dtype.type(share * max(1, int(staleness)))


def _compensate(state: Any, name: str, xp: Any, gradient: Any, *, variable: str, ledger: str, worker: int, strength: float) -> Any:
    drift = state.variables.read(variable) - ledger_of(state, ledger).seen(worker)[variable]
    drift = drift * gradient * gradient
    return gradient + drift.dtype.type(strength) * drift


register("ElasticDifference", infer=_infer, kernel=_elastic, stateful=True, flops=lambda op: 2 * infer.elements(op))
register("Weigh", infer=_infer, kernel=_weigh, stateful=True, flops=infer.elements)
register("CompensateDelay", infer=_infer, kernel=_compensate, stateful=True, flops=lambda op: 5 * infer.elements(op))
