"""The accumulator: as a table of what is accepted, and against a model under arbitrary sequences."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from pslab.errors import InvalidArgumentError
from pslab.graph.registry import NOT_YET
from pslab.sync.accumulator import Accumulator


def array(*values, dtype="float64"):
    return np.asarray(values, dtype)


@pytest.mark.parametrize(
    ("global_step", "local_step", "accepted"),
    [(0, 0, True), (5, 4, False), (5, 5, True), (5, 6, True), (5, 0, False), (0, 9, True)],
)
def test_a_gradient_is_stale_if_its_step_is_less_than_the_global_one(global_step, local_step, accepted):
    accumulator = Accumulator(global_step)
    assert accumulator.apply_grad(0, local_step, array(1)) is accepted
    assert accumulator.stats() == (int(accepted), int(not accepted), int(accepted))


@pytest.mark.parametrize(
    ("handed_in", "required", "mean"),
    [
        ([], 1, None),
        ([2.0], 1, 2.0),
        ([2.0], 2, None),
        ([2.0, 4.0], 2, 3.0),
        ([2.0, 4.0, 9.0], 2, 5.0),  # more than required: all count
    ],
)
def test_the_mean_is_given_once_there_are_enough(handed_in, required, mean):
    accumulator = Accumulator()
    for worker, value in enumerate(handed_in):
        accumulator.apply_grad(worker, 0, array(value))
    found = accumulator.take_grad(required)
    if mean is None:
        assert found is NOT_YET
        assert accumulator.pending() == len(handed_in)
        assert accumulator.global_step == 0
    else:
        assert found.tolist() == [mean]
        assert accumulator.pending() == 0
        assert accumulator.global_step == 1


def test_a_gradient_that_comes_after_the_take_is_stale():
    accumulator = Accumulator()
    accumulator.apply_grad(0, 0, array(1))
    accumulator.take_grad(1)
    assert not accumulator.apply_grad(1, 0, array(2))
    assert accumulator.apply_grad(1, 1, array(3))
    assert accumulator.stats() == (2, 1, 1)


def test_the_global_step_can_be_set_forth_and_back():
    accumulator = Accumulator()
    accumulator.set_global_step(10)
    assert not accumulator.apply_grad(0, 9, array(1))
    accumulator.set_global_step(3)
    assert accumulator.apply_grad(0, 3, array(1))


@given(st.permutations(range(5)), st.sampled_from(["float32", "float64"]))
def test_the_sum_is_the_same_bit_for_bit_in_every_order_of_arrival(order, dtype):
    rng = np.random.default_rng(0)
    gradients = [(rng.normal(size=40) * 10.0 ** rng.integers(-6, 6)).astype(dtype) for _ in range(5)]
    expected = (((gradients[0] + gradients[1]) + gradients[2]) + gradients[3]) + gradients[4]
    accumulator = Accumulator()
    for worker in order:
        accumulator.apply_grad(worker, 0, gradients[worker])
    mean = accumulator.take_grad(5)
    assert mean.dtype == dtype
    assert mean.tobytes() == (expected / 5).astype(dtype).tobytes()


def test_some_orders_of_addition_do_differ():
    """Else the test above could not fail."""
    rng = np.random.default_rng(0)
    gradients = [rng.normal(size=40) * 10.0 ** rng.integers(-6, 6) for _ in range(5)]
    sums = set()
    for order in itertools.permutations(gradients):
        total = order[0].copy()
        for gradient in order[1:]:
            total += gradient
        sums.add(total.tobytes())
    assert len(sums) > 1


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("shape", [(2,), ()])
def test_writes_to_nothing_that_it_was_given(count, shape):
    accumulator = Accumulator()
    given = [np.full(shape, 2.0) for _ in range(count)]
    for worker, gradient in enumerate(given):
        gradient.setflags(write=False)
        accumulator.apply_grad(worker, 0, gradient)
    mean = accumulator.take_grad(count)
    assert isinstance(mean, np.ndarray)
    assert not any(np.shares_memory(mean, gradient) for gradient in given)


@pytest.mark.parametrize("other", [array(1, 2), array(1, dtype="float32")])
def test_gradients_that_differ_in_shape_or_dtype_are_refused(other):
    accumulator = Accumulator()
    accumulator.apply_grad(0, 0, array(1))
    with pytest.raises(InvalidArgumentError, match=r"the gradient of worker 3 is .* that of worker 0 float64"):
        accumulator.apply_grad(3, 0, other)
    assert accumulator.stats() == (1, 0, 1)


@pytest.mark.parametrize("required", [0, -1])
def test_a_mean_of_nothing_is_refused(required):
    with pytest.raises(InvalidArgumentError, match="at least 1"):
        Accumulator().take_grad(required)


class AgainstAModel(RuleBasedStateMachine):
    """The model: a step, a dictionary of lists by worker, and two counts."""

    def __init__(self):
        super().__init__()
        self.accumulator = Accumulator()
        self.step, self.lists, self.applied, self.dropped = 0, {}, 0, 0

    @rule(worker=st.integers(0, 3), lag=st.integers(-2, 2), value=st.integers(-8, 8))
    def apply(self, worker, lag, value):
        accepted = self.accumulator.apply_grad(worker, self.step - lag, array(value))
        assert accepted == (lag <= 0)
        if accepted:
            self.lists.setdefault(worker, []).append(value)
            self.applied += 1
        else:
            self.dropped += 1

    @rule(required=st.integers(1, 4))
    def take(self, required):
        values = [v for worker in sorted(self.lists) for v in self.lists[worker]]
        found = self.accumulator.take_grad(required)
        if len(values) < required:
            assert found is NOT_YET
        else:
            assert found.tolist() == [sum(values) / len(values)]
            self.lists, self.step = {}, self.step + 1

    @rule(by=st.integers(-3, 3))
    def set_step(self, by):
        self.step += by
        self.accumulator.set_global_step(self.step)

    @invariant()
    def counts_agree(self):
        assert self.accumulator.global_step == self.step
        assert self.accumulator.stats() == (self.applied, self.dropped, sum(map(len, self.lists.values())))


TestAgainstAModel = AgainstAModel.TestCase


class TestWeights:
    """A gradient counts as much as it weighs."""

    @given(st.lists(st.tuples(st.integers(1, 9), st.integers(-50, 50)), min_size=1, max_size=6), st.randoms(use_true_random=False))
    def test_the_mean_is_weighted(self, handed_in, random):
        order = list(enumerate(handed_in))
        random.shuffle(order)
        accumulator = Accumulator()
        for worker, (weight, value) in order:
            accumulator.apply_grad(worker, 0, array(value), weight)
        assert accumulator.take(len(order) + 1, "weighted") is NOT_YET
        found = accumulator.take(len(order), "weighted")
        assert found.tolist() == pytest.approx([sum(w * v for w, v in handed_in) / sum(w for w, _ in handed_in)], rel=1e-12, abs=1e-12)
        assert (accumulator.pending(), accumulator.global_step) == (0, 1)

    @given(st.permutations(range(4)), st.integers(1, 1000), st.sampled_from(["float32", "float64"]))
    def test_equal_weights_are_none_bit_for_bit(self, order, weight, dtype):
        rng = np.random.default_rng(1)
        gradients = [(rng.normal(size=40) * 10.0 ** rng.integers(-6, 6)).astype(dtype) for _ in range(4)]
        weighed, plain = Accumulator(), Accumulator()
        for worker in order:
            weighed.apply_grad(worker, 0, gradients[worker], weight)
            plain.apply_grad(worker, 0, gradients[worker])
        found = weighed.take(4, "weighted")
        assert found.dtype == dtype
        assert found.tobytes() == plain.take_grad(4).tobytes()

    def test_weights_count_in_no_plain_mean_and_in_no_sum(self):
        for aggregation, wanted in (("mean", 3.0), ("sum", 6.0)):
            accumulator = Accumulator()
            accumulator.apply_grad(0, 0, array(2), 10)
            accumulator.apply_grad(1, 0, array(4), 1)
            assert accumulator.take(2, aggregation).tolist() == [wanted]

    @pytest.mark.parametrize("shape", [(2,), ()])
    def test_writes_to_nothing_that_it_was_given(self, shape):
        given = [np.full(shape, 2.0) for _ in range(2)]
        accumulator = Accumulator()
        for worker, gradient in enumerate(given):
            gradient.setflags(write=False)
            accumulator.apply_grad(worker, 0, gradient, worker + 1)
        mean = accumulator.take(2, "weighted")
        assert isinstance(mean, np.ndarray)
        assert not any(np.shares_memory(mean, gradient) for gradient in given)

    def test_a_gradient_without_weight_is_refused(self):
        with pytest.raises(InvalidArgumentError, match="worker 3 weighs 0"):
            Accumulator().apply_grad(3, 0, array(1), 0)


def test_it_says_whose_gradients_wait() -> None:
    accumulator = Accumulator()
    for worker in (2, 0):
        accumulator.apply_grad(worker, 0, np.ones(1))
    assert accumulator.workers == (2, 0)
    accumulator.take(2, "mean")
    accumulator.apply_grad(1, 0, np.ones(1))  # stale
    assert accumulator.workers == ()


class TestChosen:
    """Where it is said whose gradients make an update, those are taken and no others."""

    def test_the_oldest_of_each_are_taken_and_the_rest_stays(self):
        accumulator = Accumulator()
        for worker, value in ((1, 10), (0, 1), (1, 20), (2, 5)):
            accumulator.apply_grad(worker, 0, array(value))
        assert accumulator.take_of([0, 1], "sum").tolist() == [11]
        assert (accumulator.pending(), accumulator.global_step) == (2, 1)
        assert accumulator.take_of([0], "sum") is NOT_YET
        assert accumulator.pending() == 2
        assert accumulator.take_of([1, 2], "mean").tolist() == [12.5]

    def test_of_one_worker_several_in_the_order_they_came(self):
        accumulator = Accumulator()
        for value in (1, 2, 3):
            accumulator.apply_grad(0, 0, array(value), weight=value)
        assert accumulator.take_of([0, 0], "weighted").tolist() == pytest.approx([5 / 3])
        assert accumulator.take_of([0], "mean").tolist() == [3]
