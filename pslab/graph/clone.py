"""Copying a part of a graph within it: how in-graph replication makes a tower per worker out of one model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pslab.graph.operation import Operation
from pslab.graph.partition import prune
from pslab.graph.tensor import Tensor


def clone(tensors: Sequence[Tensor], replaced: Mapping[Tensor, Tensor], device: Callable[[Operation], str] | None = None) -> list[Tensor]:
    """Copies of ``tensors``, computed from copies of all ops they need, in the scopes and device blocks in force.

    Ops on variables are not copied: the copies share the originals' parameters.

    Args:
        tensors: what to copy, all of one graph.
        replaced: tensors that the copies take in place of others, such as another placeholder.
        device: from an op to the device of its copy; by default, what the device blocks in force say.
    """
    copies = dict(replaced)
    ops: dict[Operation, Operation] = {}
    graph = tensors[0].graph
    for op in prune([t.op for t in tensors], list(replaced)):
        if "variable" in op.attrs or any(t in replaced for t in op.outputs):
            continue
        copy = graph.create_op(op.type, [copies.get(t, t) for t in op.inputs], op.attrs, op.name)
        copy.set_origin(op.origin)
        if device is not None:
            copy.device = device(op)
        for control in op.control_inputs:
            copy.add_control_input(ops.get(control, control))
        ops[op] = copy
        copies.update(zip(op.outputs, copy.outputs, strict=True))
    return [copies.get(t, t) for t in tensors]
