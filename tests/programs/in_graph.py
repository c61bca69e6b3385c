"""In-graph replication: one client builds a tower per worker, takes the mean of their gradients, and drives them all. The other workers wait."""

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

tf.app.flags.DEFINE_string("ps_hosts", "", "hosts of the ps job")
tf.app.flags.DEFINE_string("worker_hosts", "", "hosts of the worker job")
tf.app.flags.DEFINE_string("job_name", "worker", "ps or worker")
tf.app.flags.DEFINE_integer("task_index", 0, "index of the task")
tf.app.flags.DEFINE_integer("batch_size", 64, "examples per tower")
tf.app.flags.DEFINE_integer("steps", 150, "steps")
tf.app.flags.DEFINE_string("data_dir", "MNIST_data", "where MNIST is")
FLAGS = tf.app.flags.FLAGS


def tower(x, y, w, b):
    """Softmax regression: loss and accuracy."""
    logits = tf.matmul(x, w) + b
    loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=logits))
    accuracy = tf.reduce_mean(tf.cast(tf.equal(tf.argmax(logits, 1), tf.argmax(y, 1)), tf.float32))
    return loss, accuracy


def train(cluster, server, done):
    """Build and train; then let the others go."""
    num_workers = cluster.num_tasks("worker")
    optimizer = tf.train.MomentumOptimizer(0.2, 0.9)
    with tf.device("/job:ps/task:0/cpu:0"):
        w = tf.Variable(tf.zeros([784, 10]), name="w")
        b = tf.Variable(tf.zeros([10]), name="b")
        global_step = tf.Variable(0, trainable=False, name="global_step")

    inputs, gradients, losses = [], [], []
    for i in range(num_workers):
        with tf.device("/job:worker/task:%d/cpu:0" % i), tf.name_scope("tower_%d" % i):
            x, y = tf.placeholder("float", [None, 784]), tf.placeholder("float", [None, 10])
            loss, accuracy = tower(x, y, w, b)
            inputs.append((x, y))
            losses.append(loss)
            gradients.append(optimizer.compute_gradients(loss, var_list=[w, b]))

    with tf.device("/job:ps/task:0"):
        means = [(tf.add_n([g for g, _ in pairs]) / float(num_workers), pairs[0][1]) for pairs in zip(*gradients)]
        train_op = optimizer.apply_gradients(means, global_step=global_step)

    mnist = input_data.read_data_sets(FLAGS.data_dir, one_hot=True)
    with tf.Session(server.target) as sess:
        sess.run(tf.global_variables_initializer())
        for step in range(FLAGS.steps):
            feed = {}
            for x, y in inputs:
                feed[x], feed[y] = mnist.train.next_batch(FLAGS.batch_size)
            _, *values = sess.run([train_op, *losses], feed_dict=feed)
            if step % 50 == 0:
                print("step %d, loss of each tower %s" % (step, ["%.3f" % v for v in values]))
        assert sess.run(global_step) == FLAGS.steps
        x, y = inputs[-1]
        print("test accuracy %.4f" % accuracy.eval({x: mnist.test.images, y: mnist.test.labels}))
        sess.run([queue.enqueue(1) for queue in done])


def main(_):
    cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
    server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
    if FLAGS.job_name == "ps":
        server.join()
    done = []
    for i in range(1, cluster.num_tasks("worker")):
        with tf.device("/job:worker/task:%d" % i):
            done.append(tf.FIFOQueue(1, tf.int32, shared_name="done_%d" % i))
    if FLAGS.task_index == 0:
        train(cluster, server, done)
    else:
        with tf.Session(server.target) as sess:
            sess.run(done[FLAGS.task_index - 1].dequeue())


if __name__ == "__main__":
    tf.app.run()
