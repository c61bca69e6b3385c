"""Shards: which files a worker reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from pslab.errors import UsageError

T = TypeVar("T")


def shard(filenames: Sequence[T], num_shards: int, index: int) -> list[T]:
    """Every ``num_shards``-th of ``filenames``, from number ``index`` on: the part of one worker.

    The parts of all workers are all the files, and each is in one part only::

        names = tf.data.shard(sorted(tf.gfile.Glob("part-*.csv")), num_workers, FLAGS.task_index)
        queue = tf.train.string_input_producer(names)

    All workers must begin from the same order of names, so sort them.

    Args:
        filenames: of all files.
        num_shards: number of workers.
        index: of this worker, from 0.

    Raises:
        UsageError: there is no such worker, or there are fewer files than workers, so that one would have none.
    """
    if not 0 <= index < num_shards:
        raise UsageError(f"there is no shard {index} of {num_shards}; they are numbered from 0")
    if len(filenames) < num_shards:
        raise UsageError(f"{num_shards} workers cannot share {len(filenames)} files: one would have none", "fewer workers, or more and smaller files")
    return list(filenames[index::num_shards])
