"""What is wanted of a checkpoint against what it has: every difference, in one error."""

from __future__ import annotations

import numpy as np
import pytest

from pslab.checkpoint.files import open_checkpoint, write_checkpoint
from pslab.checkpoint.match import match
from pslab.errors import InvalidArgumentError, NotFoundError
from pslab.graph.dtypes import float32
from pslab.graph.shape import TensorShape


@pytest.fixture
def checkpoint(tmp_path):
    tensors = {"hidden/w": np.zeros((64, 128), np.float32), "hidden/b": np.zeros(128, np.float32), "step": np.int64(3)}
    with open_checkpoint(write_checkpoint(tmp_path / "m", tensors)) as opened:
        yield opened


@pytest.mark.parametrize(
    "wanted",
    [
        {},
        {"step": (np.int64, ())},
        {"hidden/w": (float32, TensorShape([64, None])), "hidden/b": ("float32", (128,))},
        {"hidden/w": (np.dtype("float32"), None)},
    ],
)
def test_what_fits(checkpoint, wanted):
    match(checkpoint, wanted)


def test_all_differences_are_told_at_once(checkpoint):
    wanted = {"hidden/w": ("float64", (64, 256)), "hidden/b": ("float32", ()), "step": ("int32", ())}
    with pytest.raises(InvalidArgumentError) as caught:
        match(checkpoint, wanted)
    assert caught.value.message.splitlines() == [
        f"checkpoint {checkpoint.path} does not fit 3 of 3 variables:",
        "  'hidden/w' has shape (64, 128), expected (64, 256) and is float32, expected float64",
        "  'hidden/b' has shape (128,), expected ()",
        "  'step' is int64, expected int32",
    ]


def test_a_missing_one_is_told_with_a_close_name_and_with_the_other_differences(checkpoint):
    with pytest.raises(NotFoundError) as caught:
        match(checkpoint, {"hidden/w_1": ("float32", (64, 128)), "step": ("int64", (1,)), "hidden/b": ("float32", (128,))})
    assert caught.value.message.splitlines()[1:] == ["  'hidden/w_1' is not in it (it has 'hidden/w')", "  'step' has shape (), expected (1,)"]


def test_where_nothing_matches_the_checkpoints_names_are_told(checkpoint):
    with pytest.raises(NotFoundError) as caught:
        match(checkpoint, {"q": ("float32", ())})
    assert caught.value.hint == "nothing matches; the checkpoint has 'hidden/b', 'hidden/w', 'step'"
