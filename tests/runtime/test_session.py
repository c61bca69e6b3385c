"""Session, by TensorFlow 1's documentation of tf.Session; and errors that name what was wrong."""

from __future__ import annotations

import collections
import threading

import numpy as np
import pytest

import pslab as tf
from pslab import errors


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_fetches_keep_their_structure() -> None:
    a, b = tf.constant(1.0), tf.constant([2, 3])
    Pair = collections.namedtuple("Pair", "first second")
    with tf.Session() as session:
        found = session.run({"a": a, "list": [b, (a,)], "pair": Pair(a, b), "op": tf.no_op()})
    assert found["a"] == 1.0
    assert isinstance(found["a"], np.float32)
    np.testing.assert_array_equal(found["list"][0], [2, 3])
    assert found["list"][1] == (1.0,)
    assert isinstance(found["pair"], Pair)
    assert found["op"] is None


def test_fetches_by_name_and_of_variables() -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    tf.constant(3, name="three")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        value, three, nothing = session.run([v, "three:0", "three"])
    np.testing.assert_array_equal(value, [1, 2])
    assert three == 3
    assert nothing is None


def test_any_tensor_may_be_fed() -> None:
    a = tf.constant(2.0)
    b = a * 3.0
    c = b + 1.0
    with tf.Session() as session:
        assert session.run(c) == 7
        assert session.run(c, {b: 10.0}) == 11
        assert session.run([b, c], {b: 10.0}) == [10, 11]


def test_values_belong_to_the_caller() -> None:
    v = tf.Variable(np.zeros(3), name="v")
    x = tf.placeholder(tf.float64, [3])
    same = tf.identity(x)
    const = tf.constant([1.0, 2.0])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        fed = np.ones(3)
        for value in session.run([v, same, x, const], {x: fed}):
            np.add(value, 5, out=value)
        assert (fed == 1).all()
        assert (session.run(v) == 0).all()
        np.testing.assert_array_equal(session.run(const), [1, 2])


def test_make_callable() -> None:
    x, y = tf.placeholder(tf.float32, []), tf.placeholder(tf.float32, [])
    with tf.Session() as session:
        subtract = session.make_callable(x - y, [x, y])
        assert subtract(5, 3) == 2
        with pytest.raises(errors.UsageError, match="expected 2 values, for Placeholder:0, Placeholder_1:0; found 1"):
            subtract(5)
    with pytest.raises(errors.UsageError, match="the session is closed"):
        subtract(5, 3)


def test_sessions_on_one_graph_have_variables_of_their_own() -> None:
    v = tf.Variable(0.0)
    add = v.assign_add(1.0)
    with tf.Session() as one, tf.Session() as other:
        for session in (one, other):
            session.run(tf.global_variables_initializer())
        one.run(add)
        assert (one.run(v), other.run(v)) == (1, 0)


def test_the_default_session_and_its_graph(graph) -> None:
    a = tf.constant(4)
    with tf.Session():
        assert a.eval() == 4
        assert tf.get_default_session().graph is graph
    with pytest.raises(errors.UsageError, match="no default session"):
        a.eval()
    session = tf.Session()
    with session.as_default():
        assert a.eval() == 4
    assert session.run(a) == 4
    session.close()
    with pytest.raises(errors.UsageError, match="the session is closed"):
        session.run(a)


def test_the_graph_may_grow_between_runs() -> None:
    a = tf.constant(1)
    with tf.Session() as session:
        assert session.run(a) == 1
        assert session.run(a + 1) == 2


