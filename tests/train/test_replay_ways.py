"""Replay of all that a training may do besides: compress, read from files, drop units out, begin at starts of its own, go in a ring."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.train.apply_log import ApplyLog
from pslab.train.model import Model
from pslab.train.models import MLP
from pslab.train.reading import Reading
from pslab.train.strategy import Strategy
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.train.replays import again, run, same

COMPRESSIONS = [tf.Float16(), tf.Int8(), tf.OneBit(), tf.TopK(0.1), tf.TopK(0.1, error_feedback=False), tf.RandomK(0.2)]


def dropping(x, y):
    """A network of which units are dropped out at random in each step, in tests as well."""
    hidden = tf.nn.dropout(tf.layers.dense(x, 16, activation=tf.nn.relu), keep_prob=0.7)
    return tf.losses.sparse_softmax_cross_entropy(y, tf.layers.dense(hidden, 3)), {}


DROPPING = Model(dropping, "dropping", learning_rate=0.1, seed=4)


@pytest.mark.parametrize("ps", [1, 2])
@pytest.mark.parametrize("compression", COMPRESSIONS, ids=str)
def test_what_is_compressed_is_replayed_with_its_residuals(compression, ps) -> None:
    log, ends = run([Strategy(compression=compression)], ps, workers=2)
    same(again(log), ends[-1])


@pytest.mark.parametrize(
    "strategy",
    [
        Strategy(update=KAsync(1), compression=tf.OneBit()),
        Strategy(update=SSP(1), compression=tf.RandomK(0.2)),
        Strategy("in-graph", Async(), compression=tf.TopK(0.1)),
        Strategy(commit_every=2, commit=tf.Differences(), compression=tf.Int8()),
    ],
    ids=str,
)
def test_compression_goes_together_with_other_rules(strategy) -> None:
    log, ends = run([strategy], ps=2, workers=2, steps=40)
    same(again(log), ends[-1])


@pytest.mark.parametrize(
    "strategy",
    [Strategy(update=Sync()), Strategy("in-graph", Sync()), Strategy(update=tf.RingAllReduce()), Strategy("in-graph", tf.Pipeline(4))],
    ids=str,
)
def test_where_nothing_races_the_log_has_no_order_and_a_replay_is_the_training_again(strategy) -> None:
    staged = Model(MLP(3, [10], stages=2), optimizer="momentum", learning_rate=0.05, seed=7)
    log, ends = run([strategy], 2, 2, staged, steps=30)
    assert [len(order) for order in log.epochs[0].orders] == [0, 0]
    same(again(log, staged), ends[-1])
    same(again(log, staged, until=11), run([strategy], 2, 2, staged, steps=11)[1][-1])


@pytest.mark.parametrize("reading", [Reading.FILES, Reading.PRELOADED])
@pytest.mark.parametrize("strategy", [Strategy(), Strategy("in-graph", Async()), Strategy(update=KAsync(1))], ids=str)
def test_examples_come_in_as_they_did(strategy, reading) -> None:
    log, ends = run([strategy, Strategy(update=Sync())], ps=2, workers=2, steps=40, reading=reading)
    assert log.reading is reading
    same(again(log), ends[-1])


@pytest.mark.parametrize("strategy", [Strategy(), Strategy("in-graph", Async()), Strategy(update=Sync()), Strategy(update=Sync(backup=1))], ids=str)
def test_units_are_dropped_out_that_were_dropped_out_then(strategy, tmp_path) -> None:
    """After a change of mode, too, when each worker has drawn as often as it was fast; and whatever is tested meanwhile."""
    log, ends = run([strategy, Strategy()], 1, 2, DROPPING, steps=40, between=lambda trainer: [trainer.evaluate() for _ in range(3)])
    assert any(states for states in log.epochs[1].generators.values())
    same(again(ApplyLog.load(log.save(tmp_path / "log")), DROPPING), ends[-1])
    same(again(log, DROPPING, until=40), ends[0])


def test_replicas_begin_at_the_starts_that_they_had() -> None:
    apart = Strategy(commit_every=2, commit=tf.Differences(own_start=True))
    log, ends = run([apart, Strategy(), apart], ps=1, workers=2, steps=20)
    same(again(log), ends[-1])
    same(again(log, until=20), ends[0])


def test_a_test_draws_from_sequences_of_its_own() -> None:
    alone = run([Strategy(update=Sync())], 1, 2, DROPPING, steps=20)[1][0]
    watched = run([Strategy(update=Sync())], 1, 2, DROPPING, steps=20, between=lambda trainer: [trainer.evaluate() for _ in range(5)])[1][0]
    for name, value in alone.items():
        np.testing.assert_array_equal(value, watched[name])
