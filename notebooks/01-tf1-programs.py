# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # TensorFlow 1 programs, as they stand
#
# A distributed TensorFlow 1 program is *one* file that is started many times: once per parameter server (*ps*) and once per worker, each time with another
# `--job_name` and `--task_index`. Here a cell is such a file. There are six parts, each with an exercise and a cell that checks it.

# %%
# %load_ext pslab

# %%
import json
import shutil
from pathlib import Path

shutil.rmtree("runs/tf1", ignore_errors=True)
Path("runs/tf1").mkdir(parents=True)


def check(right, wrong):
    print("✓ that is it" if right else f"✗ not yet: {wrong}")


# %% [markdown]
# ## 1. Between-graph, asynchronous
#
# Each worker builds the same graph. `replica_device_setter` puts its variables on the ps, so the workers share them, and each applies its gradients when it
# has them. Worker 0 is the *chief*: it initialises the variables, and saves and summarises into `logdir`; the others wait until it has.
#
# `--tensorflow` lets `import tensorflow` mean pslab. What comes after `--` is for the program. A line that a task prints has its name before it. When the
# workers are done, the ps ends too, although it is in `server.join()`.

# %%
# %%pslab run --tensorflow --ps 1 --workers 2 -- --logdir runs/tf1/async
import json
import time

import tensorflow as tf
from tensorflow.examples.tutorials.mnist import input_data

flags = tf.app.flags
flags.DEFINE_string("ps_hosts", "", "host:port of each ps")
flags.DEFINE_string("worker_hosts", "", "host:port of each worker")
flags.DEFINE_string("job_name", "", "ps or worker")
flags.DEFINE_integer("task_index", 0, "which of them")
flags.DEFINE_string("logdir", "", "checkpoints and summaries")
FLAGS = flags.FLAGS

cluster = tf.train.ClusterSpec({"ps": FLAGS.ps_hosts.split(","), "worker": FLAGS.worker_hosts.split(",")})
server = tf.train.Server(cluster, job_name=FLAGS.job_name, task_index=FLAGS.task_index)
if FLAGS.job_name == "ps":
    server.join()

with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{FLAGS.task_index}", cluster=cluster)):
    x = tf.placeholder(tf.float32, [None, 784], name="x")
    y = tf.placeholder(tf.int64, [None], name="y")
    hidden = tf.layers.dense(x, 64, activation=tf.nn.relu, name="hidden")
    logits = tf.layers.dense(hidden, 10, name="logits")
    loss = tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
    prediction = tf.argmax(logits, 1, name="prediction")
    accuracy = tf.reduce_mean(tf.cast(tf.equal(prediction, y), tf.float32), name="accuracy")
    global_step = tf.train.get_or_create_global_step()
    train_op = tf.train.AdagradOptimizer(0.05).minimize(loss, global_step=global_step)
tf.summary.scalar("loss", loss)

mnist = input_data.read_data_sets("MNIST_data")
updates = 0
with tf.train.MonitoredTrainingSession(
    master=server.target,
    is_chief=FLAGS.task_index == 0,
    checkpoint_dir=FLAGS.logdir,
    save_summaries_steps=10,
    hooks=[tf.train.StopAtStepHook(last_step=400)],
) as sess:
    while not sess.should_stop():
        images, labels = mnist.train.next_batch(64)
        _, right = sess.run([train_op, accuracy], feed_dict={x: images, y: labels})
        updates += 1

print(f"made {updates} updates; {right:.0%} of the last batch were right")
with open(f"{FLAGS.logdir}/worker-{FLAGS.task_index}.json", "w") as file:
    json.dump(updates, file)

# %% [markdown]
# MNIST itself is not in pslab. Where it does not lie in the directory that the program names, the digits that come with scikit-learn stand in for it, in its
# shape; `PSLAB_DOWNLOAD_MNIST=1` in the environment fetches the real ones.
#
# **Exercise.** Nobody waits for anybody here. Make worker 1 slow: at the end of its loop `time.sleep(0.05)`. Predict first: how many of the 400 updates will
# be its own? Run it with `--logdir runs/tf1/slow`, so that it begins anew. (In a directory with a checkpoint it goes on from that. What does it do in
# `runs/tf1/async`, where 400 steps are made?)

# %%
made = [json.loads(path.read_text()) for path in sorted(Path("runs/tf1/slow").glob("worker-*.json"))]
if len(made) < 2:
    check(False, "there is nothing in runs/tf1/slow; change the --logdir of the cell above, and run it")
