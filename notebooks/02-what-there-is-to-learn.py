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
# # What there is to learn: staleness, stragglers, slow links
#
# Workers that wait for each other waste time; workers that do not wait compute on parameters that are out of date. Everything in distributed training
# is a
# way to live between the two. Each section asks you to **predict first**; the cell after it measures.

# %%
# %load_ext pslab

# %%
# %pslab cluster start --ps 1 --workers 4
# %pslab model mlp --hidden 64
# %pslab mode --update async

# %% [markdown]
# ## 1. Staleness
#
# **Predict first.** Four equal workers, async. Between a worker's read and its own update, how many updates do the others make, on average?

# %%
guess = 3

# %%
# %pslab train --steps 2000 --wait
staleness = lab.metrics()["staleness"]
print(
    f"measured {staleness.mean():.2f}:",
    "as predicted" if abs(staleness.mean() - guess) < 0.3 else f"not {guess}; count the others' turns between two of yours",
)

# %%
staleness.value_counts(normalize=True).sort_index().round(3).to_frame("share of the updates")

# %% [markdown]
# ## 2. A straggler
#
# All workers take 5 ms more per step; the last takes 20 ms.
#
# **Predict first.** By which factor does *sync* slow down, compared with four equal workers? And *async*? Write both down.

# %%
from pslab import SSP, Async, Constant, Differences, Sync

for worker in range(4):
    lab.cluster.slow(f"worker:{worker}", Constant(0.005 if worker < 3 else 0.02))

# %%
slowed = lab.sweep({"update": [Sync(), Sync(backup=1), SSP(3), Async()]}, steps=120, seeds=1)
slowed.table[["update", "seconds", "worker_steps_per_s", "staleness_mean", "wait_share", "test_accuracy"]]

# %% [markdown]
# *Sync* goes at the pace of the slowest. With a *backup* it does without the slowest, whose work is lost: it was dropped, and counted. *SSP* lets the
# fast ones be three
# steps ahead, and then they wait, too. *Async* waits for nobody. (A step of async is one worker's gradient, a step of sync the mean of four: compare
# worker steps per second.)

# %%
for worker in range(4):
    lab.cluster.slow(f"worker:{worker}", None)

# %% [markdown]
# ## 3. A slow link
#
# Now the network is the bottleneck: every task's port gets 50 Mbit/s, and every message takes 1 ms.

# %%
# %pslab cluster link --bandwidth 50Mbit --latency 1ms
# %pslab mode --update sync
# %pslab train --steps 40 --wait

# %% [markdown]
# **Predict first.** The model has 64·64 + 64 + 64·10 + 10 = 4810 parameters of 4 bytes. Four workers push them to one ps and pull them. How long does a
# step take?

# %%
# %pslab cost

# %%
# %pslab traffic

# %% [markdown]
# ### Talk less often
#
# *Local SGD*: each worker takes k steps on a copy of its own, and commits how far it has gone; the ps averages.
#
# **Predict first.** What becomes of the bytes per step at k = 16? And of the time to 90 %?

# %%
less_often = lab.sweep({"commit_every": [1, 4, 16, 64], "commit": [Differences()]}, accuracy=0.9, seconds=30, seeds=2)
less_often.plot()
less_often.table[["commit_every", "seconds", "steps", "bytes_pushed_per_step", "test_accuracy"]]

# %% [markdown]
# ### Say less
#
# Or send every gradient, but in fewer bytes. What is left out now is added to the next one (*error feedback*).

# %%
from pslab import Float16, Int8, OneBit, TopK

shorter = lab.sweep({"compression": [None, Float16(), Int8(), OneBit(), TopK(0.01)]}, steps=100, seeds=1)
shorter.table[["compression", "seconds", "bytes_pushed_per_step", "test_accuracy"]]

# %%
# %pslab cluster unlink

# %% [markdown]
# ## 4. Replicas that drift apart
#
# **Predict first.** Four replicas train alone for 64 steps, and are then averaged. Is the average better than the replicas, or worse? Does it matter
# whether they began at
# the same initial values?

# %%
# %pslab mode --update sync --commit-every 64 --commit differences
# %pslab reset
# %pslab step 1
# %pslab merge-gap

# %%
# %pslab mode --own-start
# %pslab reset
# %pslab step 1
# %pslab merge-gap

# %% [markdown]
# A convex model has one minimum, and the average of points around it is nearer to it. An MLP has many. From one start the replicas stay in one basin;
# from starts of their own
# each finds another, and between two valleys there is a hill.

# %%
# %pslab train --steps 30 --wait
# %pslab divergence

# %% [markdown]
# ## 5. Without a parameter server
#
# In a *ring* the workers average their gradients among themselves: each passes a part of them on to its neighbour, 2(n−1) times. Nobody has to take
# everything in.

# %%
# %pslab mode --update ring --commit gradients --commit-every 1
# %pslab train --steps 200 --wait

# %%
# %pslab timeline

# %% [markdown]
# And a *pipeline* divides not the data but the model: each worker has some layers. A batch is cut into microbatches, so that all have something to do;
# what is left is the *bubble*
# at the beginning and the end of a step.

# %%
# %pslab model mlp --hidden 256 256 256 --stages 4
# %pslab mode --replication in-graph --update pipeline --microbatches 8
# %pslab train --steps 50 --wait
# %pslab timeline

# %%
# %pslab cluster stop
