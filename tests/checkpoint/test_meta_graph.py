"""Models that outlive their programs: graphs with their collections, to files and back."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import pslab as tf
from pslab.checkpoint.meta_graph import MetaGraph
from pslab.errors import DataLossError, InvalidArgumentError, NotFoundError, OutOfRangeError, UnimplementedError, UsageError
from pslab.graph.registry import op_def, register
from tests.checkpoint.trained import data


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """A directory with a model that another process trained for 10 steps, and the loss it had after 10 more."""
    directory = tmp_path_factory.mktemp("trained")
    program = Path(__file__).with_name("trained.py")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    done = subprocess.run([sys.executable, str(program), str(directory)], capture_output=True, text=True, check=True, env=environment)
    return directory, float(done.stdout)


def linear() -> tuple[tf.Tensor, tf.Variable, tf.Tensor]:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.name_scope("net"):
        w = tf.Variable(tf.constant([[1.0], [2.0]]), name="w")
        y = tf.matmul(x, w, name="y")
    return x, w, y


def test_a_model_goes_on_where_its_program_is_not(trained):
    directory, expected = trained
    saver = tf.train.import_meta_graph(directory / "model.ckpt-10.meta")
    graph = tf.get_default_graph()
    feed = dict(zip(("x:0", "y:0"), data(), strict=True))
    [train_op] = graph.get_collection(tf.GraphKeys.TRAIN_OP)
    with tf.Session() as session:
        saver.restore(session, tf.train.latest_checkpoint(directory))
        assert session.run("global_step:0") == 10
        for _ in range(10):
            session.run(train_op, feed)
        [loss] = graph.get_collection(tf.GraphKeys.LOSSES)
        assert loss is graph.get_tensor_by_name("loss:0")
        assert session.run(loss, feed) == expected
        assert tf.train.global_step(session, tf.train.get_global_step()) == 20
    assert graph.get_collection("hyper") == [0.05]
    assert [v.name for v in tf.trainable_variables()] == ["hidden/w:0", "v:0"]
    assert set(tf.trainable_variables()) <= set(tf.global_variables())
    assert graph.seed == 1


def test_it_goes_on_under_a_scope_and_saves_under_the_names_it_had(trained, tmp_path):
    directory, expected = trained
    saver = tf.train.import_meta_graph(directory / "model.ckpt-10.meta", import_scope="old")
    x, y = data()
    feed = {"old/x:0": x, "old/y:0": y}
    with tf.Session() as session:
        saver.restore(session, directory / "model.ckpt-10")
        for _ in range(10):
            session.run(tf.get_collection(tf.GraphKeys.TRAIN_OP), feed)
        assert session.run("old/loss:0", feed) == expected
        prefix = saver.save(session, tmp_path / "again")
    assert tf.train.list_variables(prefix) == tf.train.list_variables(directory)
    assert all(op.name.startswith("old/") for op in tf.get_default_graph().operations)


def test_new_ops_of_the_same_names_get_others(tmp_path):
    linear()
    tf.train.export_meta_graph(tmp_path / "m.meta")
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph(tmp_path / "m.meta") is not None
        x, w, y = linear()
        assert (x.name, w.name, y.name) == ("x_1:0", "net_1/w:0", "net_1/y:0")


def test_variables_keep_their_initialisers_and_their_devices(tmp_path):
    with tf.device("/job:localhost/task:0"):
        linear()
    meta = tf.train.export_meta_graph(tmp_path / "m.meta")
    for clear in (False, True):
        with tf.Graph().as_default():
            tf.train.import_meta_graph(meta, clear_devices=clear)
            [w] = tf.global_variables()
            assert (w.device, w.shape, w.dtype) == ("" if clear else "/job:localhost/task:0", (2, 1), tf.float32)
            with tf.Session() as session:
                session.run(tf.global_variables_initializer())
                np.testing.assert_array_equal(session.run(w), [[1], [2]])
                np.testing.assert_array_equal(session.run(w.assign_add([[1.0], [1.0]])), [[2], [3]])
                np.testing.assert_array_equal(session.run("net/y:0", {"x:0": [[10.0, 1.0]]}), [[23]])


def test_control_inputs_on_later_ops_and_a_circle():
    first, second = tf.no_op(name="first"), tf.no_op(name="second")
    first.add_control_input(second)
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(meta)
        assert graph.get_operation_by_name("first").control_inputs == (graph.get_operation_by_name("second"),)
    second.add_control_input(first)
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default() as graph, pytest.raises(InvalidArgumentError, match="circle: first → second → first"):
        tf.train.import_meta_graph(meta)
    assert graph.operations == []


def test_queue_runners_go_on(tmp_path):
    queue = tf.FIFOQueue(4, [tf.float32], [[]], name="numbers")
    step = tf.Variable(0.0, name="step")
    runner = tf.train.QueueRunner(queue, [queue.enqueue(step.assign_add(1.0))])
    tf.train.add_queue_runner(runner)
    queue.dequeue(name="taken")
    meta = tf.train.export_meta_graph(tmp_path / "m.meta")
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(tmp_path / "m.meta", import_scope="a")
        [again] = graph.get_collection(tf.GraphKeys.QUEUE_RUNNERS)
        assert again.name == "a/numbers"
        assert again.queue_closed_exception_types == (OutOfRangeError,)
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            coordinator = tf.train.Coordinator()
            threads = tf.train.start_queue_runners(session, coordinator)
            assert [float(session.run("a/taken:0")) for _ in range(5)] == [1, 2, 3, 4, 5]
            coordinator.request_stop()
            coordinator.join(threads)
    assert MetaGraph.from_bytes(meta.to_bytes()).collections == meta.collections


def test_what_cannot_be_written_is_left_out_by_name(tmp_path):
    x, _, _ = linear()
    tf.add_to_collection("mine", x)
    tf.add_to_collection("mine", tmp_path)
    tf.add_to_collection("__hidden", object())
    with pytest.warns(UserWarning, match=r"collection 'mine' is written without .*PosixPath"):
        meta = tf.train.export_meta_graph()
    assert meta.collections["mine"] == (("tensor", "x:0"),)
    assert "__hidden" not in meta.collections
    assert tf.train.export_meta_graph(collection_list=["variables"]).collections.keys() == {"variables"}


def test_an_op_that_calls_the_programs_own_code_is_written_to_no_file_and_read_from_none(tmp_path):
    if "TestOfMyOwn" not in {op_def("NoOp").type}:
        register("TestOfMyOwn", infer=lambda op: [], kernel=lambda xp: None, portable=False)
    _, w, _ = linear()
    saver = tf.train.Saver()
    tf.get_default_graph().create_op("TestOfMyOwn", [], name="mine")
    with pytest.raises(UnimplementedError, match=r"op 'mine' \(TestOfMyOwn\) calls code of this program"):
        tf.train.export_meta_graph(tmp_path / "m.meta")
    with tf.Session() as session:
        session.run(w.initializer)
        with pytest.warns(UserWarning, match=r"m\.meta was not written: op 'mine'"):
            saver.save(session, tmp_path / "m")
        saver.restore(session, tmp_path / "m")
    foreign = tf.get_default_graph().as_graph_def()
    with tf.Graph().as_default(), pytest.raises(InvalidArgumentError, match=r"'import/mine' \(TestOfMyOwn\) cannot be: .*calls code"):
        tf.import_graph_def(foreign)


def test_a_scope_alone(tmp_path):
    with tf.name_scope("model"):
        linear()
    with tf.name_scope("other"):
        v = tf.Variable(1.0, name="v")
    tf.train.export_meta_graph(tmp_path / "m.meta", export_scope="model")
    with tf.Graph().as_default() as graph:
        tf.train.import_meta_graph(tmp_path / "m.meta")
        assert [u.name for u in tf.global_variables()] == ["net/w:0"]
        with tf.Session() as session:
            session.run(tf.global_variables_initializer())
            np.testing.assert_array_equal(session.run("net/y:0", {"x:0": [[1.0, 1.0]]}), [[3]])
        assert "other/v" not in graph
    with tf.name_scope("model/"):
        tf.add(v, 1.0, name="late")
    with pytest.raises(InvalidArgumentError, match="'model/late' takes 'other/v/read:0', which is outside"):
        tf.train.export_meta_graph(export_scope="model")
    with pytest.raises(InvalidArgumentError, match="no ops in scope 'none'"):
        tf.train.export_meta_graph(export_scope="none")


def test_a_scope_gets_another_name_in_the_graph_and_the_checkpoint(trained, tmp_path):
    directory, _ = trained
    prefix = tf.train.rename_scope(directory / "model.ckpt-10", tmp_path / "renamed", "hidden", "encoder/first")
    names = [name for name, _ in tf.train.list_variables(prefix)]
    assert "encoder/first/w/Adam" in names and not any(name.startswith("hidden") for name in names)
    saver = tf.train.import_meta_graph(prefix + ".meta")
    x, y = data()
    with tf.Session() as session:
        saver.restore(session, prefix)
        session.run("Adam", {"x:0": x, "y:0": y})
        assert session.run("global_step:0") == 11
        expected = tf.train.load_variable(directory, "hidden/w")
        assert np.abs(session.run("encoder/first/w:0") - expected).max() > 0
    with pytest.raises(UsageError, match="nothing in the checkpoint is in scope 'none'"):
        tf.train.rename_scope(prefix, tmp_path / "m", "none", "other")
    with pytest.raises(UsageError, match="two of"):
        tf.train.rename_scope(prefix, tmp_path / "m", "encoder/first/w", "v")


def test_graphs_without_collections(tmp_path):
    linear()
    graph_def = tf.get_default_graph().as_graph_def()
    assert [node.name for node in graph_def.node][:2] == ["x", "net/Const"]
    text = Path(tf.train.write_graph(graph_def, tmp_path / "new", "graph.txt")).read_text()
    assert "net/y = MatMul(x:0, net/w/read:0) transpose_a=False transpose_b=False -> float32 (?, 1)" in text
    again = tf.train.read_graph(tf.train.write_graph(tf.get_default_graph(), tmp_path, "graph.pb", as_text=False))
    with tf.Graph().as_default():
        doubled = tf.constant([[2.0, 4.0]])
        [y, init] = tf.import_graph_def(again, {"x:0": doubled}, ["net/y:0", "net/w/Assign"])
        [other] = tf.import_graph_def(again, {"x": doubled}, ["net/y:0"], name="")
        assert (y.name, other.name) == ("import/net/y:0", "net/y:0")
        with tf.Session() as session:
            session.run(init)
            np.testing.assert_array_equal(session.run(y), [[10]])
        with pytest.raises(InvalidArgumentError, match=r"'x' \(Placeholder\) cannot be: the graph has an op of that name already"):
            tf.import_graph_def(again, name="")
        before = tf.get_default_graph().operations
        with pytest.raises(NotFoundError, match="third/none"):
            tf.import_graph_def(again, return_elements=["none"], name="third")
        with pytest.raises(UsageError, match=r"input_map names tensors .*: z:0"):
            tf.import_graph_def(again, {"z": doubled}, name="third")
        assert tf.get_default_graph().operations == before


def test_what_is_no_graph_is_told(tmp_path):
    with pytest.raises(NotFoundError, match=r"cannot read .*none\.meta"):
        tf.train.import_meta_graph(tmp_path / "none.meta")
    (tmp_path / "m.meta").write_text('{"format": 1}')
    with pytest.raises(DataLossError, match=r"m\.meta is no graph of pslab's"):
        tf.train.import_meta_graph(str(tmp_path / "m.meta"))
    with pytest.raises(UsageError, match="not from a int"):
        tf.train.import_meta_graph(3)


def test_without_variables_there_is_no_saver():
    tf.constant(1.0, name="c")
    meta = tf.train.export_meta_graph()
    with tf.Graph().as_default():
        assert tf.train.import_meta_graph(meta) is None


def test_bytes_and_strings_in_constants():
    tf.constant(np.array([b"\xff", "ü"], object), name="words")
    meta = MetaGraph.from_bytes(tf.train.export_meta_graph().to_bytes())
    with tf.Graph().as_default(), tf.Session() as session:
        tf.train.import_meta_graph(meta)
        assert session.run("words:0").tolist() == [b"\xff", "ü".encode()]


def test_saving_often_warns_of_nothing(tmp_path):
    _, w, _ = linear()
    saver = tf.train.Saver()
    tf.add_to_collection(tf.GraphKeys.SAVERS, saver)
    with warnings.catch_warnings(), tf.Session() as session:
        warnings.simplefilter("error")
        session.run(w.initializer)
        saver.save(session, tmp_path / "m")
    with tf.Graph().as_default():
        again = tf.train.import_meta_graph(tmp_path / "m.meta")
        assert tf.get_collection(tf.GraphKeys.SAVERS) == [again]