def test_many_threads_may_run() -> None:
    v = tf.Variable(np.int64(0))
    add = v.assign_add(np.int64(1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())

        def work() -> None:
            for _ in range(200):
                session.run(add)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert session.run(v) == 800


# What cannot be meant


def test_an_unfed_placeholder_is_named() -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="images")
    y = x * 2.0
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError) as caught:
        session.run(y)
    assert "placeholder 'images' (float32, shape (?, 3)) was not fed" in str(caught.value)
    assert "test_session.py" in str(caught.value)
    assert caught.value.op == "images"


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((2, 4), np.float32), r"x:0 has shape \(\?, 3\), but a value of shape \(2, 4\) was fed"),
        (np.zeros(3, np.float32), r"x:0 has shape \(\?, 3\), but a value of shape \(3,\) was fed"),
        ([["a", "b", "c"]], "x:0 is float32, but a value of <U1 was fed"),
        ([[1, 2, 3], [4]], "x:0 was fed something that makes no array"),
    ],
)
def test_a_fed_value_must_fit(value, message) -> None:
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError, match=message):
        session.run(x, {x: value})


def test_a_fraction_is_not_fed_to_an_integer() -> None:
    x = tf.placeholder(tf.int32, [], name="x")
    with tf.Session() as session:
        assert session.run(x, {x: np.int64(3)}) == 3
        with pytest.raises(errors.InvalidArgumentError, match="x:0 is int32, but a value of float64 was fed"):
            session.run(x, {x: 2.5})
        with pytest.raises(errors.InvalidArgumentError, match="x:0 is int32"):
            session.run(x, {x: 2**40})


def test_a_symbol_is_not_fed() -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError, match="was fed a symbol"):
        session.run(x, {x: tf.constant(1.0)})


def test_a_variable_that_was_not_initialised_is_named() -> None:
    v = tf.Variable(1.0, name="weights")
    with tf.Session() as session, pytest.raises(errors.FailedPreconditionError, match="variable 'weights' is not initialised"):
        session.run(v)


def test_an_error_in_an_op_tells_op_scope_device_and_line() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    y = tf.placeholder(tf.float32, [None, 2], name="y")
    with tf.name_scope("layer"):
        z = tf.add(x, y, name="sum")
    with tf.Session() as session, pytest.raises(errors.InvalidArgumentError) as caught:
        session.run(z, {x: np.zeros((2, 2)), y: np.zeros((3, 2))})
    error = caught.value
    assert error.op == "layer/sum"
    assert error.device == "/job:localhost/replica:0/task:0/device:CPU:0"
    assert "test_session.py" in error.origin
    assert 'name="sum"' in error.origin


def test_what_is_fetched_must_be_of_this_graph() -> None:
    with tf.Graph().as_default():
        other = tf.constant(1)
    with tf.Session() as session:
        with pytest.raises(errors.GraphError, match="belongs to another graph"):
            session.run(other)
        with pytest.raises(errors.UsageError, match="cannot fetch None"):
            session.run(None)
        with pytest.raises(errors.NotFoundError, match="no op named 'nothing'"):
            session.run("nothing:0")


def test_a_planned_step_is_of_one_graph() -> None:
    with tf.Graph().as_default():
        elsewhere = tf.no_op("elsewhere")
    with tf.Session() as session, pytest.raises(errors.GraphError, match="'elsewhere' belongs to another graph"):
        session.prepare([elsewhere], [])


def test_log_device_placement(capsys) -> None:
    a = tf.constant(1.0, name="a")
    b = tf.add(a, a, name="b")
    with tf.Session(config=tf.ConfigProto(log_device_placement=True)) as session:
        session.run(b)
    assert capsys.readouterr().out.splitlines() == [
        "a: (Const): /job:localhost/replica:0/task:0/device:CPU:0",
        "b: (Add): /job:localhost/replica:0/task:0/device:CPU:0",
    ]


def test_a_device_that_is_not_there() -> None:
    with tf.device("/gpu:7"):
        a = tf.constant(1.0, name="a")
    with tf.Session() as session, pytest.raises(errors.DeviceError, match="op 'a' asks for /device:GPU:7, but task localhost:0 has only"):
        session.run(a)
    with tf.Session(config=tf.ConfigProto(allow_soft_placement=True)) as session:
        assert session.run(a) == 1
    with tf.device("/job:ps/task:0"):
        c = tf.constant(1.0, name="c")
    with tf.Session() as session, pytest.raises(errors.DeviceError, match="there is no job 'ps'; the cluster has localhost:0"):
        session.run(c)
