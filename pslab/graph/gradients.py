"""Reverse-mode differentiation: from a graph to a larger graph that also computes gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from pslab.errors import GraphError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.operation import Operation
from pslab.graph.ops.arrays import ones_like
from pslab.graph.registry import not_differentiable
from pslab.graph.tensor import Tensor


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str = "gradients",
    colocate_gradients_with_ops: bool = False,
    gate_gradients: Any = False,
    aggregation_method: Any = None,
    stop_gradients: Any = None,
) -> list[Tensor | None]:
    """Gradients of the sum of ``ys`` with respect to each of ``xs`` (TensorFlow's ``tf.gradients``).

    Args:
        ys: a tensor or a list of them.
        xs: tensors or variables. A variable's gradient is the sum over all its reads.
        grad_ys: gradients that flow into ``ys``; ones by default, and where one is None.
        name: name scope of the ops built.
        colocate_gradients_with_ops: puts the gradient ops of each op on its device, whatever the device blocks in force say.
        gate_gradients: changes nothing.
        aggregation_method: changes nothing: sums are made in the order of use.
        stop_gradients: tensors to be taken as constants: nothing flows through them.

    Returns:
        One tensor per member of ``xs``, of its shape and dtype; None where ``ys`` does not depend on it, or only through integers and other ops that
        let no gradient flow.

    Raises:
        GraphError: an op on the way has no gradient, or gives one of another shape or dtype than its input.
    """
    targets = [convert_to_tensor(y) for y in _as_list(ys)]
    sources = [_reads(x) for x in _as_list(xs)]
    given = [None] * len(targets) if grad_ys is None else _as_list(grad_ys)
    if len(given) != len(targets):
        raise GraphError(f"there are {len(targets)} ys, but {len(given)} grad_ys")
    if not targets:
        return [None] * len(sources)
    stops = {t for x in _as_list(stop_gradients or []) for t in _reads(x)}
    graph = targets[0].graph
    beside: Beside = graph.colocate_with if colocate_gradients_with_ops else _anywhere
    with graph.as_default(), graph.name_scope(name):
        flowing: dict[Tensor, list[Tensor]] = {}
        for y, g in zip(targets, given, strict=True):
            if y.dtype.is_floating:
                with beside(y):
                    flowing.setdefault(y, []).append(ones_like(y, name="grad_ys") if g is None else _seed(y, g))
        _backpropagate(_between(targets, {t for reads in sources for t in reads}, stops), flowing, stops, beside)
        return [_total([g for t in reads for g in flowing.get(t, ())], beside) for reads in sources]


Beside = Callable[[Operation | Tensor], AbstractContextManager[None]]
"""From an op to a block in which its gradient ops are built."""


def _anywhere(op: Operation | Tensor) -> AbstractContextManager[None]:
    return nullcontext()


def _seed(y: Tensor, gradient: Any) -> Tensor:
    tensor = convert_to_tensor(gradient, like=y)
    _require_fit(tensor, y, "grad_ys")
    return tensor


def _backpropagate(on_the_way: Sequence[Operation], flowing: dict[Tensor, list[Tensor]], stops: set[Tensor], beside: Beside) -> None:
    """Let gradients flow from the outputs of each op to its inputs; ``flowing`` gathers the parts that arrive at each tensor."""
    for op in reversed(on_the_way):
        incoming = [None if t in stops else _settle(flowing, t, beside) for t in op.outputs]
        if all(g is None for g in incoming):
            continue
        rule = op.definition.gradient
        if rule is None:
            raise GraphError(
                f"op {op.name!r} ({op.type}) has no gradient", f"use pslab.stop_gradient before it if none should flow; it was built at {op.origin}"
            )
        with beside(op), op.graph.name_scope(f"{op.name.rsplit('/', 1)[-1]}_grad"), op.graph.noting_gradient_of(op):
            outgoing = rule(op, *incoming)
        for tensor, gradient in zip(op.inputs, outgoing, strict=True):
            if gradient is not None and tensor.dtype.is_floating:
                _require_fit(gradient, tensor, f"the gradient of {op.type}")
                flowing.setdefault(tensor, []).append(gradient)


def _require_fit(gradient: Tensor, tensor: Tensor, whose: str) -> None:
    if gradient.dtype is not tensor.dtype or not gradient.shape.is_compatible_with(tensor.shape):
        raise GraphError(
            f"{whose}: {tensor.name} is {tensor.dtype.name} of shape {tensor.shape}, its gradient {gradient.dtype.name} of shape {gradient.shape}"
        )
    gradient.set_shape(tensor.shape)


def _settle(flowing: dict[Tensor, list[Tensor]], tensor: Tensor, beside: Beside) -> Tensor | None:
    """The gradient of one output: the sum of what flowed in, or None if nothing did."""
    total = _total(flowing.get(tensor, []), beside)
    if total is not None:
        flowing[tensor] = [total]
    return total


def _total(parts: Sequence[Tensor], beside: Beside) -> Tensor | None:
    if len(parts) < 2:
        return parts[0] if parts else None
    with beside(parts[0]):
        return apply_one("AddN", parts)


def _between(targets: list[Tensor], sources: set[Tensor], stops: set[Tensor]) -> list[Operation]:
    """Ops through which a gradient may flow from a target to a source, in the order they were built, which is a topological one."""
    upstream: set[Operation] = set()
    waiting = [t.op for t in targets]
    while waiting:
        op = waiting.pop()
        if op not in upstream:
            upstream.add(op)
            waiting.extend(t.op for t in op.inputs)
    depends: dict[Operation, None] = {}
    for op in targets[0].graph.operations:
        if (
            op in upstream
            and _lets_flow(op)
            and any(t.dtype.is_floating and (t in sources or (t.op in depends and t not in stops)) for t in op.inputs)
        ):
            depends[op] = None
    return list(depends)


def _lets_flow(op: Operation) -> bool:
    return op.definition.gradient is not not_differentiable and any(t.dtype.is_floating for t in op.outputs)


def _reads(x: Any) -> list[Tensor]:
    return list(x._all_reads()) if hasattr(x, "_all_reads") else [convert_to_tensor(x)]


def _as_list(value: Any) -> list[Any]:
    return list(value) if isinstance(value, list | tuple) else [value]
