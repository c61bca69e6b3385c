"""Fingerprints: the same for the same data and model, and another where anything differs that a replay would notice."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pslab as tf
from pslab.data.datasets import Dataset, load
from pslab.errors import UsageError
from pslab.train.apply_log import ApplyLog
from pslab.train.fingerprint import fingerprint, require_same
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.rehearsal import replay
from pslab.train.strategy import Strategy
from tests.train.replays import run
from tests.train.tasks import LocalTasks
from tests.train.test_values import data, model

X, Y = np.arange(60, dtype=np.float32).reshape(20, 3), np.arange(20) % 2


def dataset(x=X, y=Y) -> Dataset:
    return Dataset("numbers", x, y, x[:2], y[:2])


def mlp(**fields) -> Model:
    return Model(**{"build": MLP(2, [4]), "seed": 1, **fields})


def test_what_is_built_alike_has_the_same_fingerprint() -> None:
    first, second = fingerprint(dataset(), mlp()), fingerprint(dataset(X.copy(), Y.copy()), mlp())
    assert first == second
    assert (first["examples"], first["targets"]) == ("(20, 3) float32", "(20,) int64")
    assert first["variable hidden_0/weights"] == "(3, 4) float32"
    require_same(first, second)


CHANGED = X.copy()
CHANGED[7, 1] = np.nextafter(CHANGED[7, 1], np.float32(np.inf))


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (dataset(CHANGED), "another data set: contents of the examples: "),
        (dataset(X.astype(np.float64)), r"another data set: examples: \(20, 3\) float32 in the log, \(20, 3\) float64 here"),
        (dataset(X[:19], Y[:19]), r"another data set: examples: \(20, 3\) float32 in the log, \(19, 3\) float32 here"),
        (dataset(y=1 - Y), "another data set: contents of the targets: "),
    ],
)
def test_another_data_set_is_refused_with_what_differs(other, told) -> None:
    with pytest.raises(UsageError, match=told):
        require_same(fingerprint(dataset(), mlp()), fingerprint(other, mlp()))


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (mlp(build=MLP(2, [5])), r"variable hidden_0/weights: \(3, 4\) float32 in the log, \(3, 5\) float32 here"),
        (mlp(build=MLP(2, [4, 4])), "variable hidden_1/weights: not there in the log"),
        (mlp(optimizer="momentum"), "variable hidden_0/weights/Momentum: not there in the log"),
        (mlp(learning_rate=0.2), "op .*learning_rate: Const 0.1 [0-9a-f]* in the log, Const 0.2 "),
        (mlp(seed=2), "op .*: TruncatedNormal "),
        (mlp(placement="by-bytes"), "placement of variables: in-turn in the log, by-bytes here"),
        (mlp(build=lambda x, y: (tf.reduce_mean(tf.square(tf.Variable(1.0) * x)), {})), "not there here"),
    ],
)
def test_another_model_is_refused_with_what_differs(other, told) -> None:
    with pytest.raises(UsageError, match=f"another model: .*{told}"):
        require_same(fingerprint(dataset(), mlp()), fingerprint(dataset(), other))


def test_a_function_of_the_program_s_own_is_the_same_in_another_run() -> None:
    def build(x, y):
        return tf.reduce_mean(tf.square(tf.Variable(1.0) * tf.py_func(np.abs, [x], tf.float32))), {}

    assert fingerprint(dataset(), Model(build)) == fingerprint(dataset(), Model(build))


def test_parts_are_told_by_their_names_and_the_first_one_s_examples(tmp_path) -> None:
    for name in "ab":
        np.savez(tmp_path / f"{name}.npz", x=X, y=Y)
    both, one = (fingerprint(load(str(tmp_path / pattern)), mlp()) for pattern in ("*.npz", "a.npz"))
    assert both["parts"].endswith("b.npz")
    with pytest.raises(UsageError, match="another data set: parts: "):
        require_same(both, one)


def test_a_log_from_a_file_is_replayed_with_nothing_else(tmp_path) -> None:
    log = ApplyLog.load(run([Strategy()], ps=1, workers=2, steps=10)[0].save(tmp_path / "log"))
    assert dict(log.fingerprint) == fingerprint(data("float32"), model("momentum"))
    with LocalTasks(1, 2) as tasks:
        with pytest.raises(UsageError, match="another data set: contents of the examples"):
            replay(tasks, log, replace(data("float32"), x_train=-data("float32").x_train), model("momentum"))
        with pytest.raises(UsageError, match=r"another model: op .*momentum"):
            replay(tasks, log, data("float32"), replace(model("momentum"), optimizer=lambda: tf.train.MomentumOptimizer(0.05, 0.8)))
