"""Checkpoints without a model, and variables that begin with one."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.checkpoint.files import write_checkpoint
from pslab.checkpoint.state import update_checkpoint_state
from pslab.errors import InvalidArgumentError, NotFoundError, UsageError

ARRAYS = {"net/w": np.arange(6, dtype=np.float32).reshape(2, 3), "net/b": np.ones(3, np.float32), "global_step": np.int64(7)}


@pytest.fixture
def prefix(tmp_path):
    prefix = write_checkpoint(tmp_path / "m-7", ARRAYS)
    update_checkpoint_state(tmp_path, prefix)
    return prefix


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_reader(prefix, tmp_path):
    for reader in (tf.train.NewCheckpointReader(prefix), tf.train.load_checkpoint(prefix), tf.train.load_checkpoint(tmp_path)):
        assert reader.get_variable_to_shape_map() == {"global_step": [], "net/b": [3], "net/w": [2, 3]}
        assert reader.get_variable_to_dtype_map() == {"global_step": tf.int64, "net/b": tf.float32, "net/w": tf.float32}
        assert reader.has_tensor("net/w") and not reader.has_tensor("w")
        np.testing.assert_array_equal(reader.get_tensor("net/w"), ARRAYS["net/w"])
        assert reader.get_tensor("global_step") == 7
        assert reader.debug_string() == "global_step (int64) []\nnet/b (float32) [3]\nnet/w (float32) [2, 3]"
    assert tf.train.list_variables(tmp_path) == [("global_step", []), ("net/b", [3]), ("net/w", [2, 3])]
    np.testing.assert_array_equal(tf.train.load_variable(prefix, "net/b:0"), [1, 1, 1])
    with pytest.raises(NotFoundError, match="has no 'w'"):
        tf.train.load_variable(prefix, "w")
    [written] = tf.train.get_checkpoint_mtimes([prefix, str(tmp_path / "none")])
    assert written > 1.7e9


def test_a_directory_without_one(tmp_path):
    with pytest.raises(NotFoundError, match="no checkpoint in"):
        tf.train.load_checkpoint(tmp_path)


@pytest.mark.parametrize("mapping", ["scope", "root", "name", "variable"])
def test_variables_begin_with_a_checkpoint(prefix, mapping):
    scope = "" if mapping == "root" else "model/"
    w = tf.Variable(tf.zeros([2, 3]), name=f"{scope}w")
    b = tf.Variable(tf.zeros([3]), name=f"{scope}b")
    maps = {
        "scope": {"net/": "model/"},
        "root": {"net/": "/"},
        "name": {"net/w": "model/w", "net/b": "model/b"},
        "variable": {"net/w": w, "net/b": b},
    }
    tf.train.init_from_checkpoint(prefix, maps[mapping])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(w), ARRAYS["net/w"])
        np.testing.assert_array_equal(session.run(b), ARRAYS["net/b"])


def test_what_does_not_fit_is_told_and_nothing_changed(prefix):
    w = tf.Variable(tf.zeros([3, 3]), name="w")
    before = w.initializer
    with pytest.raises(InvalidArgumentError, match=r"has shape \(2, 3\), expected \(3, 3\)"):
        tf.train.init_from_checkpoint(prefix, {"net/w": w})
    with pytest.raises(NotFoundError, match="'other' is not in it"):
        tf.train.init_from_checkpoint(prefix, {"other": w})
    with pytest.raises(UsageError, match="no variables in scope 'none/'"):
        tf.train.init_from_checkpoint(prefix, {"net/": "none/"})
    with pytest.raises(UsageError, match="no variable 'v'"):
        tf.train.init_from_checkpoint(prefix, {"net/w": "v"})
    assert w.initializer is before
