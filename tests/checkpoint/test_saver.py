"""The Saver, with real sessions: in one process, and on servers of several tasks."""

from __future__ import annotations

import os
import socket
import zlib
from contextlib import ExitStack, closing

import numpy as np
import pytest
from safetensors.numpy import load_file

import pslab as tf
from pslab.checkpoint.files import open_checkpoint, write_checkpoint
from pslab.checkpoint.saver import Saver
from pslab.checkpoint.state import get_checkpoint_state, latest_checkpoint
from pslab.errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    ResourceExhaustedError,
    UnimplementedError,
    UsageError,
)
from pslab.graph.graph import Graph
from pslab.graph.variables import Variable
from pslab.runtime.cluster_spec import ClusterSpec
from pslab.runtime.server import Server


@pytest.fixture
def graph():
    with Graph().as_default() as graph:
        yield graph


@pytest.fixture
def model(graph):
    """A matrix, a vector and a step, of three dtypes."""
    return [
        Variable(np.arange(6, dtype=np.float32).reshape(2, 3), name="layer/w"),
        Variable(np.arange(3.0), name="layer/b"),
        Variable(np.int64(5), trainable=False, name="global_step"),
    ]


@pytest.fixture
def session(model):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        yield session


def load(session, variables, value) -> None:
    for variable in variables:
        variable.load(np.full(variable.shape.as_tuple(), value, variable.dtype.as_numpy_dtype), session)


def files(directory) -> list[str]:
    return sorted(name.removesuffix(".safetensors") for name in os.listdir(directory) if name.endswith(".safetensors"))


def test_saves_and_restores_with_a_finalized_graph(model, session, tmp_path):
    saver = Saver()
    session.graph.finalize()
    before = session.run(model)
    prefix = saver.save(session, tmp_path / "new" / "model.ckpt", global_step=100)
    assert prefix == str(tmp_path / "new" / "model.ckpt-100")
    assert sorted(os.listdir(tmp_path / "new")) == ["checkpoint", "model.ckpt-100.meta", "model.ckpt-100.safetensors"]
    load(session, model, 9)
    saver.restore(session, prefix)
    for found, expected in zip(session.run(model), before, strict=True):
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == expected.dtype


def test_restores_into_variables_that_were_not_initialised(model, session, tmp_path):
    saver = Saver()
    prefix = saver.save(session, tmp_path / "m")
    with tf.Session() as other:
        saver.restore(other, prefix)
        np.testing.assert_array_equal(other.run(model[0]), session.run(model[0]))


def test_the_file_tells_names_devices_and_step(graph, tmp_path):
    with graph.device("/job:localhost/task:0"):
        w = Variable(1.0, name="scope/w")
    with tf.Session() as session:
        session.run(w.initializer)
        prefix = Saver().save(session, tmp_path / "m", global_step=3)
    with open_checkpoint(prefix) as checkpoint:
        assert checkpoint.global_step == 3
        described = {"dtype": "float32", "shape": [], "device": "/job:localhost/task:0", "crc32": zlib.crc32(np.float32(1))}
        assert checkpoint.about["variables"] == {"scope/w": described}


@pytest.mark.parametrize("step", ["variable", "tensor", "numpy", "int"])
def test_a_step_of_any_kind(model, session, tmp_path, step):
    global_step = {"variable": model[2], "tensor": model[2].value(), "numpy": np.int64(5), "int": 5}[step]
    assert Saver().save(session, tmp_path / "m", global_step) == str(tmp_path / "m-5")
    assert Saver(pad_step_number=True).save(session, tmp_path / "p", global_step) == str(tmp_path / "p-00000005")


def test_the_step_is_read_by_the_run_that_reads_the_variables(model, session, tmp_path):
    class Counting:
        def __init__(self) -> None:
            self.runs = 0

        def run(self, *args):
            self.runs += 1
            return session.run(*args)

    counting, saver = Counting(), Saver()
    prefix = saver.save(counting, tmp_path / "m", model[2])
    assert counting.runs == 1
    saver.restore(counting, prefix)
    assert counting.runs == 2


def test_a_step_that_is_no_number_is_refused(model, session, tmp_path):
    with pytest.raises(UsageError, match="global_step is a whole number"):
        Saver().save(session, tmp_path / "m", global_step=1.5)
    assert os.listdir(tmp_path) == []