else:
    check(made[1] < 0.3 * sum(made), f"the workers made {made} updates, so worker 1 is not much slower: if FLAGS.task_index == 1: time.sleep(0.05)")

# %% [markdown]
# ## 2. The same, live
#
# With a cluster that stays, a cell can be run *in the process of a task*. It finds `tf`, `cluster`, `server`, `job_name` and `task_index`, and what earlier
# cells left there. `on worker` is between-graph: each worker builds the graph, and may be asked about it afterwards.

# %%
# %pslab cluster start --ps 1 --workers 2

# %%
# %%pslab on worker
import numpy as np

truth = np.array([[1.0], [-2.0], [3.0]], dtype=np.float32)
rng = np.random.default_rng(task_index)
with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{task_index}", cluster=cluster)):
    x = tf.placeholder(tf.float32, [None, 3])
    y = tf.placeholder(tf.float32, [None, 1])
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
    train_op = tf.train.GradientDescentOptimizer(0.05).minimize(loss)
print("w is on", w.device, "and the loss on", loss.device)

# %%
# %%pslab on worker:0
sess = tf.Session(server.target)
sess.run(tf.global_variables_initializer())

# %%
# %%pslab on worker
sess = tf.Session(server.target)
for _ in range(100):
    points = rng.normal(size=(16, 3)).astype(np.float32)
    sess.run(train_op, {x: points, y: points @ truth})
print("w is", sess.run(w).ravel().round(2))

# %% [markdown]
# `on client` is in-graph: *one* client builds a graph with a tower per worker, and drives them all. It is a program of its own on the same cluster.

# %%
# %%pslab on client --anew
import numpy as np

truth = np.array([[1.0], [-2.0], [3.0]], dtype=np.float32)
rng = np.random.default_rng(7)
optimizer = tf.train.GradientDescentOptimizer(0.05)
with tf.device("/job:ps/task:0"):
    w = tf.get_variable("in_graph_w", [3, 1], initializer=tf.zeros_initializer())

towers = []
for i in range(cluster.num_tasks("worker")):
    with tf.device(f"/job:worker/task:{i}"), tf.name_scope(f"tower_{i}"):
        x, y = tf.placeholder(tf.float32, [None, 3]), tf.placeholder(tf.float32, [None, 1])
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) - y))
        (gradient,) = tf.gradients(loss, [w])
        towers.append((x, y, gradient))

mean = tf.add_n([gradient for _, _, gradient in towers]) / len(towers)
train_op = optimizer.apply_gradients([(mean, w)])

with tf.Session(server.target) as sess:
    sess.run(w.initializer)
    for _ in range(200):
        feeds = {}
        for x, y, _ in towers:
            points = rng.normal(size=(16, 3)).astype(np.float32)
            feeds.update({x: points, y: points @ truth})
        sess.run(train_op, feeds)
    found = sess.run(w)
print("w is", found.ravel().round(2))

# %% [markdown]
# **Exercise.** Nothing says where `mean` is computed, so it is where the client is: the gradients travel to the client, and their mean on to the ps. Let the
# ps compute it. (`mean.device` tells where a tensor was asked to be.)

# %%
# %%pslab on client
if "ps" not in mean.device:
    print(f"✗ not yet: mean has the device {mean.device!r}; it is to be made in a block 'with tf.device(…):' that names the ps")
elif abs(found - truth).max() > 0.05:
    print(f"✗ not yet: w is {found.ravel()}, which is not the truth, {truth.ravel()}")
else:
    print("✓ that is it")

# %%
# %pslab cluster stop

# %% [markdown]
# ## 3. In step, with a backup worker
#
# `SyncReplicasOptimizer` takes the mean of one gradient of each worker, applies it, and lets them all go on with new parameters. Then the slowest sets the
# pace. With `replicas_to_aggregate` less than the number of workers the first few gradients are enough; the others are dropped when they come: *backup
# workers*.
#
# Here worker 2 is slow. **Predict first**: two of three are aggregated. How long does a step take?

# %%
# %%pslab run --tensorflow --ps 1 --workers 3 -- --aggregate 2
import argparse
import json
import time

import numpy as np
import tensorflow as tf

parser = argparse.ArgumentParser()
for flag in ("ps_hosts", "worker_hosts", "job_name"):
    parser.add_argument(f"--{flag}")
for flag in ("task_index", "aggregate"):
    parser.add_argument(f"--{flag}", type=int)
args = parser.parse_args()

cluster = tf.train.ClusterSpec({"ps": args.ps_hosts.split(","), "worker": args.worker_hosts.split(",")})
server = tf.train.Server(cluster, job_name=args.job_name, task_index=args.task_index)
if args.job_name == "ps":
    server.join()

