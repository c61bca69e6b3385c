"""Files that anybody may have written: whatever is in them, pslab's own errors come out, soon, and the graph is as it was."""

from __future__ import annotations

import dataclasses
import time
import tracemalloc
import zlib
from typing import Any

import msgpack
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pslab as tf
from pslab.checkpoint.graph_objects import add_to_graph
from pslab.checkpoint.meta_graph import MetaGraph
from pslab.errors import DataLossError, InvalidArgumentError, UnimplementedError
from pslab.graph.graph_def import _MARK, records_of, seal
from pslab.graph.node import Node
from pslab.graph.packing import unpack_records

MEMORY = 64 << 20
SECONDS = 5.0


def model() -> bytes:
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [None, 4, 4, 1], name="x")
        w = tf.Variable(tf.truncated_normal([3, 3, 1, 2], seed=1), name="w")
        flat = tf.reshape(tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME"), [-1, 32])
        v = tf.Variable(tf.zeros([32, 2]), name="v")
        parts = tf.unstack(tf.matmul(flat, v), num=2, axis=1)
        loss = tf.reduce_mean(tf.nn.sigmoid(tf.stack(parts)))
        tf.train.AdamOptimizer(0.1).minimize(loss, tf.train.get_or_create_global_step())
        queue = tf.FIFOQueue(2, [tf.float32], [[]])
        tf.train.add_queue_runner(tf.train.QueueRunner(queue, [queue.enqueue(1.0)]))
        tf.add_to_collection("words", "word")
        saver = tf.train.Saver()
        return saver.export_meta_graph().to_bytes()


VALID = model()
RECORDS = list(unpack_records(VALID[len(_MARK) + 4 :]))


def take(data: bytes) -> None:
    """Import what may be anything."""
    graph = tf.Graph()
    tracemalloc.start()
    began = time.thread_time()
    try:
        with graph.as_default():
            add_to_graph(graph, MetaGraph.from_bytes(data))
    except (DataLossError, InvalidArgumentError, UnimplementedError):
        assert graph.operations == []
        assert graph.collections.lists == {}
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert time.thread_time() - began < SECONDS
    assert peak < MEMORY


def test_the_valid_one_is_taken():
    with tf.Graph().as_default() as graph:
        add_to_graph(graph, MetaGraph.from_bytes(VALID))
        assert len(graph.operations) == len(RECORDS) - 2


@given(st.integers(0, len(VALID) - 1), st.integers(1, 255))
def test_a_changed_byte_is_noticed(at, change):
    with pytest.raises(DataLossError):
        MetaGraph.from_bytes(VALID[:at] + bytes([VALID[at] ^ change]) + VALID[at + 1 :])


@given(st.integers(0, len(VALID) - 1))
def test_a_truncated_one_is_noticed(length):
    with pytest.raises(DataLossError):
        MetaGraph.from_bytes(VALID[:length])


def resealed(content: bytes) -> bytes:
    return _MARK + zlib.crc32(content).to_bytes(4, "little") + content


FUZZ = settings(max_examples=150, suppress_health_check=list(HealthCheck))


@FUZZ
@given(st.data())
def test_changed_bytes_under_a_right_checksum(data):
    content = bytearray(VALID[len(_MARK) + 4 :])
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    take(resealed(bytes(content)[: data.draw(st.integers(len(content) // 2, len(content)))]))


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats()
    | st.text(max_size=6)
    | st.binary(max_size=6)
    | st.sampled_from(["x:0", "w", "w/read:0", "v", "float32", "int64", "MatMul", "Const", "NoOp", "m8[s/0]", "<m8[s/0]", "/job:ps"])
    | st.builds(lambda n: msgpack.ExtType(n, b"\x93\xa3<f4\x91\x02\xc4\x08" + bytes(8)), st.integers(0, 5)),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6) | st.integers(-5, 5), inner, max_size=4),
    max_leaves=12,
)


@FUZZ
@given(st.lists(PLAIN, max_size=6))
def test_any_records(records):
    take(resealed(b"".join(msgpack.packb(r) for r in records)))


def paths(value: Any) -> list[tuple[Any, ...]]:
    """Where in nested data there is something."""
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, tuple) else ()
    return [(), *((key, *rest) for key, item in inner for rest in paths(item))]


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    key, *rest = path
    if isinstance(value, dict):
        return {k: replaced(v, tuple(rest), new) if k == key else v for k, v in value.items()}
    return tuple(replaced(v, tuple(rest), new) if i == key else v for i, v in enumerate(value))


@settings(FUZZ, max_examples=400)
@given(st.data())
def test_anything_in_place_of_any_part(data):
    at = data.draw(st.integers(0, len(RECORDS) - 1))
    path = data.draw(st.sampled_from(paths(RECORDS[at])))
    new = data.draw(PLAIN)
    changed = list(RECORDS)
    changed[at] = replaced(changed[at], path, new)
    try:
        sealed = seal(changed)
    except UnimplementedError:  # an extension, which msgpack itself writes
        sealed = resealed(b"".join(msgpack.packb(r, default=lambda a: msgpack.ExtType(9, b"")) for r in changed))
    take(sealed)


@FUZZ
@given(st.permutations(range(1, len(RECORDS) - 1)), st.integers(0, 3))
def test_ops_in_another_order_or_missing(order, missing):
    records = [RECORDS[i] for i in order][missing:]
    take(seal([{**RECORDS[0], "nodes": len(records)}, *records, RECORDS[-1]]))


def graph_of(*nodes: Node) -> bytes:
    about = {"variables": {}, "members": (), "collections": {}, "saver": None}
    return seal([*records_of(tf.GraphDef(nodes)), about])


def node(name: str, type: str, *inputs: str, outputs: Any = (("float32", ()),), controls: Any = (), device: str = "", **attrs: Any) -> Node:
    return Node(name, type, inputs, controls, attrs, device, "here:1", outputs)


C = node("c", "Const", value=np.float32(1).reshape(()))


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ([dataclasses.replace(C, type="Const"), C], r"'c' \(Const\) cannot be: the graph has an op of that name already"),
        ([node("a", "Neg", "c:0")], r"'a' \(Neg\) cannot be: the graph has no op named 'c'"),
        ([C, node("a", "Neg", "c:1")], r"'a' .*there is no 'c:1'"),
        ([C, node("a", "Neg", "c:0", controls=("z",))], r"'a' .*no op named 'z'"),
        ([node("a b", "NoOp", outputs=())], "'a b' .*that is not a name"),
        ([node("a", "Const")], "'a' .*attributes are missing: value"),
        ([node("a", "Const", value=np.ones(1, np.float32), colour="red")], "'a' .*no such attributes: colour"),
        ([node("a", "Const", value=3)], "'a' .*'int' object has no attribute 'dtype'"),
        ([node("a", "NoOp", outputs=(), device="/job:/x")], r"'a' \(NoOp\) cannot be"),
        ([C, node("a", "Neg", "c:0", outputs=(("int32", ()),))], "'a' .*output 0 is float32, not int32"),
        ([C, node("a", "Neg", "c:0", outputs=(("float32", (3,)),))], r"'a' .*\(3,\)"),
        ([C, node("a", "Neg", "c:0", outputs=())], "'a' .*"),
        ([C, node("a", "Unpack", "c:0", num=10**12, axis=0)], "'a' .*attribute 'num' is 1000000000000, but there are 1 outputs"),
        ([node("a", "Placeholder", dtype="<m8[s/0]", shape=())], "'a' .*there is no element type"),
        ([node("a", "Placeholder", dtype="float32", shape=(1,) * 65, outputs=(("float32", None),))], "'a' .*65 axes"),
        ([node("a", "NoOp", controls=("b",), outputs=()), node("b", "NoOp", controls=("a",), outputs=())], "circle"),
    ],
)
def test_what_is_wrong_is_told(nodes, message):
    graph = tf.Graph()
    with pytest.raises(InvalidArgumentError, match=message):
        add_to_graph(graph, MetaGraph.from_bytes(graph_of(*nodes)))
    assert graph.operations == []


