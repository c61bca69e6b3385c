"""Input producers: epochs, orders, ends."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError, InvalidArgumentError, OutOfRangeError
from tests.data.pipelines import drain


def test_strings_in_order():
    queue = tf.train.string_input_producer(["a", "b", "c"], num_epochs=2, shuffle=False, shared_name="names")
    assert queue.attrs["queue"] == "names" and queue.name == "input_producer"
    assert [v.name for v in tf.local_variables()] == ["input_producer/limit_epochs/epochs:0"]
    assert drain(queue.dequeue()) == [b"a", b"b", b"c"] * 2


def test_every_epoch_has_all_in_an_order_that_the_seed_decides():
    def order(seed):
        with tf.Graph().as_default():
            return drain(tf.train.range_input_producer(20, num_epochs=3, seed=seed).dequeue())

    first = order(1)
    epochs = [first[i : i + 20] for i in (0, 20, 40)]
    assert all(sorted(epoch) == list(range(20)) for epoch in epochs)
    assert epochs[0] != epochs[1] and epochs[0] != list(range(20))
    assert order(1) == first != order(2)


def test_slices_belong_together():
    x, y = np.arange(8.0, dtype=np.float32).reshape(4, 2), [10, 11, 12, 13]
    x_row, y_row = tf.train.slice_input_producer([x, y], num_epochs=1)
    assert (x_row.shape, y_row.shape) == ([2], [])
    assert sorted(drain([x_row, y_row])) == [[[2.0 * i, 2.0 * i + 1], 10 + i] for i in range(4)]


def test_rows_whose_number_is_found_when_it_runs(tmp_path):
    for name in "abc":
        (tmp_path / name).touch()
    (row,) = tf.train.slice_input_producer([tf.matching_files(f"{tmp_path}/*")], num_epochs=1, shuffle=False)
    assert drain(row) == [f"{tmp_path}/{name}".encode() for name in "abc"]


def test_limit_epochs():
    limited = tf.train.limit_epochs(tf.constant([1, 2]), 2)
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        assert [sess.run(limited).tolist() for _ in range(2)] == [[1, 2]] * 2
        with pytest.raises(OutOfRangeError, match="has reached its limit of 2"):
            sess.run(limited)
    assert tf.train.limit_epochs(limited) is limited
    with pytest.raises(GraphError, match="at least 1, found 0"):
        tf.train.limit_epochs(limited, 0)


def test_no_input_is_told(tmp_path):
    with pytest.raises(GraphError, match="found an empty list"):
        tf.train.string_input_producer([])
    names = tf.train.match_filenames_once(f"{tmp_path}/*")
    queue = tf.train.string_input_producer(names)
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(InvalidArgumentError, match="there is no input"):
            coord.join(threads)
        del queue


def test_names_that_match(tmp_path):
    for name in "ba":
        (tmp_path / name).touch()
    queue = tf.train.string_input_producer(tf.train.match_filenames_once(f"{tmp_path}/*"), num_epochs=1, shuffle=False)
    assert drain(queue.dequeue()) == [f"{tmp_path}/{name}".encode() for name in "ab"]


def test_what_cannot_be_meant():
    with pytest.raises(GraphError, match="give element_shape"):
        tf.train.input_producer(tf.placeholder(tf.float32, [3, None]))
    with pytest.raises(GraphError, match="at least one tensor"):
        tf.train.slice_input_producer([])
    with pytest.raises(GraphError, match="found the scalar"):
        tf.train.string_input_producer("one.csv")
    with pytest.raises(GraphError, match="is no string"):
        tf.train.string_input_producer([1, 2])
    with pytest.raises(GraphError, match=r"an integer of at least 1, found 1.5"):
        tf.train.range_input_producer(3, num_epochs=1.5)


@pytest.mark.parametrize("make", [lambda: tf.train.range_input_producer(0), lambda: tf.train.input_producer(tf.zeros([0, 2]))])
def test_nothing_does_not_come_for_ever(make):
    queue, coord = make(), tf.train.Coordinator()
    with tf.Session() as sess:
        threads = tf.train.start_queue_runners(sess, coord)
        with pytest.raises(OutOfRangeError):
            sess.run(queue.dequeue())
        with pytest.raises(InvalidArgumentError, match="there is no input"):
            coord.join(threads)
