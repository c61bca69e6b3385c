"""An LSTM that reads an image row by row, between-graph and asynchronous; its tasks are told of each other by TF_CONFIG."""

import json
import os

import tensorflow as tf
from tensorflow.contrib import rnn
from tensorflow.examples.tutorials.mnist import input_data

config = json.loads(os.environ["TF_CONFIG"])
job, index = config["task"]["type"], config["task"]["index"]
cluster = tf.train.ClusterSpec(config["cluster"])
server = tf.train.Server(cluster, job_name=job, task_index=index)

ROWS, COLUMNS, UNITS, CLASSES = 14, 56, 48, 10
STEPS = 250


def recurrent(images):
    """Logits of a batch of images."""
    rows = tf.unstack(tf.reshape(images, [-1, ROWS, COLUMNS]), ROWS, 1)
    cell = rnn.BasicLSTMCell(UNITS, forget_bias=1.0)
    outputs, state = rnn.static_rnn(cell, rows, dtype=tf.float32)
    assert state.h.get_shape().as_list()[1] == UNITS
    weights = tf.get_variable("weights", [UNITS, CLASSES], initializer=tf.random_normal_initializer(stddev=0.2))
    biases = tf.get_variable("biases", [CLASSES], initializer=tf.constant_initializer(0.0))
    return tf.nn.xw_plus_b(outputs[-1], weights, biases)


def main():
    if job == "ps":
        server.join()
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % index, cluster=cluster)):
        x = tf.placeholder(tf.float32, [None, ROWS * COLUMNS])
        y = tf.placeholder(tf.int64, [None])
        with tf.variable_scope("model"):
            logits = recurrent(x)
        with tf.variable_scope("model", reuse=True):
            again = recurrent(x)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(logits=logits, labels=y))
        accuracy = tf.reduce_mean(tf.cast(tf.nn.in_top_k(again, y, 1), tf.float32))
        global_step = tf.contrib.framework.get_or_create_global_step()
        optimizer = tf.train.AdamOptimizer(0.01)
        pairs = optimizer.compute_gradients(loss)
        clipped, norm = tf.clip_by_global_norm([g for g, _ in pairs], 5.0)
        train_op = optimizer.apply_gradients(zip(clipped, [v for _, v in pairs]), global_step=global_step)
    assert sorted(v.op.name for v in tf.trainable_variables()) == [
        "model/biases",
        "model/rnn/basic_lstm_cell/bias",
        "model/rnn/basic_lstm_cell/kernel",
        "model/weights",
    ]
    mnist = input_data.read_data_sets("MNIST_data")
    right = 0.0
    with tf.train.MonitoredTrainingSession(master=server.target, is_chief=index == 0, hooks=[tf.train.StopAtStepHook(num_steps=STEPS)]) as mon_sess:
        while not mon_sess.should_stop():
            images, labels = mnist.train.next_batch(64)
            step, size, _ = mon_sess.run([global_step, norm, train_op], feed_dict={x: images, y: labels})
            if step % 25 < 2 and not mon_sess.should_stop():
                right = mon_sess.run(accuracy, feed_dict={x: mnist.test.images, y: mnist.test.labels})
                print("step %d, gradient norm %.3f, accuracy %.3f" % (step, size, right))
    print("test accuracy %.4f" % right)


if __name__ == "__main__":
    main()
