"""The history that never grows: its means are those of the records, however many come, and in whatever portions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pslab.lab.panel.buckets import MOST, Buckets
from tests.trace.steps import steps


def column(buckets: Buckets, name: str) -> np.ndarray:
    return buckets.all().means[buckets.columns.index(name)]


def test_a_bucket_is_the_mean_of_what_it_has() -> None:
    buckets = Buckets(("accuracy",), 2)
    buckets.add(
        steps([5, 5, 6], ("accuracy",), loss=[1.0, 3.0, 5.0], metric_accuracy=[0.0, 1.0, np.nan], worker=[0, 1, 0], divergence=[0.5, 0.25, np.nan])
    )
    assert (buckets.origin, buckets.width) == (5, 1)
    assert column(buckets, "step").tolist() == [5, 6]
    assert column(buckets, "loss").tolist() == [2, 5]
    np.testing.assert_array_equal(column(buckets, "accuracy"), [0.5, np.nan])
    np.testing.assert_array_equal(column(buckets, "divergence:0"), [0.5, np.nan])
    np.testing.assert_array_equal(column(buckets, "divergence:1"), [0.25, np.nan])


def test_observed_steps_say_nothing_of_costs() -> None:
    buckets = Buckets((), 1)
    buckets.add(steps([1, 1], compute=[0.25, 8.0], bytes_pushed=[100, 300], loss=[1.0, 3.0], observed=[False, True]))
    assert [column(buckets, name)[0] for name in ("compute", "bytes_pushed", "loss")] == [0.25, 100, 2]


def test_a_worker_that_there_is_no_more_has_no_divergence_but_a_loss() -> None:
    buckets = Buckets((), 1)
    buckets.add(steps([1], worker=[3], divergence=[0.5], loss=[2.0]))
    assert column(buckets, "loss").tolist() == [2]
    assert np.isnan(column(buckets, "divergence:0")).all()


@settings(max_examples=40, deadline=None)
@given(st.lists(st.integers(0, 5000), min_size=1, max_size=300), st.integers(1, 40), st.randoms())
def test_portions_and_order_make_no_difference(numbers: list[int], portion: int, random) -> None:
    records = steps(sorted(numbers), loss=np.arange(len(numbers), dtype=float))
    whole = Buckets((), 1)
    whole.add(records)
    tail = list(range(1, len(records)))  # the first sets the origin
    random.shuffle(tail)
    shuffled = records[[0, *tail]]
    pieces = Buckets((), 1)
    for begin in range(0, len(shuffled), portion):
        pieces.add(shuffled[begin : begin + portion])
    assert (pieces.width, pieces.origin) == (whole.width, whole.origin)
    np.testing.assert_allclose(pieces.all().means, whole.all().means, rtol=1e-5)
    centres = (records["global_step"] - whole.origin) // whole.width
    for bucket in np.unique(centres):
        assert column(whole, "loss")[bucket] == pytest.approx(records["loss"][centres == bucket].mean(), rel=1e-5)


def test_a_million_steps_take_no_more_room_than_a_few_hundred() -> None:
    buckets, rng = Buckets(("accuracy",), 8), np.random.default_rng(1)
    room = buckets._sums.nbytes + buckets._counts.nbytes
    losses = rng.random(1_000_000)
    for begin in range(0, 1_000_000, 8000):
        part = slice(begin, begin + 8000)
        buckets.add(steps(np.arange(begin, begin + 8000), ("accuracy",), loss=losses[part], worker=np.arange(8000) % 8))
    assert buckets._sums.nbytes + buckets._counts.nbytes == room
    assert buckets.width == 2048
    means = buckets.all().means
    assert MOST / 2 <= means.shape[1] <= MOST
    assert column(buckets, "loss")[3] == pytest.approx(losses[3 * 2048 : 4 * 2048].mean(), rel=1e-6)


def test_only_what_has_changed_is_told() -> None:
    buckets = Buckets((), 1)
    assert buckets.add(steps([0, 1, 2], loss=[1.0, 2.0, 3.0]))
    assert buckets.changed().means.shape[1] == 3
    assert buckets.changed().means.shape[1] == 0
    assert not buckets.add(steps([2, 3], loss=[5.0, 7.0]))
    first, means = buckets.changed()
    assert first == 2
    assert means[buckets.columns.index("loss")].tolist() == [4, 7]


def test_longer_stretches_are_told_as_a_change_of_all() -> None:
    buckets = Buckets((), 1)
    buckets.add(steps(np.arange(MOST), loss=1.0))
    buckets.changed()
    assert buckets.add(steps([MOST], loss=1.0))
    assert buckets.width == 2
    assert buckets.changed()[0] == 0


def test_after_a_return_to_an_earlier_step_the_later_ones_are_forgotten() -> None:
    buckets = Buckets((), 1)
    buckets.add(steps(np.arange(10), loss=np.arange(10.0)))
    buckets.cut(4)
    assert column(buckets, "loss").tolist() == [0, 1, 2, 3, 4]
    buckets.add(steps([5], loss=[50.0]))
    assert column(buckets, "loss")[5] == 50
