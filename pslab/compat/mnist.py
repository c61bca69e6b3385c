"""``tensorflow.examples.tutorials.mnist.input_data``: MNIST, from where it lies, or what stands in for it."""

from __future__ import annotations

import math
import os
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from pslab.compat.idx import read_idx
from pslab.errors import DataLossError, UsageError
from pslab.graph.dtypes import as_dtype, float32, uint8

SOURCE_URL = "https://storage.googleapis.com/cvdf-datasets/mnist/"
DOWNLOAD = "PSLAB_DOWNLOAD_MNIST"
"""The environment variable that, set to 1, lets `read_data_sets` fetch the files that are not there."""

_FILES = ("train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte")
_SIDE = 28
_CLASSES = 10
_TEST_SHARE = 0.2


class DataSet:
    """Images and their labels, handed out in batches.

    Args:
        images: of shape [count, 28, 28, 1], uint8.
        labels: of shape [count] or [count, 10].
        dtype: float32 gives values from 0 to 1, uint8 those of the file.
        reshape: whether an image becomes a row of 784 values.
        seed: of the order in which examples come.

    Attributes:
        images: the images as they are handed out.
        labels: their labels.
        num_examples: how many.
        epochs_completed: how often all were handed out.
    """

    def __init__(self, images: Any, labels: Any, dtype: Any = float32, reshape: bool = True, seed: int | None = None) -> None:
        dtype = as_dtype(dtype)
        if dtype not in (float32, uint8):
            raise UsageError(f"images are float32 or uint8, not {dtype.name}")
        if len(images) != len(labels):
            raise DataLossError(f"there are {len(images)} images but {len(labels)} labels")
        values = images.reshape(len(images), math.prod(images.shape[1:])) if reshape else images
        self.images = np.multiply(values, np.float32(1 / 255), dtype=np.float32) if dtype == float32 else values
        self.labels = labels
        self.num_examples = len(images)
        self.epochs_completed = 0
        self._random = np.random.default_rng(seed)
        self._order: np.ndarray[Any, Any] | None = None
        self._next = 0

    def next_batch(self, batch_size: int, fake_data: bool = False, shuffle: bool = True) -> tuple[Any, Any]:
        """The next examples. At the end of an epoch a batch takes what is left and begins the next one.

        Args:
            batch_size: how many, at most `num_examples`.
            fake_data: must be False.
            shuffle: whether each epoch is in another order.

        Returns:
            Images and labels.

        Raises:
            UsageError: the batch is greater than the set, or fake data is asked for.
        """
        if fake_data:
            raise UsageError("there is no fake data here", "the handwritten digits stand in where MNIST is not to be had")
        if not 0 < batch_size <= self.num_examples:
            raise UsageError(f"a batch has 1 to {self.num_examples} examples here, found {batch_size}")
        if self._order is None:
            self._order = self._shuffled(shuffle)
        taken = self._order[self._next : self._next + batch_size]
        self._next += batch_size
        if self._next > self.num_examples:
            self.epochs_completed += 1
            self._next = batch_size - len(taken)
            self._order = self._shuffled(shuffle)
            taken = np.concatenate([taken, self._order[: self._next]])
        return self.images[taken], self.labels[taken]

    def _shuffled(self, shuffle: bool) -> np.ndarray[Any, Any]:
        return self._random.permutation(self.num_examples) if shuffle else np.arange(self.num_examples)


class Datasets(NamedTuple):
    """The three parts of a data set."""

    train: DataSet
    validation: DataSet
    test: DataSet


def read_data_sets(
    train_dir: str,
    fake_data: bool = False,
    one_hot: bool = False,
    dtype: Any = float32,
    reshape: bool = True,
    validation_size: int | None = None,
    seed: int | None = None,
    source_url: str = SOURCE_URL,
) -> Datasets:
    """MNIST from the IDX files in ``train_dir``; where they are not, and were not asked to be fetched, handwritten digits of another collection.

    The stand-in are scikit-learn's 1797 digits of 8 × 8, enlarged to 28 × 28, a fifth of them for the test; that is said on standard error.

    Args:
        train_dir: where the four files are, compressed or not. They are fetched into it if the environment variable ``PSLAB_DOWNLOAD_MNIST`` is 1.
        fake_data: must be False.
        one_hot: labels of shape [count, 10] in place of [count].
        dtype: float32 gives values from 0 to 1, uint8 those of the file.
        reshape: whether an image becomes a row of 784 values; else its shape is [28, 28, 1].
        validation_size: how many training examples are set apart; 5000 of MNIST, a tenth of the stand-in, by default.
        seed: of the order of examples.
        source_url: where files are fetched from.

    Raises:
        DataLossError: a file is damaged.
        UsageError: fake data, or more for validation than there is.
    """
    if fake_data:
        raise UsageError("there is no fake data here", "the handwritten digits stand in where MNIST is not to be had")
    found = _mnist(Path(train_dir), source_url)
    if found is None:
        print(
            f"MNIST is not in {train_dir}: scikit-learn's handwritten digits, enlarged to 28 × 28, stand in for it ({DOWNLOAD}=1 fetches MNIST)",
            file=sys.stderr,
        )
        found = _digits()
    train_x, train_y, test_x, test_y = found
    if one_hot:
        train_y, test_y = _one_hot(train_y), _one_hot(test_y)
    held = validation_size if validation_size is not None else min(5000, len(train_x) // 10)
    if not 0 <= held <= len(train_x):
        raise UsageError(f"validation_size must be from 0 to {len(train_x)}, found {held}")
    parts = ((train_x[held:], train_y[held:]), (train_x[:held], train_y[:held]), (test_x, test_y))
    return Datasets(*(DataSet(x, y, dtype, reshape, seed) for x, y in parts))


def _mnist(directory: Path, source_url: str) -> list[Any] | None:
    """Images and labels, for training and for the test; None if they are not there."""
    paths = [next((p for p in (directory / name, directory / f"{name}.gz") if p.is_file()), None) for name in _FILES]
    if os.environ.get(DOWNLOAD) == "1":
        paths = [path or _fetch(f"{source_url}{name}.gz", directory / f"{name}.gz") for path, name in zip(paths, _FILES, strict=True)]
    if None in paths:
        return None
    arrays = [read_idx(path) for path in paths if path is not None]
    for array, name in zip(arrays, _FILES, strict=True):
        if array.dtype != np.uint8 or array.shape[1:] != ((_SIDE, _SIDE) if "images" in name else ()):
            raise DataLossError(f"{name} in {directory} has {array.dtype} of shape {array.shape}: that is not MNIST")
    return [a[..., np.newaxis] if a.ndim == 3 else a.astype(np.int64) for a in arrays]


def _fetch(url: str, path: Path) -> Path:
    import fsspec

    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")
    with fsspec.open(url, "rb") as source:
        part.write_bytes(source.read())
    return part.rename(path)


def _digits() -> list[Any]:
    """The stand-in, in a fixed order of its own: the first examples of the collection come from few writers."""
    from scipy.ndimage import zoom
    from sklearn.datasets import load_digits

    bunch = load_digits()
    enlarged = zoom(bunch.images, (1, _SIDE / 8, _SIDE / 8), order=1)
    images = np.rint(enlarged * (255 / 16)).astype(np.uint8)[..., np.newaxis]
    order = np.random.default_rng(0).permutation(len(images))
    images, labels = images[order], bunch.target[order].astype(np.int64)
    test = int(_TEST_SHARE * len(images))
    return [images[test:], labels[test:], images[:test], labels[:test]]


def _one_hot(labels: Any) -> Any:
    return np.eye(_CLASSES, dtype=np.float64)[labels]
