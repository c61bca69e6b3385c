"""Softmax regression with summaries and a traced run, in an interactive session, as tutorials of 2017 wrote it."""

from __future__ import absolute_import, division, print_function

import argparse
import sys

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

FLAGS = None


def variable_summaries(var):
    with tf.name_scope("summaries"):
        mean = tf.reduce_mean(var)
        tf.summary.scalar("mean", mean)
        with tf.name_scope("stddev"):
            stddev = tf.sqrt(tf.reduce_mean(tf.square(var - mean)))
        tf.summary.scalar("stddev", stddev)
        tf.summary.histogram("histogram", var)


def main(_):
    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True)
    sess = tf.InteractiveSession()
    with tf.name_scope("input"):
        x = tf.placeholder(tf.float32, [None, 784], name="x-input")
        y_ = tf.placeholder(tf.float32, [None, 10], name="y-input")
    with tf.name_scope("input_reshape"):
        tf.summary.image("input", tf.reshape(x, [-1, 28, 28, 1]), 10)

    W = tf.Variable(tf.zeros([784, 10]))
    b = tf.Variable(tf.zeros([10]))
    variable_summaries(W)
    y = tf.matmul(x, W) + b
    with tf.name_scope("cross_entropy"):
        cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y))
    tf.summary.scalar("cross_entropy", cross_entropy)
    train_step = tf.train.GradientDescentOptimizer(0.5).minimize(cross_entropy)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1)), tf.float32))

    merged = tf.summary.merge_all()
    writer = tf.summary.FileWriter(FLAGS.log_dir + "/train", sess.graph)
    tf.global_variables_initializer().run()
    for i in range(200):
        batch_xs, batch_ys = mnist.train.next_batch(100, shuffle=False)
        feed = {x: batch_xs, y_: batch_ys}
        if i % 50 == 49:
            options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
            metadata = tf.RunMetadata()
            summary, _ = sess.run([merged, train_step], feed_dict=feed, options=options, run_metadata=metadata)
            writer.add_run_metadata(metadata, "step%03d" % i)
            writer.add_summary(summary, i)
        else:
            train_step.run(feed)
    writer.close()
    test = {x: mnist.test.images, y_: mnist.test.labels}
    print("accuracy %.4f loss %.4f" % (accuracy.eval(feed_dict=test), sess.run(cross_entropy, test)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--data_dir", type=str, default="MNIST_data")
    parser.add_argument("--log_dir", type=str, default="logs")
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0], *unparsed])
