"""Between-graph, synchronous, with a backup replica: SyncReplicasOptimizer under a MonitoredTrainingSession."""

import argparse
import sys

import numpy as np
import tensorflow as tf

FLAGS = None


def quadrants(rng, count):
    """Points of the plane, and whether both coordinates have the same sign."""
    points = rng.uniform(-1, 1, size=(count, 2)).astype(np.float32)
    return points, (points[:, 0] * points[:, 1] > 0).astype(np.int64)


def main(_):
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
        return

    is_chief = FLAGS.task_index == 0
    num_workers = cluster.num_tasks("worker")
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
        global_step = tf.train.get_or_create_global_step()
        x = tf.placeholder(tf.float32, shape=[None, 2], name="x")
        y = tf.placeholder(tf.int64, shape=[None], name="y")
        with tf.variable_scope("hidden"):
            w = tf.get_variable("w", [2, 32], initializer=tf.random_normal_initializer(stddev=1.0))
            b = tf.get_variable("b", [32], initializer=tf.constant_initializer(0.1))
            hidden = tf.nn.relu(tf.matmul(x, w) + b)
        with tf.variable_scope("out"):
            w = tf.get_variable("w", [32, 2], initializer=tf.truncated_normal_initializer(stddev=0.1))
            b = tf.get_variable("b", [2], initializer=tf.zeros_initializer())
            logits = tf.matmul(hidden, w) + b
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
        accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), y), tf.float32))

        optimizer = tf.train.SyncReplicasOptimizer(
            tf.train.AdamOptimizer(0.02), replicas_to_aggregate=max(1, num_workers - 1), total_num_replicas=num_workers
        )
        train_op = optimizer.minimize(loss, global_step=global_step)

    hooks = [optimizer.make_session_run_hook(is_chief), tf.train.StopAtStepHook(last_step=FLAGS.steps)]
    rng = np.random.RandomState(FLAGS.task_index)
    test_points, test_labels = quadrants(np.random.RandomState(99), 1000)
    reached = 0.0
    with tf.train.MonitoredTrainingSession(
        master=server.target, is_chief=is_chief, hooks=hooks, stop_grace_period_secs=5, config=tf.ConfigProto(allow_soft_placement=True)
    ) as sess:
        while not sess.should_stop():
            points, labels = quadrants(rng, 64)
            _, step = sess.run([train_op, global_step], feed_dict={x: points, y: labels})
            if is_chief and step % 50 < 2 and not sess.should_stop():
                reached = sess.run(accuracy, feed_dict={x: test_points, y: test_labels})
    if is_chief:
        print("test accuracy %.4f" % reached)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--ps_hosts", type=str, default="")
    parser.add_argument("--worker_hosts", type=str, default="")
    parser.add_argument("--job_name", type=str, default="")
    parser.add_argument("--task_index", type=int, default=0)
    parser.add_argument("--steps", type=int, default=300)
    FLAGS, unparsed = parser.parse_known_args()
    tf.app.run(main=main, argv=[sys.argv[0], *unparsed])
