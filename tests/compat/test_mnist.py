"""MNIST from IDX files that the test writes, its batches, and what stands in for it."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import fsspec
import numpy as np
import pytest

import pslab as tf
from pslab.compat import mnist
from pslab.compat.mnist import DataSet, read_data_sets
from pslab.errors import DataLossError, UsageError

TRAIN, TEST = 30, 10
LABELS = np.arange(TRAIN, dtype=np.uint8) % 10


def images(count: int) -> np.ndarray:
    """Image ``i`` has the value ``i`` everywhere, but 255 in its first pixel."""
    values = np.repeat(np.arange(count, dtype=np.uint8), 784).reshape(count, 28, 28)
    values[:, 0, 0] = 255
    return values


def idx(array: np.ndarray) -> bytes:
    return struct.pack(f">BBBB{array.ndim}I", 0, 0, 0x08, array.ndim, *array.shape) + array.tobytes()


@pytest.fixture(params=["", ".gz"])
def folder(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    pack = gzip.compress if request.param else bytes
    parts = {"train-images-idx3": images(TRAIN), "train-labels-idx1": LABELS, "t10k-images-idx3": images(TEST), "t10k-labels-idx1": LABELS[:TEST]}
    for name, array in parts.items():
        (tmp_path / f"{name}-ubyte{request.param}").write_bytes(pack(idx(array)))
    return tmp_path


@pytest.fixture(autouse=True)
def _nothing_is_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(mnist.DOWNLOAD, raising=False)
    monkeypatch.setattr(fsspec, "open", lambda *a, **k: pytest.fail("something was fetched"))


def test_rows_of_values_from_0_to_1(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = read_data_sets(str(folder), validation_size=5)
    assert [part.num_examples for part in data] == [25, 5, 10]
    assert data.train.images.shape == (25, 784)
    assert data.train.images.dtype == np.float32
    np.testing.assert_allclose(data.train.images[0, :2], [1.0, 5 / 255], rtol=1e-6)
    np.testing.assert_array_equal(data.validation.labels, LABELS[:5])
    np.testing.assert_array_equal(data.train.labels, LABELS[5:])
    np.testing.assert_array_equal(data.test.labels, LABELS[:10])
    assert capsys.readouterr().err == ""


def test_pictures_as_the_files_have_them(folder: Path) -> None:
    data = read_data_sets(folder, dtype=tf.uint8, reshape=False, validation_size=0)
    np.testing.assert_array_equal(data.train.images, images(TRAIN)[..., None])
    assert data.train.images.dtype == np.uint8
    assert data.validation.num_examples == 0


def test_labels_one_hot(folder: Path) -> None:
    data = read_data_sets(folder, one_hot=True, validation_size=0)
    assert data.train.labels.dtype == np.float64
    np.testing.assert_array_equal(data.train.labels, np.eye(10)[LABELS])


@pytest.mark.parametrize("size", [-1, 31])
def test_more_for_validation_than_there_is(folder: Path, size: int) -> None:
    with pytest.raises(UsageError, match=f"from 0 to 30, found {size}"):
        read_data_sets(folder, validation_size=size)


def test_a_damaged_file_is_told(folder: Path) -> None:
    path = next(folder.glob("t10k-labels*"))
    path.write_bytes(path.read_bytes()[:-1])
    with pytest.raises(DataLossError, match="t10k-labels"):
        read_data_sets(folder)


def test_files_of_something_else_are_told(folder: Path) -> None:
    (folder / "train-images-idx3-ubyte").write_bytes(idx(np.zeros((30, 8, 8), np.uint8)))
    with pytest.raises(DataLossError, match=r"uint8 of shape \(30, 8, 8\): that is not MNIST"):
        read_data_sets(folder)


def test_numbers_of_images_and_labels_agree(folder: Path) -> None:
    (folder / "train-labels-idx1-ubyte").write_bytes(idx(LABELS[:-1]))
    with pytest.raises(DataLossError, match="25 images but 24 labels"):
        read_data_sets(folder, validation_size=5)


def test_without_files_digits_stand_in_and_that_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data = read_data_sets(str(tmp_path / "none"), one_hot=True)
    assert "MNIST is not in" in capsys.readouterr().err
    assert [part.num_examples for part in data] == [1295, 143, 359]
    assert data.train.images.shape == (1295, 784)
    assert (data.train.images.min(), data.train.images.max()) == (0.0, 1.0)
    np.testing.assert_array_equal(data.train.labels.sum(axis=1), 1.0)
    assert not (tmp_path / "none").exists()


def test_the_stand_in_is_the_same_each_time(tmp_path: Path) -> None:
    first, again = read_data_sets(tmp_path), read_data_sets(tmp_path)
    np.testing.assert_array_equal(first.test.images, again.test.images)


def test_a_file_that_is_missing_is_fetched_if_that_is_asked_for(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    monkeypatch.setenv(mnist.DOWNLOAD, "1")
    missing = next(folder.glob("t10k-labels*"))
    missing.unlink()
    with fsspec.open("memory://mnist-mirror/t10k-labels-idx1-ubyte.gz", "wb") as file:
        file.write(gzip.compress(idx(LABELS[:TEST])))
    data = read_data_sets(folder, source_url="memory://mnist-mirror/", validation_size=0)
    np.testing.assert_array_equal(data.test.labels, LABELS[:TEST])
    assert (folder / "t10k-labels-idx1-ubyte.gz").is_file()


def test_there_is_no_fake_data(folder: Path) -> None:
    with pytest.raises(UsageError, match="no fake data"):
        read_data_sets(folder, fake_data=True)


# Batches


def numbered(count: int = 10, **options) -> DataSet:
    """Examples whose label is their number."""
    return DataSet(np.zeros((count, 28, 28, 1), np.uint8), np.arange(count), **options)


def test_batches_in_order_go_over_the_end_of_an_epoch() -> None:
    data = numbered()
    taken = [data.next_batch(4, shuffle=False)[1].tolist() for _ in range(5)]
    assert taken == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 0, 1], [2, 3, 4, 5], [6, 7, 8, 9]]
    assert data.epochs_completed == 1
    data.next_batch(4, shuffle=False)
    assert data.epochs_completed == 2


def test_a_shuffled_epoch_has_each_example_once_and_each_epoch_its_own_order() -> None:
    data = numbered(100, seed=1)
    epochs = [np.concatenate([data.next_batch(25)[1] for _ in range(4)]) for _ in range(2)]
    for epoch in epochs:
        assert sorted(epoch) == list(range(100))
    assert epochs[0].tolist() != epochs[1].tolist()
    assert epochs[0].tolist() != list(range(100))


def test_a_seed_gives_the_same_batches() -> None:
    assert [numbered(50, seed=s).next_batch(50)[1].tolist() == numbered(50, seed=3).next_batch(50)[1].tolist() for s in (3, 4)] == [True, False]


def test_images_and_labels_stay_together() -> None:
    data = DataSet(images(20)[..., None], np.arange(20), dtype=tf.uint8)
    batch, labels = data.next_batch(15)
    np.testing.assert_array_equal(batch[:, 1], labels)


@pytest.mark.parametrize("size", [0, 11])
def test_a_batch_must_be_had(size: int) -> None:
    with pytest.raises(UsageError, match=f"1 to 10 examples here, found {size}"):
        numbered().next_batch(size)


def test_a_dtype_that_images_do_not_have() -> None:
    with pytest.raises(UsageError, match="float32 or uint8, not int32"):
        numbered(dtype=tf.int32)
