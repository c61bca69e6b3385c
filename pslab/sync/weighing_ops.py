"""The op that gives in-graph replication the mean of what towers bring, each weighing as much as its examples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.graph.build import apply_one
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.tensor import Tensor
from pslab.sync.weighing import weighted_mean


def mean_of(contributions: Sequence[Tensor], weights: Sequence[Tensor]) -> Tensor:
    """The `weighted_mean` of contributions of one shape; the weights are int64 scalars."""
    return apply_one("WeightedMean", [*contributions, *weights])


def _infer(op: Operation) -> infer.Inferred:
    return [(op.inputs[0].dtype, op.inputs[0].shape)]


def _mean(xp: Any, *inputs: Any) -> Any:
    half = len(inputs) // 2
    return weighted_mean([int(weight) for weight in inputs[half:]], inputs[:half])


register("WeightedMean", infer=_infer, kernel=_mean, flops=lambda op: len(op.inputs) * infer.elements(op))
