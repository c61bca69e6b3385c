"""A set-up goes from one lab to another as a line of text, and there trains as here."""

from __future__ import annotations

import numpy as np
import pytest

import pslab
from pslab.errors import PslabError, UsageError
from pslab.lab.lab import Lab
from pslab.lab.share import Share, read_share

WHOLE = (
    'pslab(update=SSP(staleness=2), commit_every=4, hidden=(32, 16), optimizer="adam", learning_rate=0.01, batch_size=(64, 32, 16), ps=2, workers=3,'
    ' data_seed=3, seed=5, network=Network(bandwidth=12500000.0, latency=0.001, links=((("ps:0", "worker:1"), Link(bandwidth=1250000.0)),)),'
    ' slow=(("worker:1", Pareto(scale=0.01)),))'
)


@pytest.fixture
def labs():
    made = []

    def make(text: str = "") -> Lab:
        made.append(Lab.from_share(text) if text else Lab())
        return made[-1]

    yield make
    for lab in made:
        lab.cluster.stop()


def test_what_is_usual_is_not_told() -> None:
    assert Lab().share() == "pslab()"
    assert read_share("pslab()") == Share()


def test_all_that_was_set_is_told() -> None:
    lab = Lab()
    lab.mode(update=pslab.SSP(staleness=2), commit_every=4)
    lab.model("mlp", hidden=[32, 16], optimizer="adam", learning_rate=0.01, seed=5)
    lab.data(batch_size=[64, 32, 16], seed=3)
    lab.cluster.start(ps=2, workers=3, processes=False)
    try:
        lab.cluster.link("100Mbit", "1ms")
        lab.cluster.link("10Mbit", between=("worker:1", "ps:0"))
        lab.cluster.slow("worker:1", pslab.Pareto(0.01))
        assert lab.share() == WHOLE
    finally:
        lab.cluster.stop()
    assert str(read_share(WHOLE)) == WHOLE


def test_who_takes_it_trains_the_same_bit_for_bit(labs) -> None:
    there = labs()
    there.cluster.start(ps=1, workers=2, processes=False)
    there.mode(update=pslab.Sync())
    there.data(batch_size=16, seed=8)
    there.model(hidden=[8], seed=4)
    here = labs(there.share())
    for lab in (there, here):
        lab.train(20, wait=True)
    assert here.share() == there.share()
    assert (here.cluster.ps, here.cluster.workers) == (1, 2)
    one, other = there.trainer.parameters(), here.trainer.parameters()
    assert one.keys() == other.keys()
    for name, value in one.items():
        np.testing.assert_array_equal(value, other[name])


def test_a_running_cluster_is_scaled_and_nothing_is_left_of_what_was(labs) -> None:
    lab = labs()
    lab.cluster.start(ps=1, workers=2, processes=False)
    lab.cluster.link("50Mbit")
    lab.cluster.slow("worker:1", pslab.Constant(0.01))
    lab.data(batch_size=[8, 4])
    lab.train(5, wait=True)
    lab.take_share("pslab(workers=3, batch_size=(4, 4, 8), update=Sync(backup=1))")
    assert lab.share() == "pslab(update=Sync(backup=1), batch_size=(4, 4, 8), workers=3)"
    assert not lab.cluster.network.shaped
    assert lab.train(5, wait=True).global_step == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("workers=3", "cannot read"),
        ("pslab(worker=3)", "there is no setting 'worker'"),
        ("pslab(workers=0)", "workers must be a whole number from 1 on, found 0"),
        ("pslab(workers=2, batch_size=(1, 2, 3))", "batch_size has 3 numbers, but there are 2 workers"),
        ("pslab(workers=2, update=Sync(backup=2))", "backup"),
        ("pslab(update=3)", "update must be one of"),
        ("pslab(data='letters')", "there is no data set 'letters'"),
        ("pslab(source='cnn')", "there is no setting 'source'"),
        ("pslab(model='cnn')", "there is no model 'cnn'"),
        ("pslab(seed=-1)", "seed must be a whole number from 0 on, found -1"),
        ("pslab(network=2)", "network must be such as"),
        ("pslab(network=Network(links=3))", "does not fit"),
        ("pslab(network=Network(links=((('ps:0', 'ps:1'), Link(latency=1)),)))", "there is no task 'ps:1' among 1 ps and 2 workers"),
        ("pslab(slow=3)", "slow must be such as"),
        ("pslab(slow=(('worker:2', Constant(seconds=1)),))", "there is no task 'worker:2'"),
        ("pslab(slow=(('worker:1', 1),))", "a delay is"),
    ],
)
def test_what_does_not_fit_changes_nothing(labs, text, message) -> None:
    lab = labs()
    lab.mode(commit_every=3)
    lab.cluster.start(ps=1, workers=2, processes=False)
    lab.train(3, wait=True)
    with pytest.raises(PslabError, match=message):
        lab.take_share(text)
    assert lab.share() == "pslab(commit_every=3)"
    assert lab.status().global_step == 3


def test_what_only_this_notebook_has_is_not_told() -> None:
    lab = Lab()
    lab.data((np.random.default_rng(0).normal(size=(50, 3)), np.arange(50) % 2), batch_size=4)
    with pytest.raises(UsageError, match="the data are arrays of this notebook"):
        lab.share()
    lab.data("digits")

    def mine(x, y):
        loss = pslab.reduce_mean(pslab.square(pslab.reduce_sum(x, 1) * pslab.Variable(0.1)))
        return loss, {}

    lab.model(mine)
    with pytest.raises(UsageError, match="mine cannot be told"):
        lab.share()
