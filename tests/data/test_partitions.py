"""Data in parts: each worker has its own, all of them have everything, and nobody trains on what is tested."""

from __future__ import annotations

from dataclasses import dataclass

import cloudpickle
import dask.array
import numpy as np
import pytest

from pslab.data.datasets import load
from pslab.data.division import Division
from pslab.data.partitions import PartitionedDataset
from pslab.errors import DataLossError, UsageError


@dataclass
class Numbered:
    """A part whose examples are numbers from ``first`` on. It counts how often it is loaded."""

    first: int
    count: int
    loads: int = 0

    @property
    def name(self):
        return f"part {self.first}"

    def load(self):
        self.loads += 1
        numbers = np.arange(self.first, self.first + self.count)
        return numbers.reshape(-1, 1), numbers % 3


def numbers(data, worker, workers):
    x, y = data.for_tasks().load(worker, workers)
    np.testing.assert_array_equal(y, x[:, 0] % 3)
    return x[:, 0].astype(int).tolist()


@pytest.mark.parametrize(("parts", "workers"), [(4, 2), (5, 3), (3, 3), (2, 5), (1, 3), (1, 1)])
def test_all_workers_together_have_all_that_is_not_tested(parts, workers):
    data = PartitionedDataset.of([Numbered(10 * i, 10) for i in range(parts)])
    tested = data.x_test[:, 0].astype(int).tolist()
    assert tested == [4, 9] and data.y_test.tolist() == [1, 0]
    shares = [numbers(data, worker, workers) for worker in range(workers)]
    assert all(shares)
    assert sorted(n for share in shares for n in share) == [n for n in range(10 * parts) if n not in tested]


def test_a_worker_loads_its_own_parts_and_once():
    parts = [Numbered(10 * i, 10) for i in range(4)]
    partitions = PartitionedDataset.of(parts).for_tasks()
    first = next(partitions.batches(Division(4), 1, 2))
    again = next(partitions.batches(Division(4), 1, 2))
    assert [p.loads for p in parts] == [1, 1, 0, 1]
    np.testing.assert_array_equal(first[0], again[0])
    assert {int(n) // 10 for n in first[0][:, 0]} <= {1, 3}


def test_workers_go_through_their_examples_in_orders_of_their_own():
    partitions = PartitionedDataset.of([Numbered(0, 10), Numbered(10, 10), Numbered(20, 10)]).for_tasks()
    orders = [next(partitions.batches(Division(10, seed=7), worker, 3))[0][:, 0].astype(int) % 10 for worker in (1, 2)]
    assert orders[0].tolist() != orders[1].tolist()


def test_what_the_first_part_tells():
    data = load(dask.array.ones((30, 2), chunks=(10, 2)), dask.array.arange(30, chunks=10) % 4)
    assert (data.classes, data.examples, [a.shape[1:] for a in data.sample]) == (4, None, [(2,), ()])
    assert repr(data) == "<PartitionedDataset partition 0, …: 3 parts of 2 features, 4 classes>"
    regression = load((dask.array.ones((30, 2)), dask.array.zeros(30)))
    assert regression.classes is None and regression.sample[1].dtype == np.float64


def test_a_description_travels_without_what_was_loaded():
    data = load(dask.array.ones((40, 1000), chunks=(10, 1000)), dask.array.zeros(40, chunks=10))
    packed = cloudpickle.dumps(data.for_tasks())
    assert len(packed) < 40_000
    x, _ = cloudpickle.loads(packed).load(1, 2)
    assert x.shape == (20, 1000)


@dataclass
class Fixed:
    name: str
    x: object
    y: object

    def load(self):
        return self.x, self.y


def fixed(y, name="first"):
    return Fixed(name, np.ones((len(y), 2)), np.asarray(y))


def test_numbers_become_what_the_first_part_has():
    data = PartitionedDataset.of([fixed(np.zeros(10, np.float32)), fixed([1, 2, 3], "second")])
    assert data.for_tasks().load(1, 2)[1].dtype == np.float32


@pytest.mark.parametrize(
    ("second", "classes", "says"),
    [
        ([0, 1, 2], None, "second has the label 2, but first has 2 classes\n  hint: classes=3, or more"),
        ([0.5], None, "the targets of second are float64, those of first are labels"),
        ([-1], None, "second: labels count from 0"),
        (np.zeros(0, int), None, "second: x is empty.*\n  hint: drop what is empty, or repartition"),
    ],
)
def test_parts_that_do_not_fit(second, classes, says):
    data = PartitionedDataset.of([fixed([0, 1] * 5), fixed(second, "second")], classes)
    with pytest.raises(UsageError, match=says):
        data.for_tasks().load(1, 2)


def test_parts_with_other_features_are_told_though_they_are_on_another_worker():
    data = PartitionedDataset.of([fixed([0, 1] * 5), Fixed("second", np.ones((3, 4)), np.zeros(3, int))])
    with pytest.raises(UsageError, match=r"an example of second has shape \(4,\), one of first has \(2,\)"):
        data.for_tasks().load(1, 2)


def test_a_part_whose_computation_fails_is_named():
    def fail(block):
        raise ZeroDivisionError("no block")

    x, y = dask.array.ones((10, 2), chunks=(5, 2)), dask.array.zeros(10, chunks=5, dtype=int)
    with pytest.raises(DataLossError, match="partition 0 cannot be loaded: ZeroDivisionError: no block"):
        load(x.map_blocks(fail, dtype=float), y)


def test_given_classes():
    data = PartitionedDataset.of([fixed([0, 1] * 5), fixed([2], "second")], 3)
    assert data.classes == 3 and data.for_tasks().load(1, 2)[1].tolist() == [2]


def test_too_few_examples():
    with pytest.raises(UsageError, match="first has 4 examples, but at least 5 are needed"):
        PartitionedDataset.of([fixed([0, 1, 0, 1])])
    partitions = PartitionedDataset.of([fixed([0] * 10), fixed([0] * 3, "second")]).for_tasks()
    with pytest.raises(UsageError, match="a batch of 4"):
        partitions.batches(Division(4), 1, 2)