def test_an_unknown_type_is_told():
    meta = MetaGraph.from_bytes(graph_of(C))
    stranger = dataclasses.replace(meta, graph_def=tf.GraphDef((node("f", "NoSuchOp", token="x"),)))
    with pytest.raises(InvalidArgumentError, match=r"'f' \(NoSuchOp\) cannot be: there is no op type 'NoSuchOp'"):
        add_to_graph(tf.Graph(), stranger)


def test_code_of_a_program_comes_from_no_file():
    meta = MetaGraph.from_bytes(graph_of(C))
    stranger = dataclasses.replace(meta, graph_def=tf.GraphDef((node("f", "PyFunc", token="pyfunc_0", dtypes=()),)))
    with pytest.raises(InvalidArgumentError, match=r"'f' \(PyFunc\) cannot be: an op of this type calls code"):
        add_to_graph(tf.Graph(), stranger)


def test_shapes_that_would_grow_without_limit_are_not_followed():
    """Each op doubles what the one before it tells: were the values followed, forty of them would fill any memory."""
    nodes = [node("v0", "Const", value=np.ones(1, np.int32), outputs=(("int32", (1,)),))]
    nodes += [node(f"v{i + 1}", "ConcatV2", f"v{i}:0", f"v{i}:0", axis=0, outputs=(("int32", None),)) for i in range(40)]
    nodes += [node("r", "Fill", "c:0", "v40:0", shape=None, outputs=(("float32", None),))]
    nodes += [node("p0", "Const", value=np.ones((0,), np.int32), outputs=(("int32", (0,)),))]
    nodes += [node(f"p{i + 1}", "Pack", f"p{i}:0", f"p{i}:0", axis=0, outputs=(("int32", None),)) for i in range(40)]
    nodes += [node("s", "Range", "p40:0", "p40:0", "p40:0", outputs=(("int32", None),))]
    take(graph_of(C, *nodes))


def test_sizes_are_refused_before_memory_is_reserved():
    deep = b"\xdd\x00\x00\x7f\xff" * 1000
    take(resealed(deep))
    take(resealed(b"\xdd\xff\xff\xff\xff"))
    take(resealed(b"\xdf\xff\xff\xff\xff"))
    take(resealed(b"\xc6\xff\xff\xff\xff"))
    header = {"format": 1, "nodes": 10**15, "seed": None}
    with pytest.raises(DataLossError, match="op 0 of 1000000000000000"):
        MetaGraph.from_bytes(seal([header]))
    big = msgpack.packb(msgpack.ExtType(1, msgpack.packb(("<f4", (10**9, 10**9), b""))))
    with pytest.raises(DataLossError, match="has 0 bytes"):
        MetaGraph.from_bytes(resealed(big))
