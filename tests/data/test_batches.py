"""Batches: the shards of a step are the single process's batch, epochs are permutations, positions can be set."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.data.batches import Batches
from pslab.errors import UsageError


def data(count):
    return np.arange(count * 2.0).reshape(count, 2), np.arange(count)


def labels(batches, steps):
    return [next(batches)[1].tolist() for _ in range(steps)]


sizes = st.tuples(st.integers(1, 4), st.integers(1, 5)).flatmap(
    lambda nb: st.tuples(st.just(nb[0]), st.just(nb[1]), st.integers(nb[0] * nb[1], 40), st.integers(0, 3), st.booleans())
)


@given(sizes)
def test_shards_together_are_one_process_with_the_larger_batch(drawn):
    shards, size, count, seed, shuffle = drawn
    x, y = data(count)
    each = [Batches(x, y, size, seed, shard, shards, shuffle) for shard in range(shards)]
    whole = Batches(x, y, size * shards, seed, shuffle=shuffle)
    for _ in range(2 * count // (size * shards) + 3):
        parts = [next(batches) for batches in each]
        x_whole, y_whole = next(whole)
        np.testing.assert_array_equal(np.concatenate([part[0] for part in parts]), x_whole)
        np.testing.assert_array_equal(np.concatenate([part[1] for part in parts]), y_whole)
        np.testing.assert_array_equal(x_whole, x[y_whole])
        assert all(len(part[1]) == size for part in parts)


@given(sizes)
def test_every_example_comes_once_an_epoch(drawn):
    _, size, count, seed, shuffle = drawn
    stream = [y for batch in labels(Batches(*data(count), size, seed, shuffle=shuffle), 3 * count // size + 1) for y in batch]
    for epoch in range(3):
        assert sorted(stream[epoch * count : (epoch + 1) * count]) == list(range(count))


def test_epochs_and_seeds_differ_and_repeat():
    x, y = data(100)
    first = labels(Batches(x, y, 100, seed=1), 3)
    assert first[0] != first[1] != first[2] != first[0]
    assert labels(Batches(x, y, 100, seed=1), 3) == first
    assert labels(Batches(x, y, 100, seed=2), 1) != first[:1]


def test_unshuffled_is_in_the_given_order():
    assert labels(Batches(*data(5), 2, seed=0, shuffle=False), 4) == [[0, 1], [2, 3], [4, 0], [1, 2]]


@given(st.lists(st.integers(0, 30), min_size=1, max_size=6))
def test_seeking_is_the_same_as_going_there(steps):
    straight = labels(Batches(*data(17), 5, seed=3), 31)
    batches = Batches(*data(17), 5, seed=3)
    for step in steps:
        batches.seek(step)
        assert batches.step == step
        assert next(batches)[1].tolist() == straight[step]
        assert batches.step == step + 1


def test_batches_are_copies():
    x, y = data(4)
    x_batch, _ = next(Batches(x, y, 4, seed=0, shuffle=False))
    x_batch[:] = -1
    assert x.min() == 0


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"batch_size": 4, "shards": 3}, "3 × a batch of 4 is 12 examples, but there are 10\n  hint: a batch of at most 3"),
        ({"batch_size": 11}, "1 × a batch of 11 is 11 examples, but there are 10"),
        ({"batch_size": 1, "shards": 11}, "hint: fewer workers"),
        ({"batch_size": 0}, "batch_size=0"),
        ({"batch_size": 1, "shards": 0}, "shards=0"),
        ({"batch_size": 1, "seed": -1}, "seed=-1"),
        ({"batch_size": 1, "shard": 2, "shards": 2}, "no shard 2 of 2"),
    ],
)
def test_numbers_that_cannot_be_meant(fields, says):
    with pytest.raises(UsageError) as caught:
        Batches(*data(10), **{"seed": 0, **fields})
    assert says in str(caught.value)


def test_lengths_that_differ():
    x, y = data(10)
    with pytest.raises(UsageError, match="10 examples, but 9 targets"):
        Batches(x, y[:9], 2, seed=0)


def test_a_negative_step():
    with pytest.raises(UsageError, match="no step -1"):
        Batches(*data(10), 2, seed=0).seek(-1)


@pytest.mark.parametrize("sizes", [(3,), (4, 4), (5, 2, 1)])
@pytest.mark.parametrize("passes", [1, 3])
def test_how_many_there_are_is_known_before_they_are_taken(sizes, passes) -> None:
    x = np.arange(21)
    for shard in range(len(sizes)):
        batches = Batches(x, x, sizes, 0, shard, len(sizes), passes=passes)
        total, whole, ahead = batches.total, batches.whole, [batches.examples_before(n) for n in range(int(batches.total) + 2)]
        found = []
        while batches.left:
            found.append(len(next(batches)[0]))
        assert total == len(found)
        assert whole == sum(n == sizes[shard] for n in found)
        assert ahead == [*(sum(found[:n]) for n in range(len(found) + 1)), sum(found)]
        assert batches.left == batches.whole == 0
