"""Division: who gets which examples. Every one comes once per pass, however they are divided; equal sizes are the stream of one process."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.data.batches import Batches, Examples
from pslab.data.division import Division
from pslab.errors import OutOfRangeError, UsageError


def examples(count: int) -> Examples:
    return Examples(np.arange(count * 2.0).reshape(count, 2), np.arange(count))


def drain(batches: Batches) -> list[list[int]]:
    found = []
    while batches.left:
        left = batches.left
        found.append(next(batches)[1].tolist())
        assert batches.left == left - 1
    return found


@st.composite
def divided(draw, shared: bool):
    """A division, the number of workers, and of examples."""
    workers = draw(st.integers(1, 4))
    sizes = draw(st.lists(st.integers(1, 6), min_size=workers, max_size=workers))
    shares = None
    count = draw(st.integers(sum(sizes), 60))
    if shared:
        parts = draw(st.lists(st.integers(1, 10), min_size=workers, max_size=workers))
        count = math.ceil(max(size + 1 for size in sizes) * sum(parts) / min(parts)) + draw(st.integers(0, 30))
        shares = [part / sum(parts) for part in parts]
    return Division(sizes, shares, draw(st.integers(1, 3)), draw(st.integers(0, 5))), workers, count


@given(divided(shared=False))
def test_without_shares_the_workers_batches_of_a_step_are_one_process_with_their_sum(drawn):
    division, workers, count = drawn
    each = [drain(examples(count).batches(division, worker, workers)) for worker in range(workers)]
    whole = drain(Batches(*(examples(count).x, examples(count).y), division.together(workers), division.seed, passes=division.passes))
    assert len(whole) == max(map(len, each))
    for step, wanted in enumerate(whole):
        assert [label for batches in each for label in (batches[step] if step < len(batches) else [])] == wanted


@given(divided(shared=False) | divided(shared=True))
def test_every_example_comes_once_per_pass(drawn):
    division, workers, count = drawn
    division.check(workers, count)
    each = [drain(examples(count).batches(division, worker, workers)) for worker in range(workers)]
    for worker, batches in enumerate(each):
        assert {len(batch) for batch in batches[:-1]} <= {division.sizes(workers)[worker]}
        assert all(batches)
    labels = np.concatenate([np.concatenate(batches) for batches in each if batches])
    np.testing.assert_array_equal(np.bincount(labels.astype(int), minlength=count), division.passes)


@given(divided(shared=True))
def test_each_worker_shuffles_its_own_rows_in_each_pass(drawn):
    division, workers, count = drawn
    owned = []
    for worker in range(workers):
        stream = np.concatenate(drain(examples(count).batches(division, worker, workers)))
        mine = len(stream) // division.passes
        owned.append(set(stream))
        assert abs(mine - division.shares[worker] * count) <= 1
        for k in range(division.passes):
            assert set(stream[k * mine : (k + 1) * mine]) == owned[-1]
    assert sum(map(len, owned)) == len(set().union(*owned)) == count


@given(st.integers(1, 4), st.integers(1, 5), st.integers(20, 60), st.integers(0, 3))
def test_an_endless_division_into_equal_batches_is_the_stream_as_it_was(workers, size, count, seed):
    for worker in range(workers):
        found = examples(count).batches(Division(size, seed=seed), worker, workers)
        same = examples(count).batches(Division([size] * workers, seed=seed), worker, workers)
        for step in range(3 * count // (size * workers) + 2):
            order = np.concatenate([np.random.default_rng([seed, epoch]).permutation(count) for epoch in range(5)])
            first = (step * workers + worker) * size
            wanted = order[first : first + size].tolist()
            assert next(found)[1].tolist() == next(same)[1].tolist() == wanted
        assert found.left == math.inf


@given(divided(shared=False) | divided(shared=True))
def test_files_of_a_workers_own_have_nothing_in_common_and_are_as_large_as_its_batches(drawn):
    division, workers, count = drawn
    files = [examples(count).batches(division, worker, workers).share()[1].tolist() for worker in range(workers)]
    assert sorted(label for labels in files for label in labels) == list(range(count))
    if division.shares is None:
        sizes = division.sizes(workers)
        for labels, size in zip(files, sizes, strict=True):
            assert abs(len(labels) - size * count / sum(sizes)) <= max(sizes)


def test_a_last_batch_is_smaller_and_nothing_comes_after_it():
    first, second = (examples(10).batches(Division(4, passes=1), worker, 2) for worker in (0, 1))
    assert [len(batch) for batch in drain(first)] == [4, 2]
    assert [len(batch) for batch in drain(second)] == [4]
    for batches in (first, second):
        with pytest.raises(OutOfRangeError, match="all 1 passes over the data are over"):
            next(batches)
        batches.seek(100)
        assert batches.left == 0
        batches.seek(0)
        assert batches.left > 0


@pytest.mark.parametrize(
    ("fields", "workers", "says"),
    [
        ({"batch_size": [8, 4]}, 3, r"batch_size has 2 numbers, but there are 3 workers\n  hint: lab.data\(batch_size=…\)"),
        ({"batch_size": 4, "shares": [0.5, 0.5]}, 1, "shares has 2 numbers, but there are 1 workers"),
        ({"batch_size": [60, 50]}, 2, "2 workers with batches of 60, 50 need more than the 100 examples"),
        ({"batch_size": 20, "shares": [0.9, 0.1]}, 2, "worker:1 has batches of 20, but its share is 10 examples"),
    ],
)
def test_what_does_not_fit_is_refused(fields, workers, says):
    with pytest.raises(UsageError, match=says):
        Division(**fields).check(workers, 100)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"batch_size": 0}, "batch_size must be a whole number from 1 on"),
        ({"batch_size": [8, 2.5]}, r"or one per worker; found \(8, 2.5\)"),
        ({"batch_size": []}, "batch_size must be"),
        ({"shares": [0.5, 0.6]}, "add up to 1, found 0.5, 0.6"),
        ({"shares": [1.0, 0.0]}, "greater than 0"),
        ({"passes": 0}, "passes must be at least 1, or None for ever; found 0"),
        ({"seed": -1}, "seed must be"),
    ],
)
def test_what_cannot_be_meant_is_refused(fields, says):
    with pytest.raises(UsageError, match=says):
        Division(**fields)


def test_of_data_in_parts_nobody_knows_how_many_there_are():
    Division([8, 4], passes=2).check(2, None)
    with pytest.raises(UsageError, match="each worker has its own already"):
        Division(8, [0.5, 0.5]).check(2, None)


def test_one_number_in_a_list_is_for_all():
    assert Division([32]) == Division(32)
    assert Division([32]).sizes(3) == (32, 32, 32)
    assert Division([8, 4]).together(2) == 12
