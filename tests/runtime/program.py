"""A TensorFlow 1 program of separate processes, as tutorials have it: ``program.py JOB INDEX PS_HOSTS WORKER_HOSTS``."""

import sys

import numpy as np

import pslab as tf


def main() -> None:
    job, index, ps_hosts, worker_hosts = sys.argv[1], int(sys.argv[2]), sys.argv[3].split(","), sys.argv[4].split(",")
    cluster = tf.train.ClusterSpec({"ps": ps_hosts, "worker": worker_hosts})
    server = tf.train.Server(cluster, job_name=job, task_index=index)
    if job == "ps":
        print("serving", flush=True)
        server.join()
    with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{index}", cluster=cluster)):
        w = tf.Variable(tf.zeros([3, 1]), name="w")
        b = tf.Variable(tf.zeros([1]), name="b")
        x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
        global_step = tf.train.get_or_create_global_step()
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, global_step=global_step)
    rng = np.random.default_rng(0)
    xs = rng.normal(size=(64, 3)).astype(np.float32)
    ys = xs @ np.float32([[1.0], [-2.0], [0.5]]) + 3
    with tf.Session(server.target) as session:
        session.run(tf.global_variables_initializer())
        for _ in range(200):
            _, value = session.run([train_op, loss], {x: xs, y: ys})
        print("step", session.run(global_step), "loss", value, flush=True)
        print("w", *session.run(w).ravel(), "b", *session.run(b), flush=True)


main()
