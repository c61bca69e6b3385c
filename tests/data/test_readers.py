"""Readers: what they read, under which keys, and what they say of files that are not as they should be. The values are TensorFlow's."""

from __future__ import annotations

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet
import pytest

import pslab as tf
from pslab.errors import DataLossError, DeviceError, FailedPreconditionError, InvalidArgumentError, NotFoundError, OutOfRangeError, UsageError
from tests.data.pipelines import drain, filled, plain


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_bytes(b"h\none\r\ntw\ro\n\nlast")
    (tmp_path / "b.bin").write_bytes(b"HHaabbccF")
    (tmp_path / "c.bin").write_bytes(b"HHaabbcF")
    return tmp_path


def test_lines_and_their_numbers(here):
    key, value = tf.TextLineReader(skip_header_lines=1).read(filled("a.txt", "a.txt"))
    assert (key.dtype, key.shape, value.dtype, value.shape) == (tf.string, [], tf.string, [])
    once = [[b"a.txt:2", b"one"], [b"a.txt:3", b"tw\ro"], [b"a.txt:4", b""], [b"a.txt:5", b"last"]]
    assert drain([key, value]) == once * 2


def test_many_records_at_once_are_of_one_file(here):
    keys, values = tf.TextLineReader().read_up_to(filled("a.txt", "a.txt"), 3)
    assert keys.shape.as_list() == values.shape.as_list() == [None]
    once = [[[b"a.txt:1", b"a.txt:2", b"a.txt:3"], [b"h", b"one", b"tw\ro"]], [[b"a.txt:4", b"a.txt:5"], [b"", b"last"]]]
    assert drain([keys, values]) == once * 2


def test_records_of_one_length(here):
    reader = tf.FixedLengthRecordReader(2, header_bytes=2, footer_bytes=1)
    got = drain(list(reader.read(filled("c.bin", "b.bin"))))
    assert got == [[b"c.bin:0", b"aa"], [b"c.bin:1", b"bb"], [b"b.bin:0", b"aa"], [b"b.bin:1", b"bb"], [b"b.bin:2", b"cc"]]


def test_records_that_overlap(here):
    reader = tf.FixedLengthRecordReader(4, header_bytes=2, footer_bytes=1, hop_bytes=2)
    assert drain(reader.read(filled("b.bin"))[1]) == [b"aabb", b"bbcc"]


def test_whole_files_and_names_as_they_are(here):
    assert drain(list(tf.WholeFileReader().read(filled("b.bin")))) == [[b"b.bin", b"HHaabbccF"]]
    assert drain(list(tf.IdentityReader().read(filled("no file")))) == [[b"no file", b"no file"]]


def test_counts_and_reset(here):
    queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
    reader = tf.TextLineReader()
    _, line = reader.read(queue)
    counts = [reader.num_records_produced(), reader.num_work_units_completed()]
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([["a.txt"] * 3]))
        assert [plain(sess.run(line)) for _ in range(6)] == [b"h", b"one", b"tw\ro", b"", b"last", b"h"]
        assert plain(sess.run(counts)) == [6, 1]
        sess.run(reader.reset())
        assert plain(sess.run(counts)) == [0, 0]
        assert plain(sess.run(line)) == b"h"  # of the third file: the second was given up


def test_an_empty_file_has_no_records_and_is_done(here):
    (here / "empty.txt").write_bytes(b"")
    reader = tf.TextLineReader()
    assert drain(reader.read(filled("empty.txt", "a.txt", "empty.txt"))[1])[:2] == [b"h", b"one"]


def test_a_queue_of_one_is_free_for_the_next_name_while_a_file_without_records_is_read(here):
    (here / "empty.txt").write_bytes(b"")
    names = filled(*["empty.txt"] * 5, "a.txt", capacity=1)
    assert len(drain(tf.TextLineReader().read(names)[1])) == 5


def test_a_file_that_is_not_there_is_named_and_the_next_one_read(here):
    queue = tf.FIFOQueue(10, tf.string, shapes=[[]])
    _, line = tf.TextLineReader().read(queue)
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([["none.txt", str(here), "a.txt"]]))
        sess.run(queue.close())
        with pytest.raises(NotFoundError, match=r"there is no file 'none.txt'"):
            sess.run(line)
        with pytest.raises(FailedPreconditionError, match="is a directory"):
            sess.run(line)
        assert [plain(sess.run(line)) for _ in range(5)][4] == b"last"
        with pytest.raises(OutOfRangeError):
            sess.run(line)


