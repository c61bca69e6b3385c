"""Event files: TensorBoard's own reader finds in them what was written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.compat.proto.config_pb2 import RunMetadata as RunMetadataProto
from tensorboard.compat.proto.graph_pb2 import GraphDef

import pslab as tf
from pslab.errors import DataLossError, FailedPreconditionError
from pslab.runtime.run_options import DeviceStepStats, NodeExecStats, RunMetadata, StepStats


def read(directory: Path) -> EventAccumulator:
    found = EventAccumulator(str(directory))
    found.Reload()
    return found


def test_summaries_are_read_back(tmp_path: Path) -> None:
    merged = tf.summary.merge([tf.summary.scalar("loss", tf.constant(0.25)), tf.summary.histogram("w", tf.constant([1.0, 2.0]))])
    with tf.summary.FileWriter(tmp_path) as writer, tf.Session() as sess:
        for step in (0, 10):
            writer.add_summary(sess.run(merged), step)
        writer.add_scalar("rate", 3.0, 10)
    found = read(tmp_path)
    assert [(e.step, e.value) for e in found.Scalars("loss")] == [(0, 0.25), (10, 0.25)]
    assert [(e.step, e.value) for e in found.Scalars("rate")] == [(10, 3.0)]
    assert found.Histograms("w")[0].histogram_value.num == 2


def test_a_graph_is_read_back(tmp_path: Path) -> None:
    with tf.device("/job:ps/task:0"):
        w = tf.Variable(tf.zeros([3, 2]), name="w")
    x = tf.placeholder(tf.float32, [None, 3], name="x")
    with tf.control_dependencies([tf.no_op("first")]):
        tf.matmul(x, w, name="y")
    tf.summary.FileWriter(tmp_path, tf.get_default_graph()).close()
    graph: GraphDef = read(tmp_path).Graph()
    nodes = {node.name: node for node in graph.node}
    assert list(nodes) == [op.name for op in tf.get_default_graph().get_operations()]
    assert list(nodes["y"].input) == ["x", w.value().op.name, "^first"]
    assert nodes["w"].device == "/job:ps/task:0"
    assert [d.size for d in nodes["y"].attr["_output_shapes"].list.shape[0].dim] == [-1, 2]


def test_run_metadata_is_read_back(tmp_path: Path) -> None:
    stats = StepStats([DeviceStepStats("/job:worker/task:0/cpu:0", [NodeExecStats("y", "MatMul", 1_000, 25, 64)])])
    with tf.summary.FileWriter(tmp_path) as writer:
        writer.add_run_metadata(RunMetadata(stats), "step1", 1)
        with pytest.raises(ValueError, match="already used"):
            writer.add_run_metadata(RunMetadata(stats), "step1", 1)
    found: RunMetadataProto = read(tmp_path).RunMetadata("step1")
    device = found.step_stats.dev_stats[0]
    assert device.device == "/job:worker/task:0/cpu:0"
    node = device.node_stats[0]
    assert (node.node_name, node.all_start_micros, node.all_end_rel_micros) == ("y", 1_000, 25)


def test_a_closed_writer_says_so_and_is_reopened_into_another_file(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(tmp_path)
    writer.add_scalar("a", 1.0, 1)
    writer.close()
    with pytest.raises(FailedPreconditionError, match="is closed"):
        writer.add_scalar("a", 2.0, 2)
    writer.reopen()
    writer.add_scalar("a", 2.0, 2)
    writer.close()
    assert len(list(tmp_path.iterdir())) == 2
    assert sorted(e.value for path in tmp_path.iterdir() for e in read(path).Scalars("a")) == [1.0, 2.0]


def test_events_come_to_disk_after_so_many(tmp_path: Path) -> None:
    writer = tf.summary.FileWriter(tmp_path, max_queue=3)
    (path,) = tmp_path.iterdir()
    writer.add_scalar("a", 1.0, 1)
    writer.add_scalar("a", 1.0, 2)
    assert sum(bool(e.summary.value) for e in tf.summary.summary_iterator(path)) == 0
    writer.add_scalar("a", 1.0, 3)
    assert [e.step for e in tf.summary.summary_iterator(path) if e.summary.value] == [1, 2, 3]
    writer.close()


def test_a_corrupted_record_is_told(tmp_path: Path) -> None:
    with tf.summary.FileWriter(tmp_path) as writer:
        writer.add_scalar("a", 1.0, 1)
    (path,) = tmp_path.iterdir()
    data = bytearray(path.read_bytes())
    data[-6] ^= 1
    path.write_bytes(data)
    with pytest.raises(DataLossError, match="corrupted record"):
        list(tf.summary.summary_iterator(path))


def test_there_is_one_writer_for_a_directory(tmp_path: Path) -> None:
    first = tf.summary.FileWriterCache.get(tmp_path)
    assert tf.summary.FileWriterCache.get(str(tmp_path)) is first
    tf.summary.FileWriterCache.clear()
    assert tf.summary.FileWriterCache.get(tmp_path) is not first
    tf.summary.FileWriterCache.clear()
