from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import GraphError, UnimplementedError


def names(scope):
    """Of a scope: its own, that of its name scope, and that of an op built in it."""
    return scope.name, scope.original_name_scope, tf.no_op().name


def test_a_name_prolongs_both_scopes():
    with tf.variable_scope("s") as s:
        assert names(s) == ("s", "s/", "s/NoOp")
        with tf.variable_scope("in") as inner:
            assert names(inner) == ("s/in", "s/in/", "s/in/NoOp")
    with tf.variable_scope("a/b") as s:
        assert names(s) == ("a/b", "a/b/", "a/b/NoOp")


def test_opened_again_the_name_scope_is_another():
    with tf.variable_scope("s") as first:
        pass
    with tf.variable_scope("s") as second:
        assert names(second) == ("s", "s_1/", "s_1/NoOp")
    with tf.variable_scope(first) as third:
        assert names(third) == ("s", "s/", "s_2/NoOp")
    with tf.variable_scope("other"), tf.variable_scope(first) as elsewhere:
        assert names(elsewhere) == ("s", "s/", "other/s/NoOp")
    with tf.variable_scope(first, auxiliary_name_scope=False) as bare:
        assert names(bare) == ("s", "s/", "NoOp")


def test_the_root_opens_no_name_scope():
    with tf.variable_scope(tf.get_variable_scope(), reuse=True) as root:
        assert names(root) == ("", "", "NoOp")
        assert root.reuse is True
    assert not tf.get_variable_scope().reuse


def test_a_default_name_is_made_unique_within_its_outer_scope():
    for wanted in ("d", "d_1", "d_2"):
        with tf.variable_scope(None, "d") as scope:
            assert names(scope) == (wanted, f"{wanted}/", f"{wanted}/NoOp")
    for _ in range(2):  # what was counted within a scope is forgotten at its end
        with tf.variable_scope("outer"), tf.variable_scope(None, "d") as scope:
            assert scope.name == "outer/d"
    with tf.variable_scope("outer") as outer, tf.variable_scope(None, "d"):
        pass
    with tf.variable_scope(outer), tf.variable_scope(None, "d") as scope:
        assert scope.name == "outer/d"


def test_names_of_variables_follow_variable_scopes_alone():
    with tf.name_scope("ops"), tf.variable_scope("s"), tf.name_scope("more"):
        w = tf.get_variable("w", [2])
        v = tf.Variable(0.0, name="v")
    assert w.name == "s/w:0"
    assert w.initial_value.op.name.startswith("s/w/Initializer/")
    assert v.name == "ops/s/more/v:0"


def test_defaults_are_inherited_and_may_be_changed(run):
    with tf.variable_scope("s", initializer=tf.constant_initializer(3.0), dtype=tf.float64, regularizer=tf.nn.l2_loss) as s:
        a = tf.get_variable("a", [2])
        with tf.variable_scope("in"):
            b = tf.get_variable("b", [], initializer=tf.zeros_initializer(), dtype=tf.float32, regularizer=tf.no_regularizer)
        s.set_initializer(tf.ones_initializer())
        s.set_regularizer(None)
        s.set_dtype("float32")
        c = tf.get_variable("c", [1])
    assert [v.dtype for v in (a, b, c)] == [tf.float64, tf.float32, tf.float32]
    found = run([a, b, c])
    assert [np.ravel(v).tolist() for v in found] == [[3, 3], [0], [1]]
    [loss] = tf.losses.get_regularization_losses()
    assert loss.name == "s/a/Regularizer/L2Loss:0"
    assert run(loss) == 9


def test_reuse_is_inherited_and_can_be_switched_on():
    with tf.variable_scope("s") as s:
        w = tf.get_variable("w", [2])
        s.reuse_variables()
        assert tf.get_variable("w", [2]) is w
    with tf.variable_scope("s", reuse=True):
        assert tf.get_variable("w") is w
        with tf.variable_scope("in", reuse=False), pytest.raises(GraphError, match="'s/in/w' does not exist"):
            tf.get_variable("w", [2])
    with tf.variable_scope("s", reuse=tf.AUTO_REUSE):
        assert tf.get_variable("w", [2]) is w
        assert tf.get_variable("new", [2]) is tf.get_variable("new", [2])
    with tf.variable_scope(s, reuse=True):
        assert tf.get_variable("w") is w


def test_a_custom_getter_stands_before_the_usual_one():
    asked = []

    def outer(getter, name, *args, **kwargs):
        asked.append(("outer", name))
        return getter(name, *args, **kwargs)

    def inner(getter, name, *args, **kwargs):
        asked.append(("inner", name))
        return getter(name, *args, **{**kwargs, "trainable": False})

    with tf.variable_scope("s", custom_getter=outer), tf.variable_scope("t", custom_getter=inner):
        assert not tf.get_variable("w", [2]).trainable
    assert asked == [("inner", "s/t/w"), ("outer", "s/t/w")]
    w = tf.get_variable("w", [2], custom_getter=inner)
    assert (w.name, w.trainable) == ("w:0", False)


def test_each_graph_has_its_own(graph):
    with tf.variable_scope("s"):
        w = tf.get_variable("w", [2])
        with tf.Graph().as_default():
            assert tf.get_variable_scope().name == ""
            with tf.variable_scope("s"):
                assert tf.get_variable("w", [3]).shape == [3]
        assert tf.get_variable_scope().name == "s"
    x = tf.zeros([1])
    with tf.Graph().as_default(), tf.variable_scope("s", values=[x], reuse=True):
        assert tf.get_variable("w") is w


def test_variables_of_a_scope():
    with tf.variable_scope("s") as s:
        w, _ = tf.get_variable("w", [2]), tf.get_variable("n", [], trainable=False)
    tf.get_variable("sw", [2])
    assert [v.name for v in s.global_variables()] == ["s/w:0", "s/n:0"]
    assert s.trainable_variables() == [w]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"name_or_scope": None}, "needs a name, a scope, or a default_name"),
        ({"name_or_scope": None, "default_name": "d", "reuse": True}, "reuse=True needs a name"),
    ],
)
def test_a_scope_needs_a_name(arguments, message):
    with pytest.raises(ValueError, match=message), tf.variable_scope(**arguments):
        pass


def test_what_is_no_scope_is_refused():
    with pytest.raises(TypeError, match="not by int"), tf.variable_scope(3):
        pass
    with pytest.raises(UnimplementedError, match="constraint="), tf.variable_scope("s", constraint=abs):
        pass
