"""Between-graph, asynchronous: softmax regression with a hidden layer on MNIST under a Supervisor, as tutorials of 2016 wrote it."""

import math

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "", "Comma-separated list of hostname:port pairs")
flags.DEFINE_string("worker_hosts", "", "Comma-separated list of hostname:port pairs")
flags.DEFINE_string("job_name", "", "One of 'ps', 'worker'")
flags.DEFINE_integer("task_index", 0, "Index of task within the job")
flags.DEFINE_integer("hidden_units", 100, "Number of units in the hidden layer")
flags.DEFINE_integer("train_steps", 600, "Number of global steps")
flags.DEFINE_string("data_dir", "/tmp/mnist-data", "Directory of the MNIST data")
flags.DEFINE_string("log_dir", "", "Directory of the checkpoints")
FLAGS = flags.FLAGS

IMAGE_PIXELS = 28


def main(_):
    ps_hosts = FLAGS.ps_hosts.split(",")
    worker_hosts = FLAGS.worker_hosts.split(",")
    cluster = tf.train.ClusterSpec({"ps": ps_hosts, "worker": worker_hosts})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)

    if FLAGS.job_name == "ps":
        server.join()
    elif FLAGS.job_name == "worker":
        with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
            hid_w = tf.Variable(tf.truncated_normal([IMAGE_PIXELS * IMAGE_PIXELS, FLAGS.hidden_units], stddev=1.0 / IMAGE_PIXELS), name="hid_w")
            hid_b = tf.Variable(tf.zeros([FLAGS.hidden_units]), name="hid_b")
            sm_w = tf.Variable(tf.truncated_normal([FLAGS.hidden_units, 10], stddev=1.0 / math.sqrt(FLAGS.hidden_units)), name="sm_w")
            sm_b = tf.Variable(tf.zeros([10]), name="sm_b")

            x = tf.placeholder(tf.float32, [None, IMAGE_PIXELS * IMAGE_PIXELS])
            y_ = tf.placeholder(tf.float32, [None, 10])

            hid_lin = tf.nn.xw_plus_b(x, hid_w, hid_b)
            hid = tf.nn.relu(hid_lin)
            y = tf.nn.softmax(tf.nn.xw_plus_b(hid, sm_w, sm_b))
            loss = -tf.reduce_mean(tf.reduce_sum(y_ * tf.log(tf.clip_by_value(y, 1e-10, 1.0)), reduction_indices=[1]))

            global_step = tf.Variable(0, name="global_step", trainable=False)
            train_op = tf.train.AdagradOptimizer(0.05).minimize(loss, global_step=global_step)

            correct_prediction = tf.equal(tf.argmax(y, 1), tf.argmax(y_, 1))
            accuracy = tf.reduce_mean(tf.cast(correct_prediction, tf.float32))

            saver = tf.train.Saver()
            tf.scalar_summary("loss", loss)
            summary_op = tf.merge_all_summaries()
            init_op = tf.initialize_all_variables()

        sv = tf.train.Supervisor(
            is_chief=(FLAGS.task_index == 0),
            logdir=FLAGS.log_dir or None,
            init_op=init_op,
            summary_op=None,
            saver=saver,
            global_step=global_step,
            save_model_secs=600,
            recovery_wait_secs=1,
        )
        mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True)

        config = tf.ConfigProto(
            allow_soft_placement=True, log_device_placement=False, device_filters=["/job:ps", "/job:worker/task:%d" % FLAGS.task_index]
        )
        with sv.managed_session(server.target, config=config) as sess:
            step = 0
            while not sv.should_stop() and step < FLAGS.train_steps:
                batch_xs, batch_ys = mnist.train.next_batch(100)
                _, step = sess.run([train_op, global_step], feed_dict={x: batch_xs, y_: batch_ys})
                if step % 100 == 0:
                    print("Done step %d, loss %.3f" % (step, sess.run(loss, feed_dict={x: batch_xs, y_: batch_ys})))
                    assert sess.run(summary_op, feed_dict={x: batch_xs, y_: batch_ys})
            print("test accuracy %.4f" % sess.run(accuracy, feed_dict={x: mnist.test.images, y_: mnist.test.labels}))
        sv.stop()


if __name__ == "__main__":
    tf.app.run()
