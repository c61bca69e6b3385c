"""What public programs rely on beyond names: half-private parts, classes of errors, spellings, placement."""

from __future__ import annotations

import numpy as np
import pytest

import pslab as tf
from pslab.runtime.cluster_spec import ClusterSpec


def run(fetches, feed_dict=None):
    with tf.Session() as session:
        return session.run(fetches, feed_dict)


# Half-private parts


def test_a_collection_may_be_deleted_from_the_graph() -> None:
    tf.Variable(1.0)
    collections = tf.get_default_graph()._collections
    assert len(collections[tf.GraphKeys.GLOBAL_VARIABLES]) == 1
    del collections[tf.GraphKeys.GLOBAL_VARIABLES]
    assert tf.global_variables() == []
    assert len(tf.trainable_variables()) == 1


def test_the_session_below_a_monitored_one() -> None:
    v = tf.Variable(3.0)
    tf.train.get_or_create_global_step()
    with tf.train.MonitoredTrainingSession() as session:
        assert session._tf_sess().run(v) == 3.0
        assert session.graph is tf.get_default_graph()


# Classes of errors


def test_a_placeholder_that_is_not_fed_is_named() -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="images")
    with pytest.raises(tf.errors.InvalidArgumentError, match="images"):
        run(x * 2.0)


@pytest.mark.parametrize("value", [[[1, 2, 3]], [1.0, 2.0]])
def test_a_feed_of_the_wrong_shape(value) -> None:
    x = tf.placeholder(tf.float32, [None, 2])
    with pytest.raises(ValueError, match="shape"):
        run(x, {x: value})


def test_the_end_of_a_queue() -> None:
    queue = tf.FIFOQueue(2, tf.float32)
    put, close, take = queue.enqueue(1.0), queue.close(), queue.dequeue()
    with tf.Session() as session:
        session.run(put)
        session.run(close)
        assert session.run(take) == 1.0
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(take)


def test_a_variable_without_a_value() -> None:
    v = tf.Variable(1.0)
    with pytest.raises(tf.errors.FailedPreconditionError):
        run(v)


def test_a_run_after_the_end() -> None:
    step = tf.train.get_or_create_global_step()
    more = tf.assign_add(step, 1)
    with tf.train.MonitoredTrainingSession(hooks=[tf.train.StopAtStepHook(last_step=1)]) as session:
        session.run(more)
        assert session.should_stop()
        with pytest.raises(RuntimeError, match=r"^Run called even after should_stop requested\.$"):
            session.run(more)


def test_a_run_of_a_closed_session() -> None:
    session = tf.Session()
    session.close()
    with pytest.raises(RuntimeError, match="closed"):
        session.run(tf.constant(1))


def test_a_name_that_the_graph_does_not_have() -> None:
    graph = tf.get_default_graph()
    for look_up, name in ((graph.get_tensor_by_name, "w:0"), (graph.get_operation_by_name, "w")):
        with pytest.raises(KeyError):
            look_up(name)
    with pytest.raises(ValueError, match="no op named 'w'"):
        run("w:0")


def test_no_default_session() -> None:
    with pytest.raises(ValueError, match="no default session"):
        tf.constant(1).eval()


def test_shapes_that_do_not_fit_are_told_when_the_graph_is_built() -> None:
    with pytest.raises(ValueError, match=r"\(2, 3\)"):
        tf.matmul(tf.zeros([2, 3]), tf.zeros([2, 3]))
    tf.get_variable("w", [1])
    with pytest.raises(ValueError, match="exists already"):
        tf.get_variable("w", [1])


def test_the_errors_that_tell_of_lost_tasks_are_there() -> None:
    assert tf.OpError is tf.errors.OpError
    assert issubclass(tf.errors.UnavailableError, tf.errors.OpError)
    assert issubclass(tf.errors.AbortedError, tf.errors.OpError)
    assert issubclass(tf.errors.AlreadyExistsError, tf.errors.OpError)


# Spellings


