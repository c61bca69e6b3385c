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
# # Quickstart: two workers, one parameter server
#
# A model is trained by several processes at once. The **parameter server** (*ps*) holds the parameters. Each **worker** reads them, computes a gradient
# on its own batch, and sends it back. Everything below is real: real processes, real sockets, real bytes.

# %%
# %load_ext pslab

# %% [markdown]
# The data (handwritten digits), a model (an MLP), a **mode** (who builds the graph, and when gradients are applied), and a cluster. Its tasks live in
# processes of their own, and end with this notebook's kernel.

# %%
# %pslab data digits --batch 64
# %pslab model mlp --hidden 128
# %pslab mode --replication between-graph --update async
# %pslab cluster start --ps 1 --workers 2

# %% [markdown]
# Now train. It runs in the background, and the **panel** shows it.

# %%
# %pslab train --steps 1000000
# %pslab panel

# %% [markdown]
# Everything can be changed while it trains. Try it:
# - Choose *sync* under *update*. What do the workers do now that they did not before? The timeline shows it, and a mark in the curves shows where.
# - Click on *worker:1* below the plots, and kill it. It comes back.
# - *Reset*, then *Start*: from the beginning, in the mode that you see.
#
# The same training as a **graph**: one band for each task, thick lines for what travels between them. While it trains they light up. Double-click a scope
# (▸) to open it.

# %%
# %pslab graph --live

# %% [markdown]
# **Predict first.** In *async* mode a gradient is applied as it comes. While worker 0 computes, worker 1 goes on updating. How many updates of the other will
# lie, on average, between a worker's read and its own update? That number is the **staleness**.

# %%
await lab.until(step=2000)
lab.metrics()[["worker", "staleness", "divergence"]].groupby("worker").mean()

# %% [markdown]
# ## Change the mode while it trains
#
# What the panel does, cells can do too. From the beginning again: a thousand updates in each of four modes. *Sync* waits for one gradient of each worker,
# applies their mean, and lets all go on.

# %%
# %pslab mode --replication between-graph --update async
# %pslab reset
# %pslab train --steps 100000
await lab.until(step=1000)
# %pslab mode --update sync
await lab.until(step=2000)
# %pslab mode --replication in-graph
await lab.until(step=3000)
# %pslab mode --update async
await lab.until(step=4000)
# %pslab pause

# %%
# %pslab plot

# %% [markdown]
# What to look at:
# - **Loss**: does it fall slower where the workers wait for each other? Per step, or per second?
# - **Divergence** ‖θ worker − θ ps‖ / ‖θ ps‖: how far a worker's parameters are from those on the ps when its gradient arrives. In sync mode it is exactly 0. Why?
# - **Bytes**: in-graph, the batches travel through the client (*fed*); between-graph, each worker reads its own.
# - **Time**: what grows when you switch to sync, and whose time is it?

# %%
# %pslab status

# %%
# %pslab evaluate

# %% [markdown]
# ## One message at a time
#
# A **race** lets nothing in by itself: press *Begin*, and choose whose gradient is applied next.
#
# **Predict first.** Both workers read version 0. You let in worker 1 three times, then worker 0. How stale is what worker 0 brings?

# %%
# %pslab mode --replication between-graph
# %pslab reset
# %pslab race

# %% [markdown]
# ## A model of your own
#
# A model is a function that builds a graph from a batch `x` and its labels `y`, in TensorFlow 1's vocabulary, and returns the loss and a dict of metrics.

# %%
import pslab as tf


def wide(x, y):
    w1 = tf.Variable(tf.truncated_normal([64, 256], stddev=0.1), name="w1")
    b1 = tf.Variable(tf.zeros([256]), name="b1")
    w2 = tf.Variable(tf.truncated_normal([256, 10], stddev=0.1), name="w2")
    b2 = tf.Variable(tf.zeros([10]), name="b2")
    hidden = tf.nn.relu(tf.matmul(x, w1) + b1)
    logits = tf.matmul(hidden, w2) + b2
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=logits))
    prediction = tf.argmax(logits, 1)
    accuracy = tf.reduce_mean(tf.cast(tf.equal(prediction, y), tf.float32))
    return loss, {"accuracy": accuracy, "prediction": prediction}


# %%
# %pslab model wide --optimizer momentum --lr 0.05
# %pslab mode --replication between-graph --update sync
# %pslab train --steps 500 --wait

# %% [markdown]
# The plan of a step, as a picture and as text: which task runs which ops, and what is cut between them. The bytes in the plot are exactly these cuts.

# %%
# %pslab graph

# %% [markdown]
# ## Keep it
#
# A checkpoint holds the parameters, what the optimizer keeps beside them, and the global step.

# %%
# %pslab save runs/first
# %pslab evaluate

# %% [markdown]
# **Predict first.** The checkpoint was written by a cluster with one ps. Can it be restored onto two? Will it answer the same?

# %%
# %pslab cluster scale --ps 2
# %pslab restore runs/first
# %pslab evaluate

# %%
# %pslab cluster stop