def test_any_url(here):
    with fsspec.open("memory://readers/x.txt", "wb") as file:
        file.write(b"one\ntwo\n")
    assert drain(list(tf.TextLineReader().read(filled("memory://readers/x.txt")))) == [
        [b"memory://readers/x.txt:1", b"one"],
        [b"memory://readers/x.txt:2", b"two"],
    ]


def test_tf_records(here):
    with tf.python_io.TFRecordWriter("t.tfr") as writer:
        writer.write(b"abc")
        writer.write(b"x" * 300)
    assert drain(list(tf.TFRecordReader().read(filled("t.tfr")))) == [[b"t.tfr:0", b"abc"], [b"t.tfr:19", b"x" * 300]]


def test_a_truncated_record(here):
    with tf.python_io.TFRecordWriter("t.tfr") as writer:
        writer.write(b"abc")
        writer.write(b"x" * 300)
    (here / "t.tfr").write_bytes((here / "t.tfr").read_bytes()[:-5])
    queue = tf.FIFOQueue(2, tf.string, shapes=[[]])
    value = tf.TFRecordReader(name="records").read(queue)[1]
    with tf.Session() as sess:
        sess.run(queue.enqueue("t.tfr"))
        assert plain(sess.run(value)) == b"abc"
        with pytest.raises(DataLossError, match=r"truncated record in 't.tfr' at offset 19"):
            sess.run(value)


def test_rows_of_numpy_files(here):
    np.save("rows.npy", np.arange(6.0).reshape(3, 2))
    key, (row,) = tf.NumpyReader(dtypes=[tf.float32], shapes=[[2]]).read(filled("rows.npy"))
    assert (row.dtype, row.shape) == (tf.float32, [2])
    assert drain([key, row]) == [[b"rows.npy:0", [0, 1]], [b"rows.npy:1", [2, 3]], [b"rows.npy:2", [4, 5]]]


def test_rows_of_several_arrays(here):
    np.savez("d.npz", x=np.arange(4, dtype=np.float32).reshape(2, 2), y=np.array([7, 8]), other=np.zeros(9))
    _, (y, x) = tf.NumpyReader(["y", "x"], [tf.int64, tf.float32], [[], [2]]).read_up_to(filled("d.npz"), 10)
    assert x.shape.as_list() == [None, 2]
    assert drain([x, y]) == [[[[0, 1], [2, 3]], [7, 8]]]


def test_rows_of_parquet_files(here):
    table = pa.table({"name": ["a", "b"], "x": [[1.0, 2.0], [3.0, 4.0]], "n": [5, 6]})
    pyarrow.parquet.write_table(table, "t.parquet")
    key, values = tf.ParquetReader(["n", "name", "x"], [tf.int64, tf.string, tf.float32], [[], [], [2]]).read(filled("t.parquet"))
    assert drain([key, *values]) == [[b"t.parquet:0", 5, b"a", [1, 2]], [b"t.parquet:1", 6, b"b", [3, 4]]]


@pytest.mark.parametrize(
    ("reader", "file", "error", "says"),
    [
        (lambda: tf.NumpyReader(["z"]), "d.npz", NotFoundError, "'d.npz' has no 'z'"),
        (lambda: tf.NumpyReader(["x"], [tf.int32]), "d.npz", InvalidArgumentError, "holds float64, which makes no int32"),
        (
            lambda: tf.NumpyReader(["x"], shapes=[[3]]),
            "d.npz",
            InvalidArgumentError,
            r"record d.npz:0 has shape \(\), but the reader was told \(3,\)",
        ),
        (lambda: tf.NumpyReader(["x", "w"], ["float32"] * 2), "d.npz", DataLossError, "no rows in common"),
        (tf.NumpyReader, "a.txt", DataLossError, "'a.txt' is no file of NumPy's"),
        (lambda: tf.ParquetReader(["x"], ["float32"]), "a.txt", DataLossError, "'a.txt' is no Parquet file"),
        (lambda: tf.ParquetReader(["n"], ["int64"]), "holes.parquet", DataLossError, "column 'n' of 'holes.parquet' has 1 empty places"),
        (lambda: tf.ParquetReader(["l"], ["int64"]), "holes.parquet", DataLossError, "different lengths"),
    ],
)
def test_columns_that_are_not_there_or_of_another_kind(here, reader, file, error, says):
    np.savez("d.npz", x=np.arange(4.0), w=np.zeros(3))
    pyarrow.parquet.write_table(pa.table({"n": [1, None], "l": [[1], [1, 2]]}), "holes.parquet")
    queue = tf.FIFOQueue(2, tf.string, shapes=[[]])
    read = reader().read(queue)
    with tf.Session() as sess:
        sess.run(queue.enqueue(file))
        with pytest.raises(error, match=says):
            sess.run(list(read[1]))


