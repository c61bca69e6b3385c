"""Whole files, and their names."""

from __future__ import annotations

import pytest

import pslab as tf
from pslab.errors import NotFoundError
from tests.data.pipelines import plain, run


def test_a_file_is_written_and_read(tmp_path):
    path = str(tmp_path / "new" / "file")
    with tf.Session() as sess:
        sess.run(tf.write_file(path, b"\x00\xffabc"))
        assert plain(sess.run(tf.read_file(path))) == b"\x00\xffabc"
        with pytest.raises(NotFoundError, match="there is no file 'none'"):
            sess.run(tf.read_file("none"))


def test_names_are_as_their_pattern_is(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("b.csv", "a.csv", "c.txt"):
        (tmp_path / name).touch()
    with tf.Session() as sess:
        sess.run(tf.write_file("memory://names/x", "1"))
    assert run(tf.matching_files("*.csv")) == [b"a.csv", b"b.csv"]
    assert run(tf.matching_files([f"{tmp_path}/*.txt", "b.*"])) == [f"{tmp_path}/c.txt".encode(), b"b.csv"]
    assert run(tf.matching_files("memory://names/*")) == [b"memory:///names/x"]
    assert run(tf.matching_files("no*")) == []


def test_names_are_looked_up_once(tmp_path):
    names = tf.train.match_filenames_once(f"{tmp_path}/*")
    assert tf.local_variables() == [names]
    with tf.Session() as sess:
        (tmp_path / "a").touch()
        sess.run(names.initializer)
        (tmp_path / "b").touch()
        assert plain(sess.run(names)) == [f"{tmp_path}/a".encode()]
