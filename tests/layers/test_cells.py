"""One step of each cell, against the equations written down with NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit as sigmoid

import pslab as tf
from pslab.errors import ShapeError, UnimplementedError, UsageError

C = tf.nn.rnn_cell
RNG = np.random.default_rng(4)
X, H, S = (RNG.normal(size=shape).astype("f") for shape in ((2, 4), (2, 3), (2, 3)))


def step(cell, state, inputs=X):
    """The output, the new state, and the variables by the last parts of their names, after one step from random variables."""
    with tf.variable_scope("net", initializer=tf.random_normal_initializer(seed=3)):
        fetches = cell(tf.constant(inputs), state)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for v in tf.global_variables():
            v.load(RNG.normal(size=v.shape.as_tuple()).astype("f"), session)
        (output, new), values = session.run((fetches, {v.op.name.removeprefix("net/"): v for v in tf.global_variables()}))
    return output, new, values


def close(found, wanted):
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_basic_rnn():
    output, new, v = step(C.BasicRNNCell(3), tf.constant(H))
    assert set(v) == {"basic_rnn_cell/kernel", "basic_rnn_cell/bias"}
    close(output, np.tanh(np.hstack([X, H]) @ v["basic_rnn_cell/kernel"] + v["basic_rnn_cell/bias"]))
    close(new, output)


def test_gru():
    output, new, v = step(C.GRUCell(3), tf.constant(H))
    assert set(v) == {f"gru_cell/{part}/{kind}" for part in ("gates", "candidate") for kind in ("kernel", "bias")}
    r, u = np.split(sigmoid(np.hstack([X, H]) @ v["gru_cell/gates/kernel"] + v["gru_cell/gates/bias"]), 2, 1)
    candidate = np.tanh(np.hstack([X, r * H]) @ v["gru_cell/candidate/kernel"] + v["gru_cell/candidate/bias"])
    close(output, u * H + (1 - u) * candidate)
    close(new, output)


def test_basic_lstm_has_its_gates_in_tensorflows_order():
    state = C.LSTMStateTuple(tf.constant(S), tf.constant(H))
    assert state.dtype is tf.float32
    output, new, v = step(C.BasicLSTMCell(3, forget_bias=0.5), state)
    assert set(v) == {"basic_lstm_cell/kernel", "basic_lstm_cell/bias"}
    i, j, f, o = np.split(np.hstack([X, H]) @ v["basic_lstm_cell/kernel"] + v["basic_lstm_cell/bias"], 4, 1)
    c = sigmoid(f + 0.5) * S + sigmoid(i) * np.tanh(j)
    close(new.c, c)
    close(new.h, sigmoid(o) * np.tanh(c))
    close(output, new.h)


def test_the_state_may_be_one_tensor():
    cell = C.BasicLSTMCell(3, state_is_tuple=False)
    assert cell.state_size == 6
    output, new, v = step(cell, tf.constant(np.hstack([S, H])))
    i, j, f, o = np.split(np.hstack([X, H]) @ v["basic_lstm_cell/kernel"] + v["basic_lstm_cell/bias"], 4, 1)
    c = sigmoid(f + 1) * S + sigmoid(i) * np.tanh(j)
    close(new, np.hstack([c, sigmoid(o) * np.tanh(c)]))
    close(output, new[:, 3:])


def test_lstm_with_peepholes_projection_and_bounds():
    cell = C.LSTMCell(5, use_peepholes=True, num_proj=3, cell_clip=0.8, proj_clip=0.5, activation=tf.nn.softsign)
    assert (cell.state_size, cell.output_size) == ((5, 3), 3)
    before = RNG.normal(size=(2, 5)).astype("f")
    output, new, v = step(cell, C.LSTMStateTuple(tf.constant(before), tf.constant(H)))
    v = {name.removeprefix("lstm_cell/"): value for name, value in v.items()}
    i, j, f, o = np.split(np.hstack([X, H]) @ v["kernel"] + v["bias"], 4, 1)
    c = sigmoid(f + 1 + v["w_f_diag"] * before) * before + sigmoid(i + v["w_i_diag"] * before) * (j / (1 + np.abs(j)))
    c = np.clip(c, -0.8, 0.8)
    h = np.clip((sigmoid(o + v["w_o_diag"] * c) * (c / (1 + np.abs(c)))) @ v["projection/kernel"], -0.5, 0.5)
    close(new.c, c)
    close(output, h)


def test_a_cell_makes_its_variables_once():
    cell, other = C.GRUCell(3), C.GRUCell(3)
    state = cell.zero_state(2, tf.float32)
    for c in (cell, cell, other):
        _, state = c(tf.constant(X), state)
    names = {v.op.name.partition("/")[0] for v in tf.global_variables()}
    assert names == {"gru_cell", "gru_cell_1"}
    C.GRUCell(3, reuse=True)(tf.constant(X), state)
    C.GRUCell(3, name="gru_cell_1", reuse=True)(tf.constant(X), state)
    assert len(tf.global_variables()) == 8


def test_forgetful_at_first_they_are_not(run):
    cell = C.GRUCell(3)
    cell(tf.constant(X), tf.constant(H))
    values = run({v.op.name: v for v in tf.global_variables()})
    assert values["gru_cell/gates/bias"].tolist() == [1] * 6
    assert values["gru_cell/candidate/bias"].tolist() == [0] * 3


def test_zero_states(run):
    batch = tf.placeholder(tf.int32, [])
    cell = C.MultiRNNCell([C.BasicLSTMCell(3), C.GRUCell(2)])
    zeros = cell.zero_state(batch, tf.float32)
    assert isinstance(zeros[0], C.LSTMStateTuple)
    found = run(zeros, {batch: 4})
    assert (found[0].c.shape, found[0].h.shape, found[1].shape) == ((4, 3), (4, 3), (4, 2))


def test_cells_on_top_of_each_other(run):
    cell = C.MultiRNNCell([C.BasicRNNCell(3), C.BasicRNNCell(2)])
    assert (cell.state_size, cell.output_size) == ((3, 2), 2)
    below, above = RNG.normal(size=(2, 3)).astype("f"), RNG.normal(size=(2, 2)).astype("f")
    output, new, v = step(cell, (tf.constant(below), tf.constant(above)))
    first, second = (f"multi_rnn_cell/cell_{i}/basic_rnn_cell" for i in range(2))
    assert set(v) == {f"{cell}/{kind}" for cell in (first, second) for kind in ("kernel", "bias")}
    low = np.tanh(np.hstack([X, below]) @ v[f"{first}/kernel"] + v[f"{first}/bias"])
    high = np.tanh(np.hstack([low, above]) @ v[f"{second}/kernel"] + v[f"{second}/bias"])
    close(new[0], low)
    close(output, high)


def test_stacked_states_in_one_tensor():
    cell = C.MultiRNNCell([C.BasicRNNCell(3), C.BasicRNNCell(2)], state_is_tuple=False)
    assert cell.state_size == 5
    output, new = cell(tf.constant(X), cell.zero_state(2, tf.float32))
    assert (output.shape, new.shape) == ([2, 2], [2, 5])


def test_dropout_around_a_cell(run):
    inner = C.BasicLSTMCell(40)
    cell = C.DropoutWrapper(inner, output_keep_prob=0.5, state_keep_prob=0.25, seed=1)
    output, new = cell(tf.constant(X), inner.zero_state(2, tf.float32))
    output, new = run([output, new])
    assert (output == 0).mean() == pytest.approx(0.5, abs=0.2)
    assert (new.h == 0).mean() == pytest.approx(0.75, abs=0.2)
    assert (new.c != 0).all()
    assert [v.op.name for v in tf.global_variables()] == ["basic_lstm_cell/kernel", "basic_lstm_cell/bias"]


def test_dropout_that_is_switched_off_changes_nothing(run):
    keep = tf.placeholder(tf.float32, [])
    inner = C.BasicRNNCell(3)
    plain, _ = inner(tf.constant(X), tf.constant(H))
    wrapped, _ = C.DropoutWrapper(inner, keep, keep, keep)(tf.constant(X), tf.constant(H))
    found = run([plain, wrapped], {keep: 1.0})
    np.testing.assert_array_equal(*found)


def test_a_cell_of_ones_own(run):
    class Adder(C.RNNCell):
        state_size = output_size = 4

        def call(self, inputs, state):
            return inputs + state, state + 1.0

    outputs, state = tf.nn.static_rnn(Adder(), [tf.constant(X)] * 3, dtype=tf.float32)
    found = run([outputs[2], state])
    np.testing.assert_array_equal(found[0], X + 2)
    assert found[1].tolist() == [[3] * 4] * 2
    with pytest.raises(UnimplementedError, match="RNNCell defines no call"):
        C.RNNCell()(tf.constant(X), tf.constant(H))


def test_refuses():
    with pytest.raises(UsageError, match="at least one cell"):
        C.MultiRNNCell([])
    with pytest.raises(UsageError, match="variational_recurrent="):
        C.DropoutWrapper(C.GRUCell(2), variational_recurrent=True)
    with pytest.raises(ShapeError, match="a bound must be positive"):
        C.LSTMCell(3, cell_clip=-1.0)(tf.constant(X), C.LSTMCell(3).zero_state(2, tf.float32))
