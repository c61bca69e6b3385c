"""Bringing a cluster up against Dask's own LocalCluster with as many workers; and importing pslab.

python benchmarks/cluster_start.py
"""

from __future__ import annotations

import subprocess
import sys
from statistics import median
from time import perf_counter

BARE = """
import time; began = time.perf_counter()
from distributed import LocalCluster, Client
import dask
if __name__ == "__main__":
    dask.config.set({"distributed.worker.multiprocessing-method": "forkserver"})
    with LocalCluster(n_workers=3, threads_per_worker=1, dashboard_address=None) as cluster, Client(cluster) as client:
        client.wait_for_workers(3)
        print(time.perf_counter() - began)
"""
OURS = """
import time; began = time.perf_counter()
from pslab.cluster import Cluster
with Cluster(ps=1, workers=2) as cluster:
    print(time.perf_counter() - began)
"""
IMPORT = "import time; began = time.perf_counter(); import pslab; print(time.perf_counter() - began)"


def seconds(program: str) -> float:
    """What a program prints."""
    began = perf_counter()
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert perf_counter() > began
    return float(done.stdout.split()[-1])


def main() -> None:
    """Print medians, and their ratio."""
    rounds = [(seconds(BARE), seconds(OURS)) for _ in range(5)]
    bare, ours = median(b for b, _ in rounds), median(o for _, o in rounds)
    ratio = median(o / b for b, o in rounds)
    print(f"LocalCluster(n_workers=3) {bare:.2f} s  Cluster(ps=1, workers=2) {ours:.2f} s  ratio {ratio:.2f}  (target 1.5)")
    print(f"import pslab {median(seconds(IMPORT) for _ in range(5)):.3f} s  (target 0.5)")


if __name__ == "__main__":
    main()