def test_ops_have_a_scope_and_the_variables_devices(graph):
    with graph.device("/job:ps/task:1"):
        w = Variable(1.0, name="w")
    with graph.device("/job:worker/task:0"):
        Saver([w])
        Saver([w], name="mine")
    added = {op.name: op.device for op in graph.operations if op.name.startswith(("save", "mine"))}
    assert added == dict.fromkeys(["save/restored", "save/Assign", "mine/restored", "mine/Assign"], "/job:ps/task:1")


def test_a_subset_and_a_renaming(model, session, tmp_path):
    w, b, step = model
    prefix = Saver({"old/weights": w, "old/bias": b}).save(session, tmp_path / "m")
    with open_checkpoint(prefix) as checkpoint:
        assert checkpoint.names == ["old/bias", "old/weights"]
    expected = session.run(b)
    load(session, model, 7)
    Saver({"old/bias": b}).restore(session, prefix)
    np.testing.assert_array_equal(session.run(b), expected)
    np.testing.assert_array_equal(session.run(w), np.full((2, 3), 7))
    assert session.run(step) == 7


def test_reshape(model, session, tmp_path):
    w = model[0]
    prefix = write_checkpoint(tmp_path / "m", {"layer/w": np.arange(10, 16, dtype=np.float32)})
    with pytest.raises(InvalidArgumentError, match=r"has shape \(6,\), expected \(2, 3\)"):
        Saver([w]).restore(session, prefix)
    Saver([w], reshape=True).restore(session, prefix)
    np.testing.assert_array_equal(session.run(w), np.arange(10, 16).reshape(2, 3))
    prefix = write_checkpoint(tmp_path / "m", {"layer/w": np.zeros(7, np.float32)})
    with pytest.raises(InvalidArgumentError, match=r"has shape \(7,\), expected \(2, 3\)"):
        Saver([w], reshape=True).restore(session, prefix)


def test_variables_of_unknown_shape(graph, tmp_path):
    v = Variable(np.zeros(3), validate_shape=False, name="v")
    saver = Saver()
    with tf.Session() as session:
        saver.restore(session, write_checkpoint(tmp_path / "m", {"v": np.ones((2, 2))}))
        np.testing.assert_array_equal(session.run(v), np.ones((2, 2)))