def test_a_dtype_by_name() -> None:
    x = tf.placeholder("float", [None, 2])
    assert x.dtype == tf.float32
    assert tf.cast(x, "int32").dtype == tf.int32
    assert tf.placeholder("float").get_shape().ndims is None


def test_a_standard_deviation_may_be_a_tensor() -> None:
    drawn = run(tf.truncated_normal([4000], stddev=tf.constant(0.01), seed=1))
    assert np.abs(drawn).max() <= 0.02
    assert drawn.std() == pytest.approx(0.0088, rel=0.05)
    assert run(tf.random_normal([4000], stddev=1.0 / tf.sqrt(tf.constant(100.0)), seed=1)).std() == pytest.approx(0.1, rel=0.05)


def test_logits_before_labels_by_position() -> None:
    logits, labels = np.float32([[2, 0, 1]]), np.float32([[0, 1, 0]])
    expected = -np.log(np.exp(0.0) / np.exp(logits).sum())
    np.testing.assert_allclose(run(tf.nn.softmax_cross_entropy_with_logits(logits, labels)), [expected], rtol=1e-6)


def test_static_shapes_as_programs_look_at_them() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    assert x.get_shape().as_list() == [None, 3]
    assert len(x.shape) == 2
    assert (x.shape[1].value, int(x.get_shape()[1])) == (3, 3)
    assert x.shape[0].value is None
    assert (x.shape[0] * 2).value is None
    assert (x.shape[1] + x.shape[0]).value is None
    assert tf.TensorShape([x.shape[0], 2]).as_list() == [None, 2]
    assert tf.placeholder(tf.float32).shape[0].value is None
    assert tf.Variable(tf.zeros([4, 2])).get_shape()[0].value == 4


def test_a_truth_value_may_be_fed_as_a_number() -> None:
    training = tf.placeholder(tf.bool)
    assert [bool(run(training, {training: value})) for value in (1, 0, True)] == [True, False, True]
    with pytest.raises(ValueError, match="bool"):
        run(training, {training: 2})


def test_no_summaries_make_none() -> None:
    assert tf.summary.merge_all() is None
    assert tf.merge_all_summaries() is None


def test_a_summary_is_made_by_hand(tmp_path) -> None:
    summary = tf.Summary(value=[tf.Summary.Value(tag="accuracy", simple_value=0.5)])
    summary.value.add(tag="loss", simple_value=2.0)
    with tf.summary.FileWriter(str(tmp_path)) as writer:
        writer.add_summary(summary, 7)
    (path,) = tmp_path.iterdir()
    found = [(e.step, v.tag, v.simple_value) for e in tf.train.summary_iterator(str(path)) for v in e.summary.value]
    assert found == [(7, "accuracy", 0.5), (7, "loss", 2.0)]


def test_a_new_axis() -> None:
    x = tf.constant([1, 2])
    assert run(x[:, tf.newaxis]).tolist() == [[1], [2]]
    assert x[tf.newaxis, ...].get_shape().as_list() == [1, 2]


def test_the_name_scope_that_is_open() -> None:
    graph = tf.get_default_graph()
    with tf.name_scope("a"), tf.name_scope("b"):
        assert graph.get_name_scope() == "a/b"
    assert graph.get_name_scope() == ""


def test_options_are_set_one_by_one() -> None:
    config = tf.ConfigProto()
    assert not config.gpu_options.allow_growth
    config.gpu_options.allow_growth = True
    config.gpu_options.per_process_gpu_memory_fraction = 0.4
    config.device_filters.append("/job:ps")
    config.allow_soft_placement = True
    with tf.Session(config=config) as session:
        assert session.run(tf.constant(2)) == 2
    assert tf.ConfigProto().device_filters == []


def test_a_traced_run() -> None:
    metadata = tf.RunMetadata()
    with tf.Session() as session:
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        assert session.run(tf.add(1, 2, name="sum"), options=options, run_metadata=metadata) == 3
    assert "sum" in [node.node_name for device in metadata.step_stats.dev_stats for node in device.node_stats]


