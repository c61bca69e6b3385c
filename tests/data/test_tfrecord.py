"""TFRecord files: TensorFlow's bytes, and what is noticed when they were changed."""

from __future__ import annotations

import gzip
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pslab as tf
from pslab.data.tfrecord import masked_crc
from pslab.errors import DataLossError, FailedPreconditionError, NotFoundError, UsageError

WRITTEN = bytes.fromhex("0300000000000000b099490e6162636e57f121")
"""What TensorFlow writes for the record ``abc``."""


def write(path, *records, options=None):
    with tf.python_io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)


def test_the_bytes_are_tensorflows(tmp_path):
    write(tmp_path / "t", b"abc", "abc")
    assert (tmp_path / "t").read_bytes() == WRITTEN * 2


def test_the_mask():
    assert masked_crc(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) % 2**32


@given(st.lists(st.binary(max_size=50), max_size=5), st.sampled_from(["", "GZIP", "ZLIB"]))
def test_what_is_written_is_read(records, compression):
    path = "memory://tfrecord/t"
    options = tf.python_io.TFRecordOptions(compression)
    write(path, *records, options=options)
    assert list(tf.python_io.tf_record_iterator(path, options)) == records


def test_a_flushed_file_can_be_read(tmp_path):
    writer = tf.python_io.TFRecordWriter(str(tmp_path / "t"), tf.python_io.TFRecordOptions(tf.python_io.TFRecordCompressionType.ZLIB))
    writer.write(b"abc")
    writer.flush()
    length = (tmp_path / "t").stat().st_size
    writer.close()
    writer.close()
    assert 0 < length < (tmp_path / "t").stat().st_size
    with pytest.raises(FailedPreconditionError, match="is closed"):
        writer.write(b"d")


def test_gzip_is_gzip(tmp_path):
    write(tmp_path / "t.gz", b"abc", options="GZIP")
    assert gzip.decompress((tmp_path / "t.gz").read_bytes()) == WRITTEN


@pytest.mark.parametrize(
    ("contents", "says"),
    [
        (WRITTEN + WRITTEN[:5], "truncated record in .* at offset 19"),
        (WRITTEN + WRITTEN[:-1], "truncated record in .* at offset 19"),
        (WRITTEN + WRITTEN.replace(b"abc", b"abd"), "corrupted record in .* at offset 19: its 3 bytes"),
        (b"\x04" + WRITTEN[1:], "corrupted record in .* at offset 0: its length"),
        (b"some other file altogether", "its length has another checksum"),
    ],
)
def test_a_changed_file(tmp_path, contents, says):
    (tmp_path / "t").write_bytes(contents)
    with pytest.raises(DataLossError, match=says):
        list(tf.python_io.tf_record_iterator(tmp_path / "t"))


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_a_file_that_is_not_compressed_so(tmp_path, compression):
    (tmp_path / "t").write_bytes(WRITTEN)
    with pytest.raises(DataLossError, match="cannot be"):
        list(tf.python_io.tf_record_iterator(tmp_path / "t", compression))


def test_what_is_not_there(tmp_path):
    with pytest.raises(NotFoundError, match="there is no file"):
        list(tf.python_io.tf_record_iterator(tmp_path / "none"))
    with pytest.raises(UsageError, match="there is no compression 'LZMA'"):
        tf.python_io.TFRecordOptions("LZMA")


def test_a_length_that_no_file_has_is_a_truncated_record(tmp_path):
    """Its own checksum is right."""
    length = struct.pack("<Q", (1 << 64) - 1)
    (tmp_path / "t").write_bytes(WRITTEN + length + struct.pack("<I", masked_crc(length)) + b"abc")
    with pytest.raises(DataLossError, match=r"truncated record in .* at offset 19"):
        list(tf.python_io.tf_record_iterator(tmp_path / "t"))


def test_a_file_that_cannot_be_written(tmp_path):
    with pytest.raises(FailedPreconditionError, match="is a directory"):
        tf.python_io.TFRecordWriter(tmp_path)
