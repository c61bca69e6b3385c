"""Batches: their forms, shapes and ends."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError
from tests.data.pipelines import drain


def numbers(count, epochs=1, dtype=tf.int64):
    return tf.cast(tf.train.range_input_producer(count, num_epochs=epochs, shuffle=False).dequeue(), dtype)


def test_a_batch_has_the_form_of_an_example():
    n = numbers(6)
    pair, single, named = tf.train.batch([n, n * n], 3), tf.train.batch(n, 2), tf.train.batch({"b": n, "a": tf.zeros([2])}, 4)
    assert [t.shape for t in pair] == [[3], [3]] and single.shape == [2]
    assert {k: (v.dtype, v.shape.as_list()) for k, v in named.items()} == {"a": (tf.float32, [4, 2]), "b": (tf.int64, [4])}
    assert [t.op.name for t in pair] == ["batch", "batch"]


def test_what_is_left_at_the_end():
    dropped = tf.train.batch([numbers(5)], 2)
    assert drain(dropped) == [[[0, 1]], [[2, 3]]]
    with tf.Graph().as_default():
        kept = tf.train.batch([numbers(5)], 2, allow_smaller_final_batch=True)
        assert kept[0].shape.as_list() == [None]
        assert drain(kept) == [[[0, 1]], [[2, 3]], [[4]]]


def test_many_examples_at_once():
    rows = tf.stack([numbers(4), tf.constant(9, tf.int64)])
    assert drain(tf.train.batch([rows, rows + 1], 3, enqueue_many=True)) == [[[0, 9, 1], [1, 10, 2]], [[9, 2, 9], [10, 3, 10]]]


def test_filling_up():
    n = numbers(4, dtype=tf.int32)
    padded = tf.train.batch([n, tf.range(n)], 2, dynamic_pad=True)
    assert padded[1].shape.as_list() == [2, None]
    assert drain(padded) == [[[0, 1], [[0], [0]]], [[2, 3], [[0, 1, 0], [0, 1, 2]]]]


def test_strings_are_filled_up_with_empty_ones():
    n = numbers(2, dtype=tf.int32)
    words = tf.as_string(tf.range(n + 1))
    assert drain(tf.train.batch([words], 2, dynamic_pad=True)) == [[[[b"0", b""], [b"0", b"1"]]]]


def test_shuffling_loses_nothing_and_keeps_components_together():
    n = numbers(50, epochs=2)
    batches = drain(tf.train.shuffle_batch([n, n + 100], 10, capacity=60, min_after_dequeue=20, num_threads=3, seed=3))
    assert len(batches) == 10
    values = np.array(batches)
    np.testing.assert_array_equal(values[:, 1], values[:, 0] + 100)
    assert sorted(values[:, 0].ravel()) == sorted(2 * list(range(50)))
    assert values[:, 0].ravel().tolist() != list(range(50)) * 2


def test_shuffling_is_decided_by_the_seed_where_one_thread_fills_the_queue_first():
    def order(seed):
        with tf.Graph().as_default():
            return drain(tf.train.shuffle_batch([numbers(30)], 5, capacity=100, min_after_dequeue=99, seed=seed))

    assert order(1) == order(1) != order(2)


def test_several_sources():
    sources = [(numbers(6), tf.constant(0)), (numbers(6) + 10, tf.constant(1))]
    for join in (tf.train.batch_join(sources, 4), tf.train.shuffle_batch_join(sources, 4, capacity=12, min_after_dequeue=2)):
        assert [t.shape for t in join] == [[4], [4]]
    rows = drain(list(tf.train.batch_join([(numbers(6), tf.constant(0)), (numbers(6) + 10, tf.constant(1))], 4)))
    pairs = sorted((n, source) for batch in rows for n, source in zip(*batch, strict=True))
    assert pairs == [(n + 10 * source, source) for source in (0, 1) for n in range(6)]


def test_sources_of_different_shapes():
    sources = [[tf.zeros([2, 3])], [tf.zeros([4, 3])]]
    (padded,) = tf.train.batch_join(sources, 2, dynamic_pad=True)
    assert padded.shape.as_list() == [2, None, 3]
    with pytest.raises(GraphError, match=r"the shape of an example must be known, found \(\?, 3\)"):
        tf.train.batch_join(sources, 2)


def test_given_shapes():
    value = tf.placeholder(tf.float32)
    assert tf.train.batch([value], 2, shapes=[[3]])[0].shape == [2, 3]


def test_what_cannot_be_meant():
    with pytest.raises(GraphError, match=r"must be known, found \(\?,\)"):
        tf.train.batch([tf.placeholder(tf.float32, [None])], 2)
    with pytest.raises(GraphError, match="the rank of an example must be known"):
        tf.train.batch([tf.placeholder(tf.float32)], 2, dynamic_pad=True)
    with pytest.raises(GraphError, match="the sources must have the same dtypes"):
        tf.train.batch_join([[tf.constant(1)], [tf.constant(1.0)]], 2)
    with pytest.raises(GraphError, match="no tensors to batch"):
        tf.train.shuffle_batch_join([], 2, 3, 1)
    with pytest.raises(GraphError, match="no tensors to batch"):
        tf.train.batch([], 2)
    with pytest.raises(ValueError, match="must be greater than min_after_dequeue"):
        tf.train.shuffle_batch([tf.constant(1)], 2, 4, 9)


def test_files_from_end_to_end(tmp_path):
    for shard in range(4):
        (tmp_path / f"part-{shard}.csv").write_text("".join(f"{10 * shard + i},{i / 2}\n" for i in range(10)))
    names = tf.data.shard(sorted(str(p) for p in tmp_path.iterdir()), 2, 1)
    _, line = tf.TextLineReader().read(tf.train.string_input_producer(names, num_epochs=3))
    n, half = tf.decode_csv(line, [[0], [0.0]])
    batches = drain(tf.train.shuffle_batch([n, half], 6, capacity=40, min_after_dequeue=10, num_threads=2))
    assert len(batches) == 10
    got = sorted((n, half) for batch in batches for n, half in zip(*batch, strict=True))
    assert got == sorted(3 * [(10 * shard + i, i / 2) for shard in (1, 3) for i in range(10)])


def test_many_examples_at_once_that_a_small_queue_has_no_room_for():
    rows = tf.train.range_input_producer(10, num_epochs=1, shuffle=False).dequeue_many(5)
    taken = tf.train.batch([rows], 4, capacity=2, enqueue_many=True, allow_smaller_final_batch=True)
    assert drain(taken) == [[[0, 1, 2, 3]], [[4, 5, 6, 7]], [[8, 9]]]
