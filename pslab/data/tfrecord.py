"""TFRecord files (TensorFlow 1's ``tf.python_io``): records with their lengths, each under a checksum.

A record is its length (8 bytes, little-endian), the checksum of these, its bytes, and their checksum; a checksum is a masked CRC-32C in 4 bytes. See
`TensorFlow's description <https://www.tensorflow.org/tutorials/load_data/tfrecord>`_.
"""

from __future__ import annotations

import gzip
import io
import struct
import zlib
from collections.abc import Iterator
from types import TracebackType
from typing import Any, BinaryIO, Self

import fsspec
from crc32c import crc32c

from pslab.data.files import named, open_file
from pslab.errors import DataLossError, FailedPreconditionError, UsageError
from pslab.graph.strings import as_bytes, as_text

_HEAD = struct.Struct("<QI")
_FOOT = struct.Struct("<I")
_MASK = 0xA282EAD8
_BLOCK = 1 << 24


class TFRecordCompressionType:
    """How a TFRecord file is compressed as a whole."""

    NONE = 0
    ZLIB = 1
    GZIP = 2


_COMPRESSIONS = {None: "", "": "", "ZLIB": "ZLIB", "GZIP": "GZIP", 0: "", 1: "ZLIB", 2: "GZIP"}


class TFRecordOptions:
    """How a TFRecord file is written.

    Args:
        compression_type: one of `TFRecordCompressionType`, or its name; ``""`` and None are no compression.

    Raises:
        UsageError: there is no such compression.
    """

    def __init__(self, compression_type: int | str | None = None) -> None:
        if compression_type not in _COMPRESSIONS:
            raise UsageError(f"there is no compression {compression_type!r}", "TFRecordCompressionType has NONE, ZLIB and GZIP")
        self.compression_type = _COMPRESSIONS[compression_type]

    @classmethod
    def of(cls, options: TFRecordOptions | int | str | None) -> TFRecordOptions:
        """``options``, of which a compression alone may be given."""
        return options if isinstance(options, TFRecordOptions) else cls(options)


class TFRecordWriter:
    """Writes a TFRecord file (``tf.python_io.TFRecordWriter``).

    Args:
        path: path or URL.
        options: `TFRecordOptions`, or the compression.

    Raises:
        OpError: it cannot be opened (see `pslab.data.files.named`).
    """

    def __init__(self, path: Any, options: TFRecordOptions | int | str | None = None) -> None:
        self._path = str(path)
        with named(self._path):
            self._file = fsspec.open(self._path, "wb").open()
        kind = TFRecordOptions.of(options).compression_type
        self._sink: Any = {"": lambda f: f, "GZIP": lambda f: gzip.GzipFile(fileobj=f, mode="wb", mtime=0), "ZLIB": _Deflated}[kind](self._file)

    def write(self, record: bytes | str) -> None:
        """Append a record.

        Raises:
            FailedPreconditionError: the file is closed.
        """
        if self._file.closed:
            raise FailedPreconditionError(f"{self._path!r} is closed")
        data = as_bytes(record)
        length = struct.pack("<Q", len(data))
        self._sink.write(length + _FOOT.pack(masked_crc(length)) + data + _FOOT.pack(masked_crc(data)))

    def flush(self) -> None:
        """Hand what was written on to the file system."""
        self._sink.flush()

    def close(self) -> None:
        """End the file. To close it twice does no more."""
        if not self._file.closed:
            self._sink.close()
            self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()


class _Deflated:
    """A zlib stream that is written to a file."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file
        self._stream = zlib.compressobj()

    def write(self, data: bytes) -> None:
        self._file.write(self._stream.compress(data))

    def flush(self) -> None:
        self._file.write(self._stream.flush(zlib.Z_SYNC_FLUSH))
        self._file.flush()

    def close(self) -> None:
        self._file.write(self._stream.flush())


def tf_record_iterator(path: Any, options: TFRecordOptions | int | str | None = None) -> Iterator[bytes]:
    """The records of a TFRecord file, one after another (``tf.python_io.tf_record_iterator``).

    Args:
        path: path or URL.
        options: `TFRecordOptions`, or the compression.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: the file is truncated, or not what was written; the message has the offset.
    """
    return (record for _, record in records_in(as_text(path) if isinstance(path, bytes) else str(path), TFRecordOptions.of(options).compression_type))


def records_in(name: str, compression: str) -> Iterator[tuple[int, bytes]]:
    """The records of a file, each with the offset of its beginning among the uncompressed bytes.

    Raises:
        NotFoundError: there is no such file.
        DataLossError: as of `tf_record_iterator`.
    """
    offset = 0
    with open_file(name) as opened:
        file = _uncompressed(opened, compression, name)
        while head := _read(file, _HEAD.size, name, offset):
            if len(head) < _HEAD.size:
                raise _truncated(name, offset)
            length, checksum = _HEAD.unpack(head)
            if masked_crc(head[:8]) != checksum:
                raise DataLossError(f"corrupted record in {name!r} at offset {offset}: its length has another checksum", "is it a TFRecord file?")
            body = _read(file, length + _FOOT.size, name, offset)
            if len(body) < length + _FOOT.size:
                raise _truncated(name, offset)
            record = body[:length]
            if masked_crc(record) != _FOOT.unpack(body[length:])[0]:
                raise DataLossError(f"corrupted record in {name!r} at offset {offset}: its {length} bytes have another checksum")
            yield offset, record
            offset += _HEAD.size + length + _FOOT.size


def masked_crc(data: bytes) -> int:
    """The CRC-32C of ``data``, rotated and shifted, so that data with a checksum in it can have one itself."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + _MASK) & 0xFFFFFFFF


def _uncompressed(file: io.BufferedReader, compression: str, name: str) -> BinaryIO:
    if compression == "GZIP":
        return gzip.GzipFile(fileobj=file)  # type: ignore[return-value]
    if compression == "ZLIB":
        try:
            return io.BytesIO(zlib.decompress(file.read()))
        except zlib.error as error:
            raise DataLossError(f"{name!r} cannot be uncompressed: {error}") from None
    return file


def _read(file: BinaryIO, count: int, name: str, offset: int) -> bytes:
    """``count`` bytes, or as many as there are. They are read in blocks: a length that no file has reserves no memory."""
    parts = []
    try:
        while part := file.read(min(count, _BLOCK)):
            parts.append(part)
            count -= len(part)
        return b"".join(parts)
    except (EOFError, OSError, zlib.error) as error:
        raise DataLossError(f"{name!r} cannot be read at offset {offset}: {error}") from None


def _truncated(name: str, offset: int) -> DataLossError:
    return DataLossError(f"truncated record in {name!r} at offset {offset}", "the file ends within it: was it written to its end?")
