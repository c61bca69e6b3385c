"""ClusterSpec, by TensorFlow 1's documentation of tf.train.ClusterSpec."""

import pytest

from pslab.errors import NotFoundError, UsageError
from pslab.runtime.cluster_spec import ClusterSpec

DICT = {"ps": ["ps0.example:2222"], "worker": ["worker0.example:2222", "worker1.example:2222"]}


def test_jobs_and_tasks() -> None:
    spec = ClusterSpec(DICT)
    assert spec.jobs == ["ps", "worker"]
    assert spec.num_tasks("worker") == 2
    assert spec.task_address("worker", 1) == "worker1.example:2222"
    assert spec.job_tasks("ps") == ["ps0.example:2222"]
    assert spec.as_dict() == DICT
    assert spec.as_cluster_def().as_dict() == DICT
    assert ClusterSpec(spec) == spec
    assert spec.task_names() == ["ps:0", "worker:0", "worker:1"]


def test_a_sparse_job_keeps_its_indices() -> None:
    spec = ClusterSpec({"worker": {1: "a:1", 3: "b:2"}})
    assert spec.task_indices("worker") == [1, 3]
    assert spec.as_dict() == {"worker": {1: "a:1", 3: "b:2"}}


def test_what_is_not_there_is_named() -> None:
    with pytest.raises(NotFoundError, match="no job 'master'; there is ps, worker"):
        ClusterSpec(DICT).num_tasks("master")
    with pytest.raises(NotFoundError, match="job 'worker' has no task 2; it has 0, 1"):
        ClusterSpec(DICT).task_address("worker", 2)


@pytest.mark.parametrize("bad", [["ps:1"], {"ps": "host:2222"}, {"ps": ["host"]}, {"ps": {"0": "host:1"}}, {"ps": [1]}])
def test_what_is_no_cluster_is_refused(bad) -> None:
    with pytest.raises(UsageError):
        ClusterSpec(bad)
