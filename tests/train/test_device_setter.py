"""replica_device_setter against what TensorFlow 1 documents, and the strategy by bytes."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.errors import DeviceError, ShapeError, UsageError
from pslab.graph.graph import Graph
from pslab.graph.variables import Variable
from pslab.optim.optimizer import AdamOptimizer
from pslab.runtime.cluster_spec import ClusterSpec
from pslab.train.device_setter import GreedyLoadBalancingStrategy, byte_size_load_fn, replica_device_setter

CLUSTER = {"ps": ["ps0:2222", "ps1:2222"], "worker": ["w0:2222", "w1:2222", "w2:2222"]}


@pytest.fixture(autouse=True)
def graph():
    with Graph().as_default() as graph:
        yield graph


def variable(elements: int = 2, name: str | None = None) -> Variable:
    return Variable(np.zeros(elements, np.float32), name=name)


@pytest.mark.parametrize("cluster", [CLUSTER, ClusterSpec(CLUSTER), ClusterSpec(CLUSTER).as_dict()])
def test_variables_go_to_the_ps_in_turn_and_the_rest_to_the_worker(cluster):
    with tf.device(replica_device_setter(cluster=cluster)):
        v, w, x = variable(), variable(), variable()
        a = v + w
    assert [v.device, w.device, x.device] == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0"]
    assert [v.initializer.device, w.initializer.device] == ["/job:ps/task:0", "/job:ps/task:1"]
    assert v.value().device == "/job:ps/task:0"
    assert a.device == "/job:worker"


def test_ps_tasks_without_a_cluster():
    with tf.device(replica_device_setter(ps_tasks=3, worker_device="/job:worker/task:1")):
        devices = [variable().device for _ in range(4)]
        a = tf.constant(1.0)
    assert devices == [f"/job:ps/task:{i}" for i in (0, 1, 2, 0)]
    assert a.device == "/job:worker/task:1"


def test_a_device_within_is_merged():
    with tf.device(replica_device_setter(cluster=CLUSTER)):
        with tf.device("/cpu:0"):
            v = variable()
        w = variable()
        with tf.device("/cpu:0"):
            a = v + w
    assert v.device == v.initializer.device == "/job:ps/task:0/device:CPU:0"
    assert w.device == w.initializer.device == "/job:ps/task:1"
    assert a.device == "/job:worker/device:CPU:0"


def test_a_variable_pinned_to_another_job_takes_no_turn():
    with tf.device(replica_device_setter(cluster=CLUSTER)):
        v = variable()
        with tf.device("/job:moon"):
            w = variable()
            with tf.device("/job:ps"):  # the job itself gets a task
                x = variable()
        a = v + w
    assert [v.device, w.device, x.device, a.device] == ["/job:ps/task:0", "/job:moon", "/job:ps/task:1", "/job:worker"]


def test_a_ps_device_without_a_job():
    with tf.device(replica_device_setter(ps_tasks=1, ps_device="/cpu:0")):
        v = variable()
        with tf.device("/job:moon"):
            w = variable()
        a = v + w
    assert [v.device, w.device, a.device] == ["/device:CPU:0", "/job:moon/device:CPU:0", "/job:worker"]


def test_no_ps_device_sends_variables_to_the_worker():
    with tf.device(replica_device_setter(ps_tasks=1, ps_device="")):
        assert variable().device == "/job:worker"


def test_without_merging_whatever_has_a_device_is_left_alone():
    with tf.device(replica_device_setter(cluster=CLUSTER, merge_devices=False)):
        v = variable()
        with tf.device("/job:ps"):
            w = variable()
        a = v + w
    assert [v.device, w.device, a.device] == ["/job:ps/task:0", "/job:ps", "/job:worker"]


def test_other_names_of_jobs_and_a_type_of_device():
    cluster = {"sun": ["s0:1", "s1:1", "s2:1"], "moon": ["m0:1", "m1:1"]}
    with tf.device(replica_device_setter(ps_device="/job:moon/cpu:0", worker_device="/job:sun", cluster=cluster)):
        v, w = variable(), variable()
        a = v + w
    assert [v.device, w.device] == [f"/job:moon/task:{i}/device:CPU:0" for i in range(2)]
    assert a.device == "/job:sun"


def test_an_outer_device_fills_in_what_is_left_open():
    with tf.device("/job:worker/task:2"), tf.device(replica_device_setter(ps_tasks=1, worker_device="/job:worker")):
        v = variable()
        a = v * 2.0
    assert [v.device, a.device] == ["/job:ps/task:0", "/job:worker/task:2"]


@pytest.mark.parametrize("arguments", [{}, {"ps_tasks": 0}, {"cluster": {"worker": ["w:1"]}}, {"cluster": {"ps": []}}])
def test_without_ps_tasks_it_is_none_which_device_takes(arguments):
    setter = replica_device_setter(**arguments)
    assert setter is None
    with tf.device(setter):
        assert variable().device == ""


def test_slots_lie_with_their_variables_and_take_no_turns():
    with tf.device(replica_device_setter(cluster=CLUSTER)):
        v, w = variable(name="v"), variable(name="w")
        optimizer = AdamOptimizer()
        optimizer.minimize(tf.reduce_sum(v * w))
        x = variable(name="x")
    for slot in ("m", "v"):
        assert [optimizer.get_slot(var, slot).device for var in (v, w)] == ["/job:ps/task:0", "/job:ps/task:1"]
    assert x.device == "/job:ps/task:0"


def test_other_ops_for_the_ps():
    with tf.device(replica_device_setter(ps_tasks=2, ps_ops=["Const"])):
        assert [tf.constant(0.0).device for _ in range(2)] == ["/job:ps/task:0", "/job:ps/task:1"]
        assert Variable(tf.constant(0.0)).device == "/job:worker"


def test_bad_arguments():
    with pytest.raises(UsageError, match="ps_strategy"):
        replica_device_setter(ps_tasks=1, ps_strategy=3)
    with pytest.raises(UsageError, match="cluster"):
        replica_device_setter(cluster=3)
    with pytest.raises(DeviceError, match="nonsense"):
        replica_device_setter(ps_tasks=1, ps_device="nonsense")
    with pytest.raises(UsageError, match="found 0"):
        GreedyLoadBalancingStrategy(0, byte_size_load_fn)


def test_by_bytes_each_goes_where_the_least_load_is():
    with tf.device(replica_device_setter(ps_tasks=2, ps_strategy=GreedyLoadBalancingStrategy(2, byte_size_load_fn))):
        devices = [variable(n).device for n in (100, 10, 20, 60, 15)]
    assert devices == [f"/job:ps/task:{i}" for i in (0, 1, 1, 1, 1)]


def test_by_bytes_counts_the_dtype():
    with tf.device(replica_device_setter(ps_tasks=2, ps_strategy=GreedyLoadBalancingStrategy(2, byte_size_load_fn))):
        devices = [Variable(np.zeros(3, dtype)).device for dtype in (np.float64, np.float32, np.float32, np.float32)]
    assert devices == [f"/job:ps/task:{i}" for i in (0, 1, 1, 0)]


def test_bytes_of_an_op():
    assert byte_size_load_fn(variable(5).op) == 20
    assert byte_size_load_fn(Variable(np.int64(0)).op) == 8
    with pytest.raises(ShapeError, match="not known"):
        byte_size_load_fn(Variable(np.zeros(3), validate_shape=False, name="v").op)
    with pytest.raises(UsageError, match="0 outputs"):
        byte_size_load_fn(tf.no_op())
