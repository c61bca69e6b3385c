"""Tasks on Dask: a cluster of ps and worker tasks in a host process of its own."""

from pslab.cluster.cluster import Cluster
from pslab.cluster.status import ClusterStatus, TaskStatus

__all__ = ["Cluster", "ClusterStatus", "TaskStatus"]