@pytest.mark.parametrize(
    ("tensors", "kind", "message"),
    [
        ({"layer/w": np.ones((2, 3), np.float32), "layer/b": np.ones(3)}, NotFoundError, "'global_step' is not in it"),
        (
            {"layer/w": np.ones((2, 4), np.float32), "layer/b": np.ones(3), "global_step": np.int64(1)},
            InvalidArgumentError,
            r"\(2, 4\), expected \(2, 3\)",
        ),
        ({"layer/w": np.ones((2, 3)), "layer/b": np.ones(3), "global_step": np.int64(1)}, InvalidArgumentError, "float64, expected float32"),
        ({"other": np.ones(3)}, NotFoundError, "nothing matches; the checkpoint has 'other'"),
    ],
)
def test_what_does_not_fit_leaves_every_variable_as_it_was(model, session, tmp_path, tensors, kind, message):
    saver, before = Saver(), session.run(model)
    with pytest.raises(kind, match=message):
        saver.restore(session, write_checkpoint(tmp_path / "m", tensors))
    for found, expected in zip(session.run(model), before, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_what_cannot_be_read_leaves_every_variable_as_it_was(model, session, tmp_path):
    saver, before = Saver(), session.run(model)
    prefix = saver.save(session, tmp_path / "m")
    load(session, model, 1)
    before = session.run(model)
    os.truncate(prefix + ".safetensors", os.path.getsize(prefix + ".safetensors") - 1)
    with pytest.raises(DataLossError):
        saver.restore(session, prefix)
    with pytest.raises(NotFoundError):
        saver.restore(session, prefix + "x")
    with pytest.raises(UsageError, match="save_path is None"):
        saver.restore(session, None)
    for found, expected in zip(session.run(model), before, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_variable_without_a_value_is_named_and_nothing_written(model, tmp_path):
    with tf.Session() as session:
        session.run(model[0].initializer)
        with pytest.raises(FailedPreconditionError, match="'layer/b'"):
            Saver().save(session, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_the_oldest_are_deleted(model, session, tmp_path):
    saver = Saver(max_to_keep=2)
    for step in range(4):
        saver.save(session, tmp_path / "m", global_step=step)
    assert files(tmp_path) == ["m-2", "m-3"]
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "m-2.meta", "m-2.safetensors", "m-3.meta", "m-3.safetensors"]
    assert saver.last_checkpoints == [str(tmp_path / "m-2"), str(tmp_path / "m-3")]
    assert list(get_checkpoint_state(tmp_path).all_model_checkpoint_paths) == saver.last_checkpoints
    assert latest_checkpoint(tmp_path) == str(tmp_path / "m-3")


@pytest.mark.parametrize("keep", [None, 0])
def test_all_are_kept(model, session, tmp_path, keep):
    saver = Saver(max_to_keep=keep)
    for step in range(7):
        saver.save(session, tmp_path / "m", global_step=step)
    assert len(files(tmp_path)) == 7
    assert list(get_checkpoint_state(tmp_path).all_model_checkpoint_paths) == [str(tmp_path / "m-6")]


def test_without_state_nothing_is_noted_and_nothing_deleted(model, session, tmp_path):
    saver = Saver(max_to_keep=1)
    for step in range(3):
        saver.save(session, tmp_path / "m", global_step=step, write_state=False)
    assert files(tmp_path) == ["m-0", "m-1", "m-2"]
    assert (saver.last_checkpoints, latest_checkpoint(tmp_path)) == ([], None)


def test_taking_over_after_a_restart(model, session, tmp_path):
    first = Saver(max_to_keep=2)
    for step in range(2):
        first.save(session, tmp_path / "m", global_step=step)
    second = Saver(max_to_keep=2)
    second.recover_last_checkpoints([*get_checkpoint_state(tmp_path).all_model_checkpoint_paths, str(tmp_path / "gone")])
    assert second.last_checkpoints == first.last_checkpoints
    second.save(session, tmp_path / "m", global_step=2)
    assert files(tmp_path) == ["m-1", "m-2"]
    third = Saver(max_to_keep=1)
    third.set_last_checkpoints_with_time([(path, 0.0) for path in second.last_checkpoints])
    third.save(session, tmp_path / "m", global_step=3)
    assert files(tmp_path) == ["m-3"]
    fourth = Saver(max_to_keep=2)
    fourth.set_last_checkpoints(third.last_checkpoints)
    assert fourth.last_checkpoints == third.last_checkpoints


def test_an_old_one_that_cannot_be_deleted_does_not_stop_the_training(model, session, tmp_path, monkeypatch):
    saver = Saver(max_to_keep=1)
    saver.save(session, tmp_path / "m", global_step=0)

    def refuse(path):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "remove", refuse)
    with pytest.warns(UserWarning, match=r"stays: cannot delete .*m-0\.safetensors: Permission denied"):
        saver.save(session, tmp_path / "m", global_step=1)
    assert latest_checkpoint(tmp_path) == str(tmp_path / "m-1")


def test_a_full_disk_keeps_what_was_there(model, session, tmp_path, monkeypatch):
    saver = Saver(max_to_keep=1)
    saver.save(session, tmp_path / "m", global_step=0)

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(ResourceExhaustedError, match="No space left"):
        saver.save(session, tmp_path / "m", global_step=1)
    assert files(tmp_path) == ["m-0"]
    assert (latest_checkpoint(tmp_path), saver.last_checkpoints) == (str(tmp_path / "m-0"), [str(tmp_path / "m-0")])


@pytest.mark.parametrize("name", ["m-1.meta", "checkpoint"])
def test_what_a_full_disk_left_behind_is_deleted_in_its_turn(model, session, tmp_path, monkeypatch, name):
    saver = Saver(max_to_keep=1)
    saver.save(session, tmp_path / "m", global_step=0)
    replace = os.replace

    def full(source, target):
        if os.path.basename(target) == name:
            raise OSError(28, "No space left on device")
        replace(source, target)

    monkeypatch.setattr(os, "replace", full)
    with pytest.raises(ResourceExhaustedError, match="No space left"):
        saver.save(session, tmp_path / "m", global_step=1)
    monkeypatch.setattr(os, "replace", replace)
    assert latest_checkpoint(tmp_path) == str(tmp_path / "m-0")
    saver.save(session, tmp_path / "m", global_step=2)
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "m-2.meta", "m-2.safetensors"]