def test_a_reader_lives_on_its_task_and_outlives_the_session(here):
    server = tf.train.Server.create_local_server()
    with tf.device("/job:local/task:0"):
        queue = tf.FIFOQueue(2, tf.string, shapes=[[]])
        reader = tf.TextLineReader()
        _, line = reader.read(queue)
        number, *_ = tf.decode_csv(tf.string_join([line, ",1"]), [["none"], [0]])
    with tf.Session(server.target) as sess:
        sess.run(queue.enqueue("a.txt"))
        assert sess.run(number) == b"h"
    with tf.Session(server.target) as sess:
        assert sess.run(number) == b"one"
        assert sess.run(reader.num_records_produced()) == 2


def test_a_reader_and_its_queue_are_on_one_task():
    with tf.device("/job:worker/task:1"):
        queue = tf.FIFOQueue(2, tf.string, shapes=[[]])
    with tf.device("/job:worker/task:0"):
        reader = tf.TextLineReader()
    with pytest.raises(DeviceError, match="make both in one device block"):
        reader.read(queue)


def test_what_cannot_be_meant():
    with pytest.raises(UsageError, match="takes names of files from a queue of strings"):
        tf.TextLineReader().read(tf.FIFOQueue(2, tf.int32))
    with pytest.raises(UsageError, match="record_bytes must be at least 1"):
        tf.FixedLengthRecordReader(0)
    with pytest.raises(UsageError, match="need as many names and shapes"):
        tf.ParquetReader(["a"], ["int32", "int64"])
    with pytest.raises(UsageError, match=r"integers all; found {'record_bytes': 2.5"):
        tf.FixedLengthRecordReader(2.5)
    with pytest.raises(UsageError, match="skip_header_lines must be at least 0, found -1"):
        tf.TextLineReader(skip_header_lines=-1)


@pytest.mark.parametrize(
    ("name", "error", "says"),
    [
        ("nope://a/b", InvalidArgumentError, "'nope://a/b' cannot be opened: Protocol not known: nope"),
        ("a.txt/b", NotFoundError, "there is no file 'a.txt/b'"),
        ("x" * 5000, InvalidArgumentError, "x{100,}.* cannot be opened: .*too long"),
        ("memory://readers/none", NotFoundError, "there is no file 'memory://readers/none'"),
    ],
)
def test_a_name_that_cannot_be_opened_is_told(here, name, error, says):
    with tf.Session() as sess, pytest.raises(error, match=says):
        sess.run(tf.read_file(name))


@pytest.mark.parametrize("broken", ["d.npz", "p.parquet", "h.npy"])
def test_a_file_of_columns_that_is_broken_within(here, broken):
    np.savez("d.npz", x=np.arange(100.0))
    pyarrow.parquet.write_table(pa.table({"x": np.arange(100.0)}), "p.parquet")
    (here / "h.npy").write_bytes(b"\x93NUMPY\x01\x00\x76\x00{'descr'" + b" " * 110)
    contents = bytearray((here / broken).read_bytes())
    contents[30:60] = bytes(range(30))
    (here / broken).write_bytes(contents)
    reader = tf.ParquetReader(["x"], ["float64"]) if broken.endswith("t") else tf.NumpyReader(None if broken == "h.npy" else ["x"], ["float64"])
    queue = tf.FIFOQueue(2, tf.string, shapes=[[]])
    read = reader.read(queue)
    with tf.Session() as sess:
        sess.run(queue.enqueue(broken))
        with pytest.raises(DataLossError, match=f"'{broken}' is no .*, or a broken one"):
            sess.run(list(read[1]))
