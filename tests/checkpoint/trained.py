"""A program that trains a model, saves it, and ends: ``trained.py DIRECTORY``. What it built is used by name only, elsewhere."""

from __future__ import annotations

import sys

import numpy as np

import pslab as tf


def data() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(3)
    x = rng.normal(size=(64, 5)).astype(np.float32)
    return x, np.eye(3, dtype=np.float32)[(x @ rng.normal(size=(5, 3))).argmax(1)]


def main(directory: str) -> None:
    tf.set_random_seed(1)
    x = tf.placeholder(tf.float32, [None, 5], name="x")
    y = tf.placeholder(tf.float32, [None, 3], name="y")
    with tf.name_scope("hidden"):
        w = tf.Variable(tf.random_normal([5, 8], stddev=0.5), name="w")
        hidden = tf.nn.relu(tf.matmul(x, w))
    v = tf.Variable(tf.zeros([8, 3]), name="v")
    logits = tf.matmul(hidden, v, name="logits")
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits), name="loss")
    tf.add_to_collection("losses", loss)
    tf.add_to_collection("hyper", 0.05)
    step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdamOptimizer(0.05).minimize(loss, global_step=step)
    saver = tf.train.Saver()
    feed = dict(zip((x, y), data(), strict=True))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(10):
            session.run(train_op, feed)
        saver.save(session, f"{directory}/model.ckpt", global_step=step)
        for _ in range(10):
            session.run(train_op, feed)
        print(repr(float(session.run(loss, feed))))


if __name__ == "__main__":
    main(sys.argv[1])
