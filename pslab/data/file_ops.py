"""Whole files as strings, and the names of files."""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.data.files import matching, read_whole, write_whole
from pslab.data.text import string_array
from pslab.graph.build import apply_one, apply_op
from pslab.graph.collections import GraphKeys
from pslab.graph.dtypes import string
from pslab.graph.operation import Operation
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape, scalar
from pslab.graph.strings import as_bytes, as_text
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable


def _matching(xp: Any, pattern: Any) -> Any:
    names = [as_bytes(name) for name in matching(np.ravel(pattern))]
    return string_array(names, (len(names),))


register(
    "ReadFile",
    infer=lambda op: [(string, scalar())],
    kernel=lambda xp, filename: np.array(read_whole(as_text(filename.item())), object),
    gradient=not_differentiable,
    host_only=True,
)
register(
    "WriteFile",
    infer=lambda op: [],
    kernel=lambda xp, filename, contents: write_whole(as_text(filename.item()), as_bytes(contents.item())),
    gradient=not_differentiable,
    host_only=True,
)
register("MatchingFiles", infer=lambda op: [(string, TensorShape([None]))], kernel=_matching, gradient=not_differentiable, host_only=True)


def read_file(filename: Any, name: str | None = None) -> Tensor:
    """The contents of a file, a string scalar.

    Raises:
        NotFoundError: (when it runs) there is no such file.
    """
    return apply_one("ReadFile", [filename], name)


def write_file(filename: Any, contents: Any, name: str | None = None) -> Operation:
    """An op that writes a file, and makes the directories above it."""
    return apply_op("WriteFile", [filename, contents], name)


def matching_files(pattern: Any, name: str | None = None) -> Tensor:
    """Names of the files that match a pattern, or any of several: a string vector in order of the alphabet."""
    return apply_one("MatchingFiles", [pattern], name)


def match_filenames_once(pattern: Any, name: str | None = None) -> Variable:
    """As `matching_files`, but looked up once: a local variable, to be initialised."""
    names = matching_files(pattern)
    return Variable(names, trainable=False, validate_shape=False, collections=[GraphKeys.LOCAL_VARIABLES], name=name or "matching_filenames")
