from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import ShapeError

C = tf.nn.rnn_cell
X = np.cos(np.arange(24, dtype="f")).reshape(2, 3, 4)  # batch, steps, n


def unrolled(values, lengths=(3, 3), start=None):
    """Outputs ``[batch, steps, units]`` and the last state of a basic cell, step by step and row by row."""
    kernel, bias = values
    states = np.zeros((2, bias.size), "f") if start is None else start.copy()
    outputs = np.zeros((2, 3, bias.size), "f")
    for row, length in enumerate(lengths):
        for time in range(length):
            states[row] = outputs[row, time] = np.tanh(np.hstack([X[row, time], states[row]]) @ kernel + bias)
    return outputs, states


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_over_a_list(run):
    outputs, state = tf.nn.static_rnn(C.BasicRNNCell(5), tf.unstack(tf.constant(X), axis=1), dtype=tf.float32)
    assert [v.op.name for v in tf.global_variables()] == ["rnn/basic_rnn_cell/kernel", "rnn/basic_rnn_cell/bias"]
    assert len(outputs) == 3
    found, last, values = run([outputs, state, tf.global_variables()])
    wanted, state = unrolled(values)
    close(np.stack(found, 1), wanted)
    close(last, state)


@pytest.mark.parametrize("time_major", [False, True])
def test_over_a_tensor_with_lengths_and_a_state(run, time_major):
    start = np.sin(np.arange(10, dtype="f")).reshape(2, 5)
    x = X.transpose(1, 0, 2) if time_major else X
    outputs, state = tf.nn.dynamic_rnn(C.BasicRNNCell(5), x, [1, 3], tf.constant(start), time_major=time_major, scope="net")
    assert outputs.shape == ([3, 2, 5] if time_major else [2, 3, 5])
    found, last, values = run([outputs, state, tf.global_variables()])
    wanted, state = unrolled(values, (1, 3), start)
    close(found.transpose(1, 0, 2) if time_major else found, wanted)
    close(last, state)
    assert tf.global_variables()[0].op.name == "net/basic_rnn_cell/kernel"


def test_the_batch_may_be_unknown(run):
    x = tf.placeholder(tf.float32, [None, 3, 4])
    outputs, state = tf.nn.dynamic_rnn(C.BasicLSTMCell(5), x, dtype=tf.float32)
    assert outputs.shape == [None, 3, 5]
    found, last = run([outputs, state], {x: X})
    np.testing.assert_array_equal(found[:, -1], last.h)


def test_shared_in_a_scope_that_shares():
    for reuse in (None, True):
        with tf.variable_scope("model", reuse=reuse):
            tf.nn.dynamic_rnn(C.MultiRNNCell([C.GRUCell(2), C.GRUCell(2)]), X, dtype=tf.float32)
    names = {v.op.name.rsplit("/", 2)[0] for v in tf.global_variables()}
    assert names == {f"model/rnn/multi_rnn_cell/cell_{i}/gru_cell" for i in range(2)}


def test_it_learns_through_time():
    x = tf.constant(X)
    target = tf.constant(X[:, :1, 0].repeat(3, 1))  # the first value, to be kept
    outputs, _ = tf.nn.dynamic_rnn(C.BasicLSTMCell(8), x, dtype=tf.float32)
    loss = tf.losses.mean_squared_error(target, tf.layers.dense(outputs, 1)[..., 0])
    tf.set_random_seed(1)
    train = tf.train.AdamOptimizer(0.05).minimize(loss)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(100):
            session.run(train)
        assert session.run(loss) < 0.01


def test_refuses():
    with pytest.raises(ShapeError, match=r"axis 1 of .* does not tell how many"):
        tf.nn.dynamic_rnn(C.GRUCell(2), tf.placeholder(tf.float32, [2, None, 4]), dtype=tf.float32)
    with pytest.raises(ShapeError, match="at least one input"):
        tf.nn.static_rnn(C.GRUCell(2), [], dtype=tf.float32)
    with pytest.raises(ShapeError, match="an initial_state, or a dtype"):
        tf.nn.static_rnn(C.GRUCell(2), [X[0]])