def test_what_another_process_has_deleted_is_not_named(model, session, tmp_path, monkeypatch):
    """Two that save into one directory under the same names delete each other's."""
    one, other = Saver(max_to_keep=1), Saver(max_to_keep=1)
    other.save(session, tmp_path / "m", global_step=1)
    one.save(session, tmp_path / "m", global_step=2)
    written = Saver._write_graph

    def meanwhile(saver, path):
        monkeypatch.setattr(Saver, "_write_graph", written)
        written(saver, path)
        other.save(session, tmp_path / "m", global_step=1)
        other.save(session, tmp_path / "m", global_step=3)

    monkeypatch.setattr(Saver, "_write_graph", meanwhile)
    with pytest.raises(NotFoundError, match=r"m-1 was deleted as soon as it was written\n.*another process"):
        one.save(session, tmp_path / "m", global_step=1)
    assert latest_checkpoint(tmp_path) == str(tmp_path / "m-3")


def test_a_state_file_that_is_a_path_is_refused_before_anything_is_written(model, session, tmp_path):
    with pytest.raises(UsageError, match="latest_filename"):
        Saver().save(session, tmp_path / "m", latest_filename="a/b")
    assert os.listdir(tmp_path) == []


def test_what_cannot_be_saved_is_refused_where_the_saver_is_made(graph):
    with pytest.raises(UsageError, match="no variables to save"):
        Saver()
    a, b = Variable(1.0, name="a"), Variable(2.0, name="b")
    with pytest.raises(UsageError, match="two variables would have the name 'a'"):
        Saver([a, b, a])
    with pytest.raises(UsageError, match="saves variables, not Tensor"):
        Saver([a.value()])
    with pytest.raises(UsageError, match="defer_build"):
        Saver([a], defer_build=True)
    words = Variable(np.array(["x"]), name="words", trainable=False)
    with pytest.raises(UsageError, match="'words:0': its dtype is string"):
        Saver([words])


def test_no_variables_may_be_allowed(graph, tmp_path):
    saver = Saver(allow_empty=True)
    with tf.Session() as session:
        saver.save(session, tmp_path / "m")
    assert os.listdir(tmp_path) == []


def test_building_later(graph, tmp_path):
    saver = Saver(defer_build=True)
    with tf.Session() as session:
        with pytest.raises(UsageError, match="not built"):
            saver.save(session, tmp_path / "m")
        v = Variable(3.0, name="v")
        saver.build()
        saver.build()
        session.run(v.initializer)
        assert open_checkpoint(saver.save(session, tmp_path / "m")).names == ["v"]


# On several tasks


def servers(stack: ExitStack, ps: int) -> str:
    """A cluster of ``ps`` parameter servers and one worker in this process; returns the worker's target."""
    with ExitStack() as ports:
        sockets = [ports.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(ps + 1)]
        names = [f"127.0.0.1:{s.getsockname()[1]}" for s in sockets]
    spec = ClusterSpec({"ps": names[:ps], "worker": names[ps:]})
    started = [stack.enter_context(closing(Server(spec, job, i))) for job, count in (("ps", ps), ("worker", 1)) for i in range(count)]
    return started[-1].target


def model_on(ps: int, fill: float) -> tuple[Graph, list[Variable], Saver]:
    with Graph().as_default() as graph:
        variables = []
        for i in range(5):
            with graph.device(f"/job:ps/task:{i % ps}"):
                variables.append(Variable(np.full((4, i + 1), fill + i), name=f"layer_{i}/w"))
        with graph.device("/job:worker/task:0"):
            return graph, variables, Saver()


def test_a_checkpoint_moves_to_another_number_of_ps(tmp_path):
    graph, variables, saver = model_on(1, fill=10.0)
    with ExitStack() as stack:
        session = stack.enter_context(tf.Session(servers(stack, 1), graph=graph))
        session.run([v.initializer for v in variables])
        prefix = saver.save(session, tmp_path / "on-1")
    for ps in (3, 2):
        graph, variables, saver = model_on(ps, fill=0.0)
        with ExitStack() as stack:
            session = stack.enter_context(tf.Session(servers(stack, ps), graph=graph))
            saver.restore(session, prefix)
            for i, value in enumerate(session.run(variables)):
                np.testing.assert_array_equal(value, np.full((4, i + 1), 10.0 + i))
            prefix = saver.save(session, tmp_path / f"on-{ps}")
        with open_checkpoint(prefix) as checkpoint:
            assert checkpoint.about["variables"]["layer_3/w"]["device"] == f"/job:ps/task:{3 % ps}"


