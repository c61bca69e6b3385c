"""Frames on a pipe."""

from __future__ import annotations

import os
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from pslab.cluster.pipe import FrameWriter, read_frame


@pytest.fixture
def ends():
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as file:
        yield file, FrameWriter(os.fdopen(writing, "wb"))


def test_values_arrive_in_order_and_then_the_end(ends) -> None:
    file, writer = ends
    for value in (None, {"a": [1, 2]}, b"x" * 1000, 2.5):
        writer.write(value)
    writer.close()
    assert [read_frame(file) for _ in range(4)] == [None, {"a": [1, 2]}, b"x" * 1000, 2.5]
    with pytest.raises(EOFError):
        read_frame(file)


def test_frames_of_many_threads_do_not_mix(ends) -> None:
    file, writer = ends
    with ThreadPoolExecutor(8) as pool:
        for n in range(64):
            pool.submit(writer.write, bytes([n]) * 100_000)
        found = [read_frame(file) for _ in range(64)]
    writer.close()
    assert {value[0] for value in found} == set(range(64))
    assert all(value == value[:1] * 100_000 for value in found)


def test_a_reader_that_does_not_read_keeps_no_writer_waiting(ends) -> None:
    file, writer = ends
    writing = threading.Thread(target=lambda: [writer.write(bytes(1 << 20)) for _ in range(8)])
    writing.start()
    writing.join(30)
    assert not writing.is_alive()
    assert [len(read_frame(file)) for _ in range(8)] == [1 << 20] * 8
    writer.close()


def test_half_a_frame_is_the_end() -> None:
    reading, writing = os.pipe()
    with os.fdopen(reading, "rb") as file:
        os.write(writing, (100).to_bytes(8, "little") + b"half")
        os.close(writing)
        with pytest.raises(EOFError):
            read_frame(file)


def test_writing_to_an_end_that_is_gone_is_quiet() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    file = os.fdopen(writing, "wb")
    writer = FrameWriter(file)
    for _ in range(3):
        writer.write(bytes(1 << 20))
    writer.close()
    for thread in threading.enumerate():
        if thread.name == "pslab pipe":
            thread.join(30)
    assert file.closed
