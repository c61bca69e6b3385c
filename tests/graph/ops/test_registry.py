"""What every op keeps to: its kernel makes what its shape rule promised, and touches nothing else."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.graph.graph import Graph
from pslab.graph.node import Node
from pslab.graph.ops.sources import placeholder
from pslab.graph.packing import pack, unpack
from pslab.graph.registry import op_def, registered
from pslab.graph.shape import TensorShape
from pslab.runtime.task import Task
from pslab.testing.gradcheck import run_kernel
from tests.graph.op_cases import CASES, DYNAMIC, UNRUNNABLE, Case

TYPES = [d.type for d in registered() if d.kernel.__module__.startswith("pslab.graph.ops.")]

KNOWN = {
    "the shape": lambda array: array.shape,
    "the rank": lambda array: [None] * array.ndim,
    "nothing": lambda array: None,
}


def run(case: Case, known: str, task: Task | None = None):
    """Every op of the case's graph, with the values of its inputs and its outputs."""
    task = task or Task("localhost:0")
    with Graph().as_default() as graph:
        points = [placeholder(a.dtype, KNOWN[known](a)) for a in case.inputs]
        case.build(*points)
        values = dict(zip(points, case.inputs, strict=True))
        for op in graph.operations:
            if op.type not in UNRUNNABLE:
                inputs = [values[t] for t in op.inputs]
                outputs = run_kernel(op, inputs, task)
                yield op, inputs, outputs
                values.update(zip(op.outputs, outputs, strict=True))


@pytest.mark.parametrize("type", TYPES)
def test_every_op_has_a_case(type):
    assert type in UNRUNNABLE or type in {c.type for c in CASES}


@pytest.mark.parametrize("known", KNOWN)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_makes_what_was_inferred(case, known):
    if known == "nothing" and not case.ranks:
        pytest.skip("needs to know the ranks of its inputs")
    seen = set()
    for op, _, outputs in run(case, known):
        seen.add(op.type)
        for tensor, value in zip(op.outputs, outputs, strict=True):
            assert isinstance(value, np.ndarray | np.generic), f"{op.type} made a {type(value).__name__}"
            assert value.dtype == tensor.dtype.as_numpy_dtype, op.type
            assert tensor.shape.is_compatible_with(value.shape), f"{op.type} made {value.shape}, inferred was {tensor.shape}"
            if known == "the shape" and case.type not in DYNAMIC and not any(i.dtype.kind == "i" and i.ndim == 0 for i in case.inputs):
                assert tensor.shape == TensorShape(value.shape), f"{op.type}: the shape could be inferred, but {tensor.shape} was"
    assert case.type in seen


@pytest.mark.parametrize("case", CASES, ids=str)
def test_leaves_its_inputs_alone(case):
    task = Task("localhost:0")
    for op, inputs, outputs in run(case, "the shape", task):
        frozen = [np.array(i) for i in inputs]
        for array in frozen:
            array.flags.writeable = False
        again = run_kernel(op, frozen, task)
        if not op.definition.view and not op.definition.stateful:
            for value in again:
                assert not any(np.shares_memory(value, i) for i in frozen), f"{op.type} returns its input's memory, but is not declared a view"
        if not op.definition.stateful:
            for value, first in zip(again, outputs, strict=True):
                np.testing.assert_array_equal(value, first)


@pytest.mark.parametrize("case", [c for c in CASES if op_def(c.type).elementwise], ids=str)
def test_may_write_into_any_input_that_fits(case):
    for op, inputs, outputs in run(case, "the shape"):
        if not op.definition.elementwise:
            continue
        fitting = [i for i, a in enumerate(inputs) if np.ndim(a) and np.shape(a) == np.shape(outputs[0]) and a.dtype == outputs[0].dtype]
        aligned = [i for i in range(op.definition.aligned) if np.ndim(inputs[i])]
        assert set(aligned) <= set(fitting), f"{op.type} declares inputs aligned that are not"
        for i in aligned or fitting:
            copies = [np.array(a) for a in inputs]
            [value] = run_kernel(op, copies, Task("localhost:0"), out=copies[i])
            np.testing.assert_array_equal(value, outputs[0], err_msg=f"{op.type} into input {i}")
            for j, array in enumerate(copies):
                if j != i:
                    np.testing.assert_array_equal(array, inputs[j])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_travels_as_plain_data(case):
    for op, _, _ in run(case, "the rank"):
        node = Node.of(op)
        again = Node(*unpack(pack(node.to_plain())))
        assert again.attrs.keys() == node.attrs.keys()
        for name, value in node.attrs.items():
            np.testing.assert_array_equal(np.asarray(again.attrs[name], dtype=object), np.asarray(value, dtype=object))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_counts_its_work(case):
    for op, _, _ in run(case, "the rank"):
        assert isinstance(op.definition.flops(op), int)
        assert op.definition.flops(op) >= 0
