from __future__ import annotations

import numpy as np
import pytest

from pslab.errors import FailedPreconditionError, GraphError, OutOfRangeError, ShapeError
from pslab.graph.build import apply_one
from pslab.graph.ops.sources import placeholder
from pslab.graph.variables import Variable, assign, assign_add, assign_sub, count_up_to, is_variable_initialized
from pslab.runtime.task import Task
from pslab.testing.one_task import run


@pytest.fixture
def task():
    return Task("localhost:0")


@pytest.fixture
def variable(graph):
    return Variable(np.array([1.0, 2.0]), name="v")


def test_reading_before_the_first_value_is_an_error(variable, task):
    assert not run(task, is_variable_initialized(variable))
    with pytest.raises(FailedPreconditionError, match="variable 'v' is not initialised"):
        run(task, variable)


def test_assignments_return_the_new_value(variable, task):
    run(task, variable.initializer)
    assert run(task, is_variable_initialized(variable))
    assert run(task, variable).tolist() == [1, 2]
    assert run(task, variable.op.outputs[0]).tolist() == [1, 2]
    assert run(task, variable.assign_add([10.0, 20.0])).tolist() == [11, 22]
    assert run(task, variable.assign_sub([1.0, 2.0])).tolist() == [10, 20]
    assert run(task, variable.assign([5.0, 6.0])).tolist() == [5, 6]
    assert run(task, variable).tolist() == [5, 6]


def test_assignments_by_functions(variable, task):
    run(task, variable.initializer)
    assert run(task, assign(variable, [3.0, 4.0], name="set")).tolist() == [3, 4]
    assert run(task, assign_add(variable, [1.0, 1.0])).tolist() == [4, 5]
    assert run(task, assign_sub(variable, [4.0, 4.0])).tolist() == [0, 1]


def test_what_was_read_does_not_change(variable, task):
    run(task, variable.initializer)
    before = run(task, variable)
    run(task, variable.assign_add([1.0, 1.0]))
    assert before.tolist() == [1, 2]


def test_a_value_that_was_fed_stays_the_feeders(variable, task):
    value = placeholder("float64", [2])
    mine = np.array([3.0, 4.0])
    run(task, variable.assign(value), feeds={value: mine})
    mine[:] = 0
    assert run(task, variable).tolist() == [3, 4]


def test_a_value_must_fit(graph):
    attrs = {"variable": "v", "dtype": "float64", "shape": (2,)}
    with pytest.raises(ShapeError, match="variable 'v' is float64, the value is float32"):
        apply_one("Assign", [placeholder("float32", [2])], **attrs)
    with pytest.raises(ShapeError, match=r"variable 'v' has shape \(2,\), the value has \(3,\)"):
        apply_one("AssignAdd", [placeholder("float64", [3])], **attrs)


def test_a_variable_that_another_program_made_otherwise_is_told():
    import pslab as tf
    from pslab.errors import InvalidArgumentError

    server = tf.train.Server.create_local_server()
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        sess.run(tf.Variable(np.zeros((3, 2)), name="w").initializer)
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        w = tf.Variable(np.zeros((4, 2)), name="w")
        with pytest.raises(InvalidArgumentError, match=r"variable 'w' has shape \(4, 2\) in this program's graph, but \(3, 2\) on its task"):
            sess.run(w)
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        w = tf.Variable(np.zeros((3, 2), np.float32), name="w")
        with pytest.raises(InvalidArgumentError, match=r"variable 'w' is float32 in this program's graph, but float64 on its task"):
            sess.run(w)
    with tf.Graph().as_default(), tf.Session(server.target) as sess:
        assert sess.run(tf.Variable(tf.placeholder(tf.float64), validate_shape=False, name="w")).shape == (3, 2)
    server.close()


def test_counting_up_gives_the_value_before_and_ends(graph, task):
    counter = Variable(np.int64(5), trainable=False, name="counter")
    run(task, counter.initializer)
    up = counter.count_up_to(7)
    assert [int(run(task, up)) for _ in range(2)] == [5, 6]
    assert run(task, counter).dtype == np.int64
    with pytest.raises(OutOfRangeError, match="variable 'counter' has reached its limit of 7"):
        run(task, up)
    assert run(task, counter) == 7


def test_only_an_integer_scalar_counts(graph):
    for value in (1.0, [1, 2]):
        with pytest.raises(GraphError, match="only an integer scalar counts"):
            count_up_to(Variable(value), 3)
