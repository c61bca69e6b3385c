"""Compiled programs write into buffers that nobody needs any more. They must compute what the kernels compute one by one."""

from __future__ import annotations

import re

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pslab.graph.gradients import gradients
from pslab.graph.graph import Graph
from pslab.graph.ops import activations, compare, losses, math, reduce, shapes, slicing
from pslab.graph.ops.sources import identity, placeholder
from pslab.runtime.task import Task
from pslab.testing.gradcheck import evaluate
from pslab.testing.one_task import program, run

UNARY = [
    activations.relu,
    activations.sigmoid,
    activations.tanh,
    activations.elu,
    activations.softplus,
    activations.leaky_relu,
    math.negative,
    math.abs,
    math.square,
    identity,
    lambda x: x * 0.5,
    lambda x: 1.0 - x,
    lambda x: x - reduce.reduce_mean(x, 0, keep_dims=True),
    lambda x: x / (1.0 + reduce.reduce_sum(math.square(x), 1, keep_dims=True)),
    lambda x: shapes.transpose(shapes.transpose(x)),
    lambda x: slicing.getitem(x, slice(None, None, -1)),
]
BINARY = [
    math.add,
    math.subtract,
    math.multiply,
    math.maximum,
    math.squared_difference,
    lambda x, y: math.add_n([x, y, x]),
    lambda x, y: compare.where(x > y, x, y),
]


@settings(max_examples=60)
@given(st.data())
def test_random_graphs_and_their_gradients(data):
    with Graph().as_default():
        x, y = placeholder("float64", [None, 3], "x"), placeholder("float64", [data.draw(st.sampled_from([None, 4])), 3], "y")
        tensors = [x, y]
        for _ in range(data.draw(st.integers(1, 8))):
            operand = st.sampled_from(tensors)
            if data.draw(st.booleans()):
                tensors.append(data.draw(st.sampled_from(UNARY))(data.draw(operand)))
            else:
                tensors.append(data.draw(st.sampled_from(BINARY))(data.draw(operand), data.draw(operand)))
        fetches = [tensors[-1], *(g for g in gradients(tensors[-1], [x, y]) if g is not None)]
        rng = np.random.default_rng(0)
        feeds = {x: rng.normal(size=(4, 3)), y: rng.normal(size=(4, 3))}
        before = [a.copy() for a in feeds.values()]
        found = run(Task("localhost:0"), *fetches, feeds=feeds)
        wanted = evaluate(fetches, feeds)
    for got, right in zip(found if len(fetches) > 1 else [found], wanted, strict=True):
        np.testing.assert_allclose(got, right, rtol=1e-12)
    for array, copy in zip(feeds.values(), before, strict=True):
        np.testing.assert_array_equal(array, copy)


def test_a_training_step_allocates_little():
    with Graph().as_default():
        x, w = placeholder("float32", [None, 3], "x"), placeholder("float32", [3, 4], "w")
        b, y = placeholder("float32", [4], "b"), placeholder("float32", [None, 4], "y")
        hidden = activations.relu(x @ w + b)
        loss = reduce.reduce_mean(losses.softmax_cross_entropy_with_logits(logits=hidden, labels=y))
        source = program(Task("localhost:0"), gradients(loss, [w, b]), [x, w, b, y]).source
    for op in ("Add", "Relu", "ScaleRows", "ReluGrad"):
        [line] = [line for line in source.splitlines() if re.search(rf"= {op.lower()}(_\d+)*\(", line)]
        assert "out=" in line


def test_scalars_hold_no_buffer():
    with Graph().as_default():
        x = placeholder("float32", [None], "x")
        y = placeholder("float32", None, "y")
        fetches = [math.square(math.negative(reduce.reduce_sum(x))), math.square(math.negative(math.negative(y)))]
        found = run(Task("localhost:0"), *fetches, feeds={x: np.ones(3, "f"), y: np.float32(2)})
    assert [float(f) for f in found] == [9, 4]
