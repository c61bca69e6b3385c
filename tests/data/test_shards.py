"""Shards are parts of the whole."""

from __future__ import annotations

import pytest

import pslab as tf
from pslab.errors import UsageError


@pytest.mark.parametrize(("count", "workers"), [(7, 3), (3, 3), (5, 1)])
def test_shards_are_disjoint_and_complete(count, workers):
    names = [f"part-{i}" for i in range(count)]
    parts = [tf.data.shard(names, workers, i) for i in range(workers)]
    assert sorted(name for part in parts for name in part) == names
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert parts[0][0] == "part-0"


@pytest.mark.parametrize(
    ("workers", "index", "says"), [(2, 2, "no shard 2 of 2"), (0, 0, "no shard 0 of 0"), (4, 1, "4 workers cannot share 3 files")]
)
def test_what_cannot_be_meant(workers, index, says):
    with pytest.raises(UsageError, match=says):
        tf.data.shard(["a", "b", "c"], workers, index)


def test_what_pslab_has_no_other_of():
    with pytest.raises(AttributeError, match="input pipelines are queues and readers"):
        tf.data.Dataset  # noqa: B018
