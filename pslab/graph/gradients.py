"""Reverse-mode differentiation: from a graph to a larger graph that also computes gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.errors import GraphError
from pslab.graph.build import apply, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.tensor import Tensor


def gradients(ys: Any, xs: Any, grad_ys: Any = None, name: str = "gradients", **ignored: Any) -> list[Tensor | None]:
    """Gradients of the sum of ``ys`` with respect to each of ``xs`` (TensorFlow's ``tf.gradients``).

    Args:
        ys: a tensor or a list of them.
        xs: tensors or variables. A variable's gradient is the sum over all its reads.
        grad_ys: gradients that flow into ``ys``; ones by default.
        name: name scope of the ops built.
        ignored: TensorFlow's ``colocate_gradients_with_ops``, ``aggregation_method`` and ``gate_gradients``: a gradient op is placed by the device
            blocks in force, and sums are made in the order of use.

    Returns:
        One tensor per member of ``xs``, of its shape and dtype; None where ``ys`` does not depend on it.

    Raises:
        GraphError: an op on the way has no gradient.
    """
    targets = [convert_to_tensor(y) for y in _as_list(ys)]
    sources = [_reads(x) for x in _as_list(xs)]
    graph = targets[0].graph
    with graph.as_default(), graph.name_scope(name):
        seeds = [apply("OnesLike", [y]) for y in targets] if grad_ys is None else [
            convert_to_tensor(g, like=y) for g, y in zip(_as_list(grad_ys), targets, strict=True)
        ]
        flowing = _backpropagate(targets, seeds, {t for reads in sources for t in reads})
        return [_total([g for t in reads for g in flowing.get(t, ())]) for reads in sources]


def _backpropagate(targets: list[Tensor], seeds: list[Tensor], sources: set[Tensor]) -> dict[Tensor, list[Tensor]]:
    on_the_way = _between(targets, sources)
    flowing: dict[Tensor, list[Tensor]] = {}
    for target, seed in zip(targets, seeds, strict=True):
        flowing.setdefault(target, []).append(seed)
    for op in reversed(on_the_way):
        if not any(t in flowing for t in op.outputs):
            continue
        if op.definition.gradient is None:
            continue
        with op.graph.name_scope(f"{op.name.rsplit('/', 1)[-1]}_grad"):
            incoming = [_settle(flowing, t) for t in op.outputs]
            outgoing = op.definition.gradient(op, *incoming)
        for tensor, gradient in zip(op.inputs, outgoing, strict=True):
            if gradient is not None and tensor.dtype.is_floating:
                flowing.setdefault(tensor, []).append(gradient)
    return flowing


def _settle(flowing: dict[Tensor, list[Tensor]], tensor: Tensor) -> Tensor | None:
    """The gradient of one output: the sum of what flowed in, or None if nothing did."""
    total = _total(flowing.get(tensor, []))
    if total is not None:
        flowing[tensor] = [total]
    return total


def _total(parts: Sequence[Tensor]) -> Tensor | None:
    if not parts:
        return None
    return parts[0] if len(parts) == 1 else apply("AddN", parts)


def _between(targets: list[Tensor], sources: set[Tensor]) -> list[Operation]:
    """Ops on a path from a source to a target, in the order they were built, which is a topological one."""
    position = {op: i for i, op in enumerate(targets[0].graph.operations)}
    upstream: set[Operation] = set()
    waiting = [t.op for t in targets]
    while waiting:
        op = waiting.pop()
        if op not in upstream:
            upstream.add(op)
            waiting.extend(t.op for t in op.inputs)
    depends: set[Operation] = set()
    for op in sorted(upstream, key=position.__getitem__):
        if any(t.op in depends or t in sources for t in op.inputs):
            depends.add(op)
            if op.definition.gradient is None and any(t.dtype.is_floating for t in op.outputs):
                _require_stop(op)
    return sorted(depends, key=position.__getitem__)


def _require_stop(op: Operation) -> None:
    if op.type not in ("StopGradient", "ZerosLike", "OnesLike", "Sign", "Floor", "Ceil", "Round"):
        raise GraphError(f"op {op.name!r} ({op.type}) has no gradient", "use pslab.stop_gradient before it if none should flow")


def _reads(x: Any) -> list[Tensor]:
    return list(x._all_reads()) if hasattr(x, "_all_reads") else [convert_to_tensor(x)]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