is_chief = args.task_index == 0
with tf.device(tf.train.replica_device_setter(worker_device=f"/job:worker/task:{args.task_index}", cluster=cluster)):
    x = tf.placeholder(tf.float32, [None, 2])
    y = tf.placeholder(tf.int64, [None])
    logits = tf.layers.dense(tf.layers.dense(x, 32, activation=tf.nn.relu), 2)
    loss = tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits)
    global_step = tf.train.get_or_create_global_step()
    optimizer = tf.train.SyncReplicasOptimizer(
        tf.train.AdamOptimizer(0.02), replicas_to_aggregate=args.aggregate, total_num_replicas=cluster.num_tasks("worker")
    )
    train_op = optimizer.minimize(loss, global_step=global_step)

rng = np.random.default_rng(args.task_index)
turns, first = 0, None
hooks = [optimizer.make_session_run_hook(is_chief), tf.train.StopAtStepHook(last_step=200)]
with tf.train.MonitoredTrainingSession(master=server.target, is_chief=is_chief, hooks=hooks, stop_grace_period_secs=5) as sess:
    while not sess.should_stop():
        if args.task_index == 2:
            time.sleep(0.03)
        points = rng.uniform(-1, 1, (64, 2)).astype(np.float32)
        _, now, step = sess.run([train_op, loss, global_step], {x: points, y: (points[:, 0] * points[:, 1] > 0).astype(np.int64)})
        turns, ended = turns + 1, time.perf_counter()
        if first is None and step >= 100:  # all take part by then
            first, began = step, ended
print(f"{turns} turns; loss {now:.3f}")
if is_chief:
    pace = 1000 * (ended - began) / max(1, step - first)
    print(f"{pace:.1f} ms per step")
    with open(f"runs/tf1/pace-{args.aggregate}.json", "w") as file:
        json.dump(pace, file)

# %% [markdown]
# **Exercise.** Wait for all: run it with `--aggregate 3`. What is the step's time now, and where does the number come from? How many turns does worker 2 make,
# then and now?

# %%
paces = {n: json.loads(path.read_text()) for n in (2, 3) if (path := Path(f"runs/tf1/pace-{n}.json")).exists()}
if len(paces) < 2:
    check(False, f"there are only the times of {list(paces)}; run the cell above with --aggregate 2 and with --aggregate 3")
else:
    check(paces[3] > 20, f"a step that waits for worker 2 takes about 30 ms, this one took {paces[3]:.0f}; does worker 2 still sleep?")

# %% [markdown]
# ## 4. Saved by one program, used by another
#
# The program of part 1 left checkpoints. Beside each is a *meta graph*: the graph itself, as data. Whoever has both can use the model, without the code that
# built it and without a cluster: `clear_devices=True` forgets that the variables were on a ps. What the program gave names to is found by name.

# %%
import numpy as np

import pslab as tf
from pslab.compat.mnist import read_data_sets

latest = tf.train.latest_checkpoint("runs/tf1/async")
for name, shape in tf.train.list_variables(latest):
    print(f"{name:32}{shape}")

# %%
test = read_data_sets("MNIST_data").test
with tf.Graph().as_default(), tf.Session() as sess:
    saver = tf.train.import_meta_graph(f"{latest}.meta", clear_devices=True)
    saver.restore(sess, latest)
    predicted, right = sess.run(["prediction:0", "accuracy:0"], {"x:0": test.images, "y:0": test.labels})
print(f"{right:.1%} of {test.num_examples} test images are right")

# %% [markdown]
# **Exercise.** Which hidden units never answer? Fetch what the hidden layer gives for the test images, after its ReLU, as an array `activations` with a row
# per image. Names of ops that may be it: `[op.name for op in sess.graph.get_operations() if op.name.startswith("hidden/")]`.
# (That session is closed: to fetch something takes another one, restored in the same way.)

# %%
activations = None

# %%
if activations is None:
    check(False, "activations is still None")
elif np.shape(activations) != (test.num_examples, 64):
    check(False, f"its shape is {np.shape(activations)}, not {(test.num_examples, 64)}: a row per image, 64 units")
else:
    check((activations >= 0).all(), "some are negative, so this is before the ReLU")

# %% [markdown]
# ## 5. Three ways to read data
#
# - **Feeding**: Python makes a batch, and each run is given it.
# - **Files**: the reading is part of the graph. A queue of file names, a reader, a decoder; threads (*queue runners*) fill a queue of examples, and a step
#   takes a batch from it.
# - **Preloaded**: the data is in the graph, as a constant, and a queue of indices says what comes next.

