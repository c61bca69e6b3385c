"""Running input pipelines to their end."""

from __future__ import annotations

from typing import Any

import numpy as np

import pslab as tf


def drain(fetches: Any) -> list[Any]:
    """What a pipeline gives until its input ends, its queue runners running."""
    got: list[Any] = []
    coord = tf.train.Coordinator()
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        threads = tf.train.start_queue_runners(sess, coord)
        try:
            while not coord.should_stop():
                got.append(plain(sess.run(fetches)))
        except tf.errors.OutOfRangeError:
            pass
        coord.request_stop()
        coord.join(threads)
    return got


def run(tensor: Any) -> Any:
    """A tensor's value as plain Python."""
    with tf.Session() as sess:
        return plain(sess.run(tensor))


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: plain(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [plain(v) for v in value]
    return value.tolist() if isinstance(value, np.ndarray | np.generic) else value


def filled(*names: str, capacity: int = 20) -> tf.FIFOQueue:
    """A queue of file names that is closed once it is filled, by a queue runner."""
    return tf.train.string_input_producer(list(names), num_epochs=1, shuffle=False, capacity=capacity)
