"""Names of before TensorFlow 1.0 and of contrib."""

from __future__ import annotations

import importlib

import pytest

import pslab as tf
from pslab.compat.historical import NOT_THERE, RENAMED, OldPackage, look_up


@pytest.mark.parametrize("name", RENAMED)
def test_a_name_has_not_become_an_old_one(name: str) -> None:
    assert RENAMED[name] not in RENAMED


@pytest.mark.parametrize("name", NOT_THERE)
def test_what_is_not_there_is_not_there_and_says_what_to_do(name: str) -> None:
    package, _, last = name.rpartition(".")
    holder = tf
    for part in filter(None, package.split(".")):
        holder = getattr(holder, part)
    with pytest.raises(AttributeError) as caught:
        getattr(holder, last)
    assert NOT_THERE[name] in str(caught.value)


def test_packages_that_are_names_only() -> None:
    assert isinstance(tf.contrib, OldPackage)
    assert tf.contrib.layers.l2_regularizer is tf.layers.regularizers.l2_regularizer
    assert {"framework", "layers", "rnn"} <= set(dir(tf.contrib))
    assert "BasicLSTMCell" in dir(tf.contrib.rnn)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: tf.train.SumaryWriter, r"pslab has no tf\.train\.SumaryWriter; did you mean tf\.train\.SummaryWriter\?"),
        (lambda: tf.contrib.rnn.BasicLSTMCel, r"did you mean tf\.contrib\.rnn\.BasicLSTMCell\?"),
        (lambda: tf.nn.sofmax, r"did you mean tf\.nn\.softmax\?"),
        (lambda: tf.qqqqq, r"pslab has no tf\.qqqqq$"),
    ],
)
def test_a_slip_names_the_nearest_name(ask, message: str) -> None:
    with pytest.raises(AttributeError, match=message):
        ask()


def test_look_up_finds_nested_names() -> None:
    assert look_up("contrib.framework.get_global_step", []) is tf.train.get_global_step


def test_pythons_own_questions_are_not_looked_up() -> None:
    for module in (tf, tf.contrib, importlib.import_module("pslab.nn")):
        assert not hasattr(module, "__wrapped__")