# %%
from time import perf_counter

from sklearn.datasets import load_digits

digits = load_digits()
images, labels = (digits.data / 16).astype(np.float32), digits.target.astype(np.int64)
for part in range(4):
    rows = np.column_stack([images, labels])[part::4]
    np.savetxt(f"runs/tf1/digits-{part}.csv", rows, delimiter=",", fmt="%g")


def fed():
    return tf.placeholder(tf.float32, [None, 64]), tf.placeholder(tf.int64, [None])


def from_files():
    names = tf.train.string_input_producer(sorted(tf.gfile.Glob("runs/tf1/digits-*.csv")), shuffle=True)
    _, line = tf.TextLineReader().read(names)
    *pixels, label = tf.decode_csv(line, record_defaults=[[0.0]] * 64 + [[0]])
    return tf.train.shuffle_batch([tf.stack(pixels), tf.cast(label, tf.int64)], batch_size=32, capacity=600, min_after_dequeue=200)


def preloaded():
    image, label = tf.train.slice_input_producer([tf.constant(images), tf.constant(labels)], shuffle=True)
    return tf.train.batch([image, label], batch_size=32, capacity=600)


def examples_per_second(read, steps=40):
    with tf.Graph().as_default(), tf.Session() as sess:
        x, y = read()
        logits = tf.layers.dense(x, 10)
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(tf.losses.sparse_softmax_cross_entropy(labels=y, logits=logits))
        sess.run(tf.global_variables_initializer())
        coord = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(sess, coord)
        order = np.random.default_rng(0)
        for step in range(-5, steps):
            if step == 0:
                began = perf_counter()
            chosen = order.integers(len(images), size=32)
            sess.run(train_op, {x: images[chosen], y: labels[chosen]} if read is fed else None)
        took = perf_counter() - began
        coord.request_stop()
        coord.join(threads)
    return 32 * steps / took


rates = {read.__name__: examples_per_second(read) for read in (fed, from_files, preloaded)}
for name, rate in rates.items():
    print(f"{name:12}{rate:10,.0f} examples per second")

# %% [markdown]
# A run costs what it costs, however little it does. Feeding makes one run per batch. The other two make, besides, one run *per example*, in the thread that
# fills the queue.
#
# **Exercise.** Let the thread take 32 lines in one run: `tf.TextLineReader().read_up_to(names, 32)` gives a vector of lines, `decode_csv` then columns of that
# length (`tf.stack(pixels, axis=1)`), and `shuffle_batch(…, enqueue_many=True)` puts them in as many examples. Write it as `many_lines`.


# %%
def many_lines():
    return from_files()


# %%
rate = examples_per_second(many_lines)
print(f"{rate:,.0f} examples per second, {rate / rates['from_files']:.1f} times as many as one line at a time")
with tf.Graph().as_default() as graph:
    many_lines()
check(any(op.type == "ReaderReadUpTo" for op in graph.get_operations()), "that is still one line per run")

# %% [markdown]
# ## 6. What was written meanwhile
#
# Summaries are event files, which TensorBoard opens (`tensorboard --logdir runs`). They can be read back too. The chief of part 1 wrote the loss of its own
# batches, and how many steps there were per second.

# %%
import matplotlib.pyplot as plt


def curves(logdir):
    found = {}
    for path in sorted(Path(logdir).glob("events.out.tfevents.*")):
        for event in tf.train.summary_iterator(path):
            for value in event.summary.value:
                found.setdefault(value.tag, []).append((event.step, value.simple_value))
    return found


found = curves("runs/tf1/async")
for tag, points in found.items():
    print(f"{tag}: {len(points)} points, the last at step {points[-1][0]}")

figure, axes = plt.subplots(figsize=(6, 3), layout="constrained")
axes.plot(*zip(*found["loss"], strict=True))
axes.set(xlabel="global step", ylabel="loss of the chief's batch", yscale="log")
plt.show()

# %% [markdown]
# **Exercise.** Let the program of part 1 write its accuracy too: a line beside `tf.summary.scalar("loss", loss)`. Run it with `--logdir runs/tf1/mine`, and
# draw both. (Its tag will be `accuracy_1`: the graph has an op named `accuracy` already.)

# %%
found = curves("runs/tf1/mine")
if not found:
    check(False, "there are no events in runs/tf1/mine; run the program of part 1 with that --logdir")
else:
    missing = f'there is only {", ".join(found)}; tf.summary.scalar("accuracy", accuracy) comes before the session'
    check(any(tag.startswith("accuracy") for tag in found), missing)
