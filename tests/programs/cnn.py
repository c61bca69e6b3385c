"""A convolutional network, between-graph and asynchronous: one file of functions and one of flags, as the "deep MNIST" tutorial, distributed."""

import sys
import time

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

tf.app.flags.DEFINE_string("ps_hosts", "localhost:2222", "ps")
tf.app.flags.DEFINE_string("worker_hosts", "localhost:2223", "workers")
tf.app.flags.DEFINE_string("job_name", "", "job")
tf.app.flags.DEFINE_integer("task_index", 0, "task")
tf.app.flags.DEFINE_integer("steps", 120, "global steps")
FLAGS = tf.app.flags.FLAGS

cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)


def weight_variable(shape):
    return tf.Variable(tf.truncated_normal(shape, stddev=0.1))


def bias_variable(shape):
    return tf.Variable(tf.constant(0.1, shape=shape))


def conv2d(x, w):
    return tf.nn.conv2d(x, w, strides=[1, 1, 1, 1], padding="SAME")


def max_pool_2x2(x):
    return tf.nn.max_pool(x, ksize=[1, 2, 2, 1], strides=[1, 2, 2, 1], padding="SAME")


if FLAGS.job_name == "ps":
    server.join()
    sys.exit(0)

tf.set_random_seed(1)
with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/replica:0/task:%d/gpu:0" % FLAGS.task_index, cluster=cluster)):
    with tf.name_scope("input"):
        x = tf.placeholder(tf.float32, shape=[None, 784], name="x-input")
        y_ = tf.placeholder(tf.float32, shape=[None, 10], name="y-input")
        image = tf.reshape(x, [-1, 28, 28, 1])
    with tf.name_scope("conv1"):
        h_pool1 = max_pool_2x2(tf.nn.relu(conv2d(image, weight_variable([5, 5, 1, 8])) + bias_variable([8])))
    with tf.name_scope("conv2"):
        h_pool2 = max_pool_2x2(tf.nn.relu(tf.nn.bias_add(conv2d(h_pool1, weight_variable([5, 5, 8, 16])), bias_variable([16]))))
    with tf.name_scope("fc1"):
        flat = int(h_pool2.get_shape()[1]) * h_pool2.get_shape()[2].value * h_pool2.get_shape().as_list()[3]
        h_fc1 = tf.nn.relu(tf.matmul(tf.reshape(h_pool2, [-1, flat]), weight_variable([flat, 64])) + bias_variable([64]))
        keep_prob = tf.placeholder(tf.float32)
        h_fc1_drop = tf.nn.dropout(h_fc1, keep_prob)
    with tf.name_scope("fc2"):
        y_conv = tf.matmul(h_fc1_drop, weight_variable([64, 10])) + bias_variable([10])
    global_step = tf.get_variable("global_step", [], initializer=tf.constant_initializer(0), trainable=False)
    with tf.name_scope("train"):
        cross_entropy = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y_, logits=y_conv))
        decay = 1e-4 * tf.add_n([tf.nn.l2_loss(v) for v in tf.trainable_variables() if len(v.get_shape()) > 1])
        train_step = tf.train.AdamOptimizer(2e-3).minimize(cross_entropy + decay, global_step=global_step)
    correct_prediction = tf.equal(tf.argmax(y_conv, 1), tf.argmax(y_, 1))
    accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))
    init_op = tf.global_variables_initializer()

mnist = input_data.read_data_sets("MNIST_data", one_hot=True)
sv = tf.train.Supervisor(is_chief=(FLAGS.task_index == 0), global_step=global_step, init_op=init_op, recovery_wait_secs=1)
begin = time.time()
with sv.prepare_or_wait_for_session(server.target, config=tf.ConfigProto(allow_soft_placement=True)) as sess:
    step = 0
    while step < FLAGS.steps:
        batch = mnist.train.next_batch(50)
        _, step = sess.run([train_step, global_step], feed_dict={x: batch[0], y_: batch[1], keep_prob: 0.5})
        if step % 40 == 0:
            train_accuracy = accuracy.eval(feed_dict={x: batch[0], y_: batch[1], keep_prob: 1.0}, session=sess)
            print("step %d, training accuracy %g" % (step, train_accuracy))
    print("test accuracy %.4f" % sess.run(accuracy, feed_dict={x: mnist.test.images[:400], y_: mnist.test.labels[:400], keep_prob: 1.0}))
print("Total time: %3.2fs" % (time.time() - begin))
sv.stop()
