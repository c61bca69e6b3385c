"""Downpour-like: each worker steps on local variables of its own, pushes what it gathered every few steps, and fetches the global parameters anew."""

import argparse

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
parser.add_argument("--ps_hosts", required=True)
parser.add_argument("--worker_hosts", required=True)
parser.add_argument("--job_name", required=True, choices=["ps", "worker"])
parser.add_argument("--task_index", type=int, required=True)
parser.add_argument("--push_every", type=int, default=5)
parser.add_argument("--pushes", type=int, default=60)
args = parser.parse_args()

RATE = 0.1
TRUTH = np.array([[1.0], [-2.0], [3.0], [0.5]], dtype=np.float32)


def examples(rng, count):
    x = rng.normal(size=(count, 4)).astype(np.float32)
    return x, (x @ TRUTH + rng.normal(0, 0.01, (count, 1)) > 0).astype(np.float32)


cluster = tf.train.ClusterSpec({"ps": args.ps_hosts.split(","), "worker": args.worker_hosts.split(",")})
server = tf.train.Server(cluster, job_name=args.job_name, task_index=args.task_index)
if args.job_name == "ps":
    server.join()

me = "/job:worker/task:%d" % args.task_index
is_chief = args.task_index == 0
with tf.device("/job:ps/task:0"):
    global_w = tf.get_variable("global_w", [4, 1], initializer=tf.zeros_initializer())
    global_step = tf.get_variable("global_step", [], tf.int32, tf.zeros_initializer(), trainable=False)
with tf.device(me):
    local_w = tf.get_variable("local_w", [4, 1], initializer=tf.zeros_initializer(), collections=[tf.GraphKeys.LOCAL_VARIABLES])
    gathered = tf.get_variable("gathered", [4, 1], initializer=tf.zeros_initializer(), collections=[tf.GraphKeys.LOCAL_VARIABLES])
    x = tf.placeholder(tf.float32, [None, 4])
    y = tf.placeholder(tf.float32, [None, 1])
    logits = tf.matmul(x, local_w)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    accuracy = tf.reduce_mean(tf.cast(tf.equal(logits > 0, y > 0.5), tf.float32))
    (gradient,) = tf.gradients(loss, [local_w])
    with tf.control_dependencies([gradient]):
        local_step = tf.group(tf.assign_sub(local_w, RATE * gradient), tf.assign_add(gathered, RATE * gradient))
with tf.device("/job:ps/task:0"):
    push = tf.group(tf.assign_sub(global_w, gathered, use_locking=True), tf.assign_add(global_step, 1))
with tf.device(me):
    with tf.control_dependencies([push]), tf.control_dependencies([tf.assign(gathered, tf.zeros_like(gathered))]):
        exchange = tf.assign(local_w, global_w.read_value() if hasattr(global_w, "read_value") else global_w)
    fetch = tf.assign(local_w, global_w)

graph = tf.get_default_graph()
assert [v.op.name for v in tf.local_variables()] == ["local_w", "gathered"], tf.local_variables()
assert [v.op.name for v in tf.get_collection(tf.GraphKeys.GLOBAL_VARIABLES)] == ["global_w", "global_step"]

scaffold = tf.train.Scaffold(
    init_op=tf.variables_initializer(tf.global_variables()), local_init_op=tf.group(tf.variables_initializer(tf.local_variables()), name="local")
)
rng = np.random.RandomState(args.task_index)
with tf.train.MonitoredTrainingSession(master=server.target, is_chief=is_chief, scaffold=scaffold) as sess:
    sess.run(fetch)
    for _ in range(args.pushes):
        for _ in range(args.push_every):
            points, sides = examples(rng, 20)
            sess.run(local_step, feed_dict={x: points, y: sides})
        sess.run(exchange)
    points, sides = examples(np.random.RandomState(77), 1000)
    sess.run(fetch)
    pushes, right = sess.run([global_step, accuracy], feed_dict={x: points, y: sides})
assert pushes >= args.pushes
print("test accuracy %.4f" % right)
