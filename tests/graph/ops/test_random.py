from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.graph import Graph
from pslab.graph.ops import random, shapes
from pslab.graph.ops.sources import constant, placeholder
from pslab.runtime.task import Task
from pslab.testing.gradcheck import evaluate


def draws(graph_seed=None, op_seed=None, before=0, task=None, times=1):
    """What one op draws in ``times`` steps, in a graph where ``before`` ops were built before it."""
    with Graph().as_default():
        if graph_seed is not None:
            random.set_random_seed(graph_seed)
        for _ in range(before):
            constant(0.0)
        x = random.random_uniform([4], seed=op_seed)
        task = task or Task("localhost:0")
        return [evaluate([x], state=task)[0].tolist() for _ in range(times)]


@pytest.mark.parametrize(
    ("graph_seed", "op_seed", "before", "pair"),
    [
        (None, None, 3, (0, 0)),
        (7, None, 3, (7, 3)),
        (None, 5, 3, (random.DEFAULT_GRAPH_SEED, 5)),
        (7, 5, 3, (7, 5)),
        (0, 0, 0, (0, 2**31 - 1)),
        (0, None, 0, (0, 2**31 - 1)),
    ],
)
def test_pairs_of_seeds(graph_seed, op_seed, before, pair):
    with Graph().as_default() as graph:
        graph.seed = graph_seed
        for _ in range(before):
            constant(0.0)
        assert random.get_seed(op_seed) == pair


@pytest.mark.parametrize("seeds", [{"graph_seed": 7}, {"op_seed": 5}, {"graph_seed": 7, "op_seed": 5}, {"graph_seed": 0, "op_seed": 0}])
def test_the_same_seeds_give_the_same_sequence(seeds):
    assert draws(**seeds, times=3) == draws(**seeds, times=3)


def test_a_sequence_goes_on_from_step_to_step():
    first, second = draws(graph_seed=7, times=2)
    assert first != second


def test_no_seed_gives_other_values_each_time():
    assert draws() != draws()


def test_other_seeds_give_other_values():
    assert draws(graph_seed=7) != draws(graph_seed=8)
    assert draws(op_seed=7) != draws(op_seed=8)
    assert draws(graph_seed=7) != draws(graph_seed=7, before=1)
    assert draws(graph_seed=7, op_seed=5) == draws(graph_seed=7, op_seed=5, before=1, task=None)


def test_two_ops_of_a_graph_draw_differently():
    with Graph().as_default():
        random.set_random_seed(1)
        a, b = evaluate([random.random_normal([4]), random.random_normal([4])])
    assert (a != b).all()


def test_negative_and_large_seeds(graph):
    first, again, large, larger = evaluate([random.random_normal([4], seed=seed) for seed in (-1, -1, 2**40, 2**40 + 1)])
    assert (first == again).all()
    assert (large != larger).all()


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_distributions(graph, dtype):
    n = [20000]
    normal, truncated, uniform = evaluate(
        [
            random.random_normal(n, 3.0, 2.0, dtype, seed=1),
            random.truncated_normal(n, 3.0, 2.0, dtype, seed=1),
            random.random_uniform(n, -1.0, 3.0, dtype, seed=1),
        ]
    )
    assert normal.dtype == truncated.dtype == uniform.dtype == np.dtype(dtype)
    normal, truncated, uniform = (a.astype("float64") for a in (normal, truncated, uniform))
    assert normal.mean() == pytest.approx(3, abs=0.1)
    assert normal.std() == pytest.approx(2, abs=0.1)
    assert np.abs(truncated - 3).max() <= 4.01
    assert truncated.std() == pytest.approx(2 * 0.8796, abs=0.1)
    assert uniform.min() >= -1
    assert uniform.max() <= 3
    assert uniform.mean() == pytest.approx(1, abs=0.1)


def test_integers(graph):
    [found] = evaluate([random.random_uniform([1000], 2, 5, "int32", seed=1)])
    assert found.dtype == np.int32
    assert set(found.tolist()) == {2, 3, 4}
    with pytest.raises(ShapeError, match="needs maxval"):
        random.random_uniform([3], dtype="int32")
    with pytest.raises(InvalidArgumentError, match="minval < maxval, found 5 and 5"):
        evaluate([random.random_uniform([3], 5, 5, "int64")])


def test_shapes_that_are_computed_and_parameters_that_are_tensors(graph):
    x = placeholder("float32", [None, 2])
    drawn = random.random_normal(shapes.shape(x), stddev=constant(0.0), mean=[1.0, 2.0])
    assert drawn.shape == [None, 2]
    assert evaluate([drawn], {x: np.zeros((3, 2), "f")})[0].tolist() == [[1, 2]] * 3


def test_only_floats_are_normal(graph):
    with pytest.raises(ShapeError, match="random_normal makes floats, not int32"):
        random.random_normal([2], dtype="int32")


def test_shuffle_keeps_the_rows(graph):
    x = np.arange(40).reshape(20, 2)
    [found] = evaluate([random.random_shuffle(x, seed=4)])
    assert found.tolist() != x.tolist()
    assert sorted(found.tolist()) == x.tolist()


def test_classes_are_drawn_by_their_probabilities(graph):
    logits = np.log([[0.1, 0.2, 0.7], [0.5, 0.5, 1e-30]]) + 5
    [found] = evaluate([random.multinomial(logits, 4000, seed=1)])
    assert (found.shape, found.dtype) == ((2, 4000), np.dtype("int64"))
    counts = [np.bincount(row, minlength=3) / 4000 for row in found]
    np.testing.assert_allclose(counts, [[0.1, 0.2, 0.7], [0.5, 0.5, 0]], atol=0.03)
    assert random.multinomial(placeholder("float32", [None, 5]), 2, output_dtype="int32").shape == [None, 2]


def test_a_block_at_a_random_place(graph):
    x = np.arange(48).reshape(4, 6, 2)
    blocks = evaluate([random.random_crop(x, [3, 4, 2], seed=s) for s in range(40)])
    corners = {(int(b[0, 0, 0]) // 12, int(b[0, 0, 0]) % 12 // 2) for b in blocks}
    assert corners == {(i, j) for i in range(2) for j in range(3)}
    for block in blocks:
        i, j = int(block[0, 0, 0]) // 12, int(block[0, 0, 0]) % 12 // 2
        np.testing.assert_array_equal(block, x[i : i + 3, j : j + 4])


def test_a_block_must_fit(graph):
    x = placeholder("float32", [None, 2])
    with pytest.raises(InvalidArgumentError, match="outside axis 0"):
        evaluate([random.random_crop(x, [3, 2])], {x: np.zeros((2, 2), "f")})