def test_a_file_per_ps_and_the_files_move_to_another_number_of_ps(tmp_path):
    graph, variables, _ = model_on(3, fill=10.0)
    with graph.as_default(), graph.device("/job:worker/task:0"):
        saver = Saver(sharded=True)
    with ExitStack() as stack:
        session = stack.enter_context(tf.Session(servers(stack, 3), graph=graph))
        session.run([v.initializer for v in variables])
        prefix = saver.save(session, tmp_path / "m", global_step=1)
    with open_checkpoint(prefix) as checkpoint:
        assert [sorted(load_file(path)) for path in checkpoint.files] == [["layer_0/w", "layer_3/w"], ["layer_1/w", "layer_4/w"], ["layer_2/w"]]
    assert latest_checkpoint(tmp_path) == prefix
    assert saver.last_checkpoints == [prefix]
    graph, variables, saver = model_on(2, fill=0.0)
    with ExitStack() as stack:
        session = stack.enter_context(tf.Session(servers(stack, 2), graph=graph))
        saver.restore(session, prefix)
        for i, value in enumerate(session.run(variables)):
            np.testing.assert_array_equal(value, np.full((4, i + 1), 10.0 + i))


def test_the_oldest_of_those_in_several_files_are_deleted(model, session, tmp_path):
    saver = Saver(sharded=True, max_to_keep=1)
    for step in range(3):
        prefix = saver.save(session, tmp_path / "m", global_step=step)
    assert sorted(name.partition(".")[0] for name in os.listdir(tmp_path)) == ["checkpoint", "m-2", "m-2", "m-2"]
    again = Saver(max_to_keep=1)
    again.recover_last_checkpoints([prefix, str(tmp_path / "m-0")])
    assert again.last_checkpoints == [prefix]
    again.save(session, tmp_path / "n")
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "n.meta", "n.safetensors"]


class Slice:
    """TensorFlow's ``SaveSliceInfo``."""

    def __init__(self, full_name, full_shape, var_offset, var_shape):
        self.full_name, self.full_shape, self.var_offset, self.var_shape = full_name, full_shape, var_offset, var_shape


class Split:
    """TensorFlow's ``PartitionedVariable``."""

    def __init__(self, parts):
        self.parts = parts

    def _get_variable_list(self):
        return self.parts


def split(rows: list[int], value: np.ndarray) -> Split:
    parts, start = [], 0
    for i, count in enumerate(rows):
        part = Variable(value[start : start + count], name=f"emb/part_{i}")
        part._save_slice_info = Slice("emb", list(value.shape), [start, 0], [count, value.shape[1]])
        parts.append(part)
        start += count
    return Split(parts)


def test_a_variable_in_parts_is_one_array_and_may_be_parted_anew(graph, tmp_path):
    value = np.arange(14, dtype=np.float32).reshape(7, 2)
    whole = split([3, 4], value)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        prefixes = [Saver(var_list).save(session, tmp_path / f"m{i}") for i, var_list in enumerate([None, [whole], {"emb": whole}])]
    for prefix in prefixes:
        np.testing.assert_array_equal(load_file(prefix + ".safetensors")["emb"], value)
    with Graph().as_default():
        parts = split([2, 2, 3], np.zeros((7, 2), np.float32)).parts
        saver = tf.train.import_meta_graph(prefixes[1] + ".meta", import_scope="old")
        with tf.Session() as session:
            Saver([Split(parts)]).restore(session, prefixes[0])
            np.testing.assert_array_equal(np.concatenate(session.run(parts)), value)
            saver.restore(session, prefixes[2])
            np.testing.assert_array_equal(session.run("old/emb/part_1:0"), value[3:])


def test_what_a_saver_is_not_made_of():
    with pytest.raises(UnimplementedError, match="not from a saver_def"):
        Saver(saver_def=object())
