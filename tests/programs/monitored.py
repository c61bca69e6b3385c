"""Between-graph, asynchronous: a MonitoredTrainingSession with hooks of its own and of the library, summaries, checkpoints, and a ps per half of the model."""

import os

import numpy as np
import tensorflow.compat.v1 as tf

tf.disable_v2_behavior()
tf.logging.set_verbosity(tf.logging.INFO)

tf.app.flags.DEFINE_string("ps_hosts", None, "hosts of the ps job")
tf.app.flags.DEFINE_string("worker_hosts", None, "hosts of the worker job")
tf.app.flags.DEFINE_enum("job_name", None, ["ps", "worker"], "job")
tf.app.flags.DEFINE_integer("task_index", None, "index of the task")
tf.app.flags.DEFINE_string("log_dir", None, "where checkpoints and summaries go")
tf.app.flags.DEFINE_float("learning_rate", 0.1, "learning rate at the beginning")
tf.app.flags.DEFINE_boolean("quiet", False, "say nothing of the loss")
FLAGS = tf.app.flags.FLAGS

LAST_STEP = 400


class BestLoss(tf.train.SessionRunHook):
    """Remembers the least loss that was seen."""

    def __init__(self, loss):
        self.loss = loss
        self.best = float("inf")

    def begin(self):
        self.begun = tf.get_default_graph() is not None

    def after_create_session(self, session, coord):
        self.created = True

    def before_run(self, run_context):
        return tf.train.SessionRunArgs(self.loss)

    def after_run(self, run_context, run_values):
        self.best = min(self.best, run_values.results)

    def end(self, session):
        self.last_step = session.run(tf.train.get_global_step())


def three_blobs(rng, count):
    labels = rng.randint(0, 3, count)
    centres = np.array([[0.0, 2.0], [-2.0, -1.0], [2.0, -1.0]])
    return (centres[labels] + rng.normal(0, 0.7, (count, 2))).astype(np.float32), labels.astype(np.int32)


def main(argv):
    del argv
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    is_chief = FLAGS.task_index == 0
    with tf.device(tf.train.replica_device_setter(ps_tasks=len(FLAGS.ps_hosts.split(",")), worker_device="/job:worker/task:%d" % FLAGS.task_index)):
        features = tf.placeholder(tf.float32, [None, 2], "features")
        labels = tf.placeholder(tf.int32, [None], "labels")
        hidden = tf.layers.dense(features, 16, activation=tf.nn.tanh, name="hidden")
        logits = tf.layers.dense(hidden, 3, name="logits")
        loss = tf.losses.sparse_softmax_cross_entropy(labels=labels, logits=logits)
        hits = tf.equal(tf.cast(tf.argmax(logits, axis=1), tf.int32), labels)
        accuracy = tf.reduce_mean(tf.cast(hits, tf.float32), name="accuracy")
        global_step = tf.train.get_or_create_global_step()
        rate = tf.train.exponential_decay(FLAGS.learning_rate, global_step, 100, 0.9, staircase=True)
        train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, global_step=global_step)
        tf.summary.scalar("loss", loss)
        tf.summary.scalar("learning_rate", rate)
        tf.summary.histogram("hidden", hidden)

    best = BestLoss(loss)
    hooks = [tf.train.StopAtStepHook(last_step=LAST_STEP), tf.train.NanTensorHook(loss), best]
    if not FLAGS.quiet:
        hooks.append(tf.train.LoggingTensorHook({"loss": loss, "step": global_step}, every_n_iter=100))
    rng = np.random.RandomState(10 + FLAGS.task_index)
    test_x, test_y = three_blobs(np.random.RandomState(1), 600)
    right = 0.0
    scaffold = tf.train.Scaffold(saver=tf.train.Saver(max_to_keep=3))
    with tf.train.MonitoredTrainingSession(
        master=server.target,
        is_chief=is_chief,
        checkpoint_dir=FLAGS.log_dir,
        scaffold=scaffold,
        hooks=hooks,
        save_checkpoint_secs=None,
        save_checkpoint_steps=100,
        save_summaries_steps=50,
        log_step_count_steps=100,
    ) as sess:
        while not sess.should_stop():
            xs, ys = three_blobs(rng, 32)
            sess.run(train_op, feed_dict={features: xs, labels: ys})
            if not sess.should_stop():
                right = sess.run(accuracy, feed_dict={features: test_x, labels: test_y, loss: 9.0})
    assert best.created and best.begun and best.last_step >= LAST_STEP, vars(best)
    print("best loss %.4f" % best.best)
    print("test accuracy %.4f" % right)
    if is_chief and FLAGS.log_dir:
        latest = tf.train.latest_checkpoint(FLAGS.log_dir)
        print("checkpoint %s" % os.path.basename(latest))
        assert tf.train.checkpoint_exists(latest)


if __name__ == "__main__":
    tf.app.run()
