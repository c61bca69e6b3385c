"""Parts that are given, found in collections, or made."""

from __future__ import annotations

import pytest

import pslab as tf
from pslab.errors import GraphError


def test_all_parts_are_made() -> None:
    v = tf.Variable([1.0, 2.0], name="v")
    local = tf.Variable(3.0, name="local", collections=[tf.GraphKeys.LOCAL_VARIABLES])
    tf.summary.scalar("loss", 1.0)
    scaffold = tf.train.Scaffold().finalize()
    with tf.Session() as sess:
        assert list(sess.run(scaffold.ready_op)) == [b"v", b"local"]
        sess.run(scaffold.init_op)
        assert list(sess.run(scaffold.ready_for_local_init_op)) == []
        sess.run(scaffold.local_init_op)
        assert list(sess.run(scaffold.ready_op)) == []
        assert isinstance(sess.run(scaffold.summary_op), bytes)
    assert scaffold.saver is tf.get_collection(tf.GraphKeys.SAVERS)[0]
    assert v is not local


def test_what_is_in_a_collection_is_taken() -> None:
    v = tf.Variable(1.0)
    init = tf.no_op("my_init")
    tf.add_to_collection(tf.GraphKeys.INIT_OP, init)
    assert tf.train.Scaffold().finalize().init_op is init
    assert v is not None


def test_two_in_a_collection_are_ambiguous() -> None:
    tf.Variable(1.0)
    tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    tf.add_to_collection(tf.GraphKeys.INIT_OP, tf.no_op())
    with pytest.raises(RuntimeError, match="More than one item in the collection"):
        tf.train.Scaffold().finalize()


def test_the_graph_is_final_afterwards() -> None:
    tf.Variable(1.0)
    tf.train.Scaffold().finalize()
    with pytest.raises(GraphError, match="finalized"):
        tf.constant(1)


def test_a_copy_has_the_others_parts() -> None:
    tf.Variable(1.0)
    init, ready = tf.no_op("init"), tf.constant([], tf.string)
    calls = []
    first = tf.train.Scaffold(init_op=init, init_fn=lambda scaffold, sess: calls.append((scaffold, sess)))
    second = tf.train.Scaffold(ready_op=ready, copy_from_scaffold=first)
    assert second.init_op is init and second.ready_op is ready
    second.init_fn("session")
    assert calls == [(first, "session")]
