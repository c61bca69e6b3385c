"""Input from files: a pipeline of ops reads CSV files, a shard per worker, shuffles and batches them; queue runners fill the queues."""

import csv
import os

import numpy as np
import tensorflow as tf

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "", "")
flags.DEFINE_string("worker_hosts", "", "")
flags.DEFINE_string("job_name", "", "")
flags.DEFINE_integer("task_index", 0, "")
flags.DEFINE_string("data_dir", "", "Where the files are, or are to be written")
flags.DEFINE_integer("epochs", 12, "How often each worker reads its files")
FLAGS = flags.FLAGS

FILES = 4
ROWS = 250


def write_files():
    """Files of rows ``x0, x1, x2, label``: the label says on which side of a plane the point is."""
    rng = np.random.RandomState(0)
    for i in range(FILES):
        with open(os.path.join(FLAGS.data_dir, "part-%d.csv" % i), "w", newline="") as f:
            for point in rng.normal(size=(ROWS, 3)):
                csv.writer(f).writerow(["%.6f" % v for v in point] + [int(point.sum() + 0.2 * point[0] > 0)])


def input_pipeline(file_names, batch_size):
    names = tf.train.string_input_producer(file_names, num_epochs=FLAGS.epochs, shuffle=True)
    _, line = tf.TextLineReader().read(names)
    *columns, label = tf.decode_csv(line, record_defaults=[[0.0], [0.0], [0.0], [0]])
    features = tf.stack(columns)
    return tf.train.shuffle_batch([features, label], batch_size=batch_size, capacity=600, min_after_dequeue=200, num_threads=2)


def main(_):
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    num_workers = cluster.num_tasks("worker")
    done = []
    for i in range(cluster.num_tasks("ps")):
        with tf.device("/job:ps/task:%d" % i):
            done.append(tf.FIFOQueue(num_workers, tf.int32, shared_name="done_queue%d" % i))

    if FLAGS.job_name == "ps":
        with tf.Session(server.target) as sess:
            for _ in range(num_workers):
                sess.run(done[FLAGS.task_index].dequeue())
        print("ps:%d has heard of all workers" % FLAGS.task_index)
        return

    is_chief = FLAGS.task_index == 0
    if is_chief:
        write_files()
    with tf.device(tf.train.replica_device_setter(worker_device="/job:worker/task:%d" % FLAGS.task_index, cluster=cluster)):
        global_step = tf.Variable(0, name="global_step", trainable=False)
        w = tf.Variable(tf.zeros([3, 1]), name="w")
        b = tf.Variable(tf.zeros([1]), name="b")
    with tf.device("/job:worker/task:%d" % FLAGS.task_index):
        shard = [os.path.join(FLAGS.data_dir, "part-%d.csv" % i) for i in range(FILES) if i % num_workers == FLAGS.task_index]
        features, labels = input_pipeline(shard, batch_size=20)
        logits = tf.reshape(tf.matmul(features, w) + b, [-1])
        truth = tf.cast(labels, tf.float32)
        loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=truth, logits=logits))
        right = tf.reduce_mean(tf.cast(tf.equal(tf.cast(logits > 0, tf.float32), truth), tf.float32))
        train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss, global_step=global_step)

    enqueue_done = [queue.enqueue(1) for queue in done]
    sv = tf.train.Supervisor(
        is_chief=is_chief,
        init_op=tf.global_variables_initializer(),
        local_init_op=tf.local_variables_initializer(),
        global_step=global_step,
        recovery_wait_secs=1,
    )
    sess = sv.prepare_or_wait_for_session(server.target)
    steps, recent = 0, []
    try:
        while not sv.should_stop():
            _, hit = sess.run([train_op, right])
            steps += 1
            recent = [*recent[-19:], hit]
    except tf.errors.OutOfRangeError:
        print("%d steps: the files are read" % steps)
    assert steps == FLAGS.epochs * len(shard) * ROWS // 20, steps
    print("test accuracy %.4f" % np.mean(recent))
    for op in enqueue_done:
        sess.run(op)
    sv.stop()


if __name__ == "__main__":
    tf.app.run()