def test_what_is_run_without_naming_the_session() -> None:
    v = tf.Variable(2.0, name="v")
    session = tf.InteractiveSession()
    try:
        tf.global_variables_initializer().run()
        v.assign_add(1.0).op.run()
        assert (v.eval(), (v * 2.0).eval()) == (3.0, 6.0)
        assert session.graph is v.graph
    finally:
        session.close()
    with tf.Session().as_default() as other:
        v.initializer.run()
        assert v.eval() == 2.0
    other.close()
    assert (v.op.name, v.name, v.initializer.type) == ("v", "v:0", "Assign")


# Clusters and placement


@pytest.mark.parametrize(
    "cluster",
    [
        {"ps": ["a:1"], "worker": ["b:1", "b:2"]},
        {"ps": {0: "a:1"}, "worker": {0: "b:1", 1: "b:2"}},
        ClusterSpec({"ps": ["a:1"], "worker": ["b:1", "b:2"]}),
    ],
)
def test_a_cluster_in_any_form(cluster) -> None:
    spec = tf.train.ClusterSpec(cluster)
    assert spec.as_dict() == {"ps": ["a:1"], "worker": ["b:1", "b:2"]}
    assert spec.num_tasks("worker") == 2
    setter = tf.train.replica_device_setter(worker_device="/job:worker/task:1", cluster=cluster)
    with tf.device(setter):
        v = tf.Variable(0.0)
        y = v + 1.0
    assert (v.device, y.device) == ("/job:ps/task:0", "/job:worker/task:1")


def test_the_number_of_ps_alone() -> None:
    with tf.device(tf.train.replica_device_setter(ps_tasks=2, worker_device="/job:worker/replica:0/task:1")), tf.device("/cpu:0"):
        a, b, c = (tf.Variable(0.0) for _ in range(3))
        y = a + b
    assert [v.device for v in (a, b, c)] == [f"/job:ps/task:{i}/device:CPU:0" for i in (0, 1, 0)]
    assert y.device == "/job:worker/replica:0/task:1/device:CPU:0"


def served(config=None) -> tf.train.Server:
    """The server of a plain dict's only task, on a free port."""
    return tf.train.Server({"worker": ["127.0.0.1:0"]}, job_name="worker", task_index=0, config=config)


def test_what_has_no_device_runs_where_the_session_is(capsys) -> None:
    server = served()
    with tf.Session(server.target, config=tf.ConfigProto(log_device_placement=True)) as session:
        session.run(tf.constant(1, name="a"))
        with tf.device("/job:worker/replica:0/task:0/cpu:0"):
            session.run(tf.constant(1, name="b"))
    server.close()
    assert capsys.readouterr().out.splitlines() == [f"{n}: (Const): /job:worker/replica:0/task:0/device:CPU:0" for n in "ab"]


@pytest.mark.parametrize("whose", ["server", "session"])
def test_soft_placement_may_be_the_servers_or_the_sessions(whose: str) -> None:
    soft = tf.ConfigProto(allow_soft_placement=True)
    server = served(soft if whose == "server" else None)
    with tf.device("/job:worker/task:0/gpu:7"):
        a = tf.constant(5)
    with tf.Session(server.target, config=soft if whose == "session" else None) as session:
        assert session.run(a) == 5
    server.close()


def test_without_soft_placement_a_device_must_be_there() -> None:
    server = served(tf.ConfigProto(log_device_placement=False))
    with tf.device("/gpu:7"):
        a = tf.constant(5)
    with tf.Session(server.target) as session, pytest.raises(ValueError, match="GPU:7"):
        session.run(a)
    server.close()


def test_done_queues_are_shared_by_name() -> None:
    """As the ps of many programs waits for its workers: each side builds the queue in a graph of its own."""
    server = served()
    with tf.Graph().as_default(), tf.Session(server.target) as worker:
        worker.run(tf.FIFOQueue(2, tf.int32, shared_name="done_queue0").enqueue(1))
    with tf.Graph().as_default(), tf.Session(server.target) as ps:
        assert ps.run(tf.FIFOQueue(2, tf.int32, shared_name="done_queue0").dequeue()) == 1
    server.close()
