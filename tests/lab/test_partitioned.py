"""A lab whose workers load their own parts: of a Dask array in real processes, and of files."""

from __future__ import annotations

import dask.array
import numpy as np
import pandas as pd
import pytest

from pslab.errors import UsageError
from pslab.lab.lab import Lab
from pslab.train.updates import Async, Sync

X = np.random.default_rng(0).normal(size=(400, 3)).astype(np.float32)
Y = (X.sum(axis=1) > 0).astype(np.int64)


@pytest.fixture
def lab():
    lab = Lab()
    yield lab
    lab.cluster.stop()


def test_training_on_dask_arrays_in_processes(lab) -> None:
    lab.data(dask.array.from_array(X, chunks=(100, 3)), dask.array.from_array(Y, chunks=100), batch_size=16)
    lab.model("logistic", learning_rate=0.5)
    lab.cluster.start(ps=1, workers=2, processes=True)
    status = lab.train(150, wait=True)
    assert (status.state, status.global_step, status.dataset) == ("done", 150, "partition 0")
    assert lab.evaluate()["accuracy"] >= 0.9
    assert set(lab.predict(n=3)) >= {"target"}


@pytest.mark.parametrize(("replication", "update"), [("between-graph", Sync()), ("in-graph", Async())])
def test_training_on_files_in_threads(lab, tmp_path, replication, update) -> None:
    for part in range(3):
        pd.DataFrame({**{f"x{i}": X[part::3, i] for i in range(3)}, "y": Y[part::3]}).to_parquet(tmp_path / f"{part}.parquet")
    lab.data(f"{tmp_path}/*.parquet", label="y", batch_size=16)
    lab.model("logistic", learning_rate=0.5)
    lab.mode(replication=replication, update=update)
    lab.cluster.start(ps=1, workers=2, processes=False)
    assert lab.train(100, wait=True).global_step == 100
    assert lab.evaluate()["accuracy"] >= 0.85


def test_a_worker_with_less_than_a_batch_says_so(lab, tmp_path) -> None:
    for part in range(2):
        np.savez(tmp_path / f"{part}.npz", x=X[:40], y=Y[:40])
    lab.data(f"{tmp_path}/*.npz", batch_size=36)
    lab.cluster.start(ps=1, workers=2, processes=False)
    with pytest.raises(UsageError, match="a batch of 36 is 36 examples, but there are 32"):
        lab.train(10)
    with pytest.raises(UsageError, match="batch_size must be"):
        lab.data(f"{tmp_path}/*.npz", batch_size=0)
