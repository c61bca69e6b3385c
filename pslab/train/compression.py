"""Fewer bytes per gradient: what a worker sends in its place, and what the parameter server makes of it.

With *error feedback* (Seide et al., 2014; Karimireddy et al., 2019, "Error Feedback Fixes SignSGD and other Gradient Compression Schemes") a worker keeps what it
did not send, and adds it to its next gradient: nothing is lost, it only comes later.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from pslab.errors import UsageError
from pslab.graph.dtypes import float16, int32
from pslab.graph.ops.arrays import cast
from pslab.graph.ops.clip import clip_by_value
from pslab.graph.ops.gathering import gather
from pslab.graph.ops.quantizing import dequantize_int8, pack_signs, quantize_int8, unpack_signs
from pslab.graph.ops.random import random_uniform
from pslab.graph.ops.shapes import reshape
from pslab.graph.ops.sparsifying import densify, random_indices, top_indices
from pslab.graph.tensor import Tensor

Shape = tuple[int, ...]


class Compression(ABC):
    """A way to send a tensor in fewer bytes: ops that encode it where it is, and ops that decode it where it goes.

    Attributes:
        name: how it is said in a line of ``%pslab``.
        error_feedback: whether what was not sent is kept for the next time.
        close: whether each element that is made is near the one that was sent, so that parameters may be sent, too, and not only what changes them.
    """

    name: ClassVar[str]
    error_feedback: bool

    @property
    def close(self) -> bool:
        """See above."""
        return isinstance(self, Float16 | Int8) and not self.error_feedback

    @abstractmethod
    def encode(self, x: Tensor, seed: int) -> list[Tensor]:
        """What is sent in the place of ``x``, a floating tensor of known shape; ``seed`` is for what is drawn."""

    @abstractmethod
    def decode(self, encoded: Sequence[Tensor], like: Tensor) -> Tensor:
        """What is made of it: a tensor of the dtype and static shape of ``like``, whose value is not used."""


@dataclass(frozen=True)
class Float16(Compression):
    """Half precision: two bytes per element, each within 2⁻¹¹ of its size. What is greater than 65504 is sent as that, and there is no error feedback."""

    name = "float16"
    error_feedback = False

    def encode(self, x: Tensor, seed: int) -> list[Tensor]:
        """``x`` in half precision."""
        most = float(float16.max)
        return [cast(clip_by_value(x, -most, most), float16)]

    def decode(self, encoded: Sequence[Tensor], like: Tensor) -> Tensor:
        """The same in the dtype it had."""
        return cast(encoded[0], like.dtype)

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Int8(Compression):
    """A byte per element, and a scale: max|x| / 127 of each tensor.

    Elements are rounded to the *nearest* level: at most half a level off, and the same in each run. Rounding at random (QSGD; Alistarh et al., 2017) would be right
    in the mean, but is off by up to a level; what rounding to the nearest gets wrong again and again, error feedback puts right.

    Attributes:
        error_feedback: whether a worker keeps what rounding took; by default it does not.
    """

    error_feedback: bool = False
    name = "int8"

    def __post_init__(self) -> None:
        _require_bool(self)

    def encode(self, x: Tensor, seed: int) -> list[Tensor]:
        """Levels and a scale."""
        return list(quantize_int8(x))

    def decode(self, encoded: Sequence[Tensor], like: Tensor) -> Tensor:
        """Levels times the scale."""
        levels, scale = encoded
        return dequantize_int8(levels, scale)

    def __str__(self) -> str:
        return f"{self.name}, error feedback" if self.error_feedback else self.name


@dataclass(frozen=True)
class TopK(Compression):
    """Of each tensor the elements of greatest magnitude, with their indices (Aji and Heafield, 2017; Stich et al., 2018, "Sparsified SGD with Memory").

    Attributes:
        keep: which share of the elements is sent: ``max(1, round(keep · n))`` of n; of equals the first.
        error_feedback: whether a worker keeps the others for the next time. Without it, small gradients never arrive.
    """

    keep: float = 0.01
    error_feedback: bool = True
    name = "top-k"

    def __post_init__(self) -> None:
        _require_share(self.keep, self)
        _require_bool(self)

    def encode(self, x: Tensor, seed: int) -> list[Tensor]:
        """Indices and values."""
        indices = top_indices(x, self.keep)
        return [indices, gather(reshape(x, [-1]), indices)]

    def decode(self, encoded: Sequence[Tensor], like: Tensor) -> Tensor:
        """The values at their indices, and zeros."""
        indices, values = encoded
        return densify(indices, values, like.shape.as_tuple())

    def __str__(self) -> str:
        return _said(self, self.keep)


@dataclass(frozen=True)
class RandomK(Compression):
    """Of each tensor elements that are drawn anew at each step (Stich et al., 2018). They need no indices: a seed is sent, from which both sides draw the same.

    Attributes:
        keep: which share of the elements is sent: ``max(1, round(keep · n))`` of n.
        error_feedback: whether a worker keeps the others for the next time. Without it, only that share of a gradient ever arrives.
    """

    keep: float = 0.01
    error_feedback: bool = True
    name = "random-k"

    def __post_init__(self) -> None:
        _require_share(self.keep, self)
        _require_bool(self)

    def encode(self, x: Tensor, seed: int) -> list[Tensor]:
        """The seed of this step, and values."""
        with x.graph.control_dependencies([x.op]):  # so that it travels in the same message
            drawn = random_uniform([], 0, 2**31 - 1, int32, seed)
        return [drawn, gather(reshape(x, [-1]), self._indices(drawn, x))]

    def decode(self, encoded: Sequence[Tensor], like: Tensor) -> Tensor:
        """The values where the seed says, and zeros."""
        drawn, values = encoded
        return densify(self._indices(drawn, like), values, like.shape.as_tuple())

    def _indices(self, drawn: Tensor, like: Tensor) -> Tensor:
        return random_indices(drawn, like.shape.num_elements() or 0, self.keep)

    def __str__(self) -> str:
        return _said(self, self.keep)


@dataclass(frozen=True)
class OneBit(Compression):
    """A bit per element, and two numbers: the signs of each tensor, and the means of its negative and its other elements (Seide et al., 2014, "1-Bit SGD").

    Attributes:
        error_feedback: whether a worker keeps the difference for the next time. Without it, small gradients are taken for large ones.
    """

    error_feedback: bool = True
    name = "one-bit"

    def __post_init__(self) -> None:
        _require_bool(self)

    def encode(self, x: Tensor, seed: int) -> list[Tensor]:
        """Signs and means."""
        return list(pack_signs(x))

    def decode(self, encoded: Sequence[Tensor], like: Tensor) -> Tensor:
        """The mean that each sign stands for."""
        bits, means = encoded
        return unpack_signs(bits, means, like.shape.as_tuple())

    def __str__(self) -> str:
        return _said(self)


COMPRESSIONS: dict[str, type[Compression]] = {kind.name: kind for kind in (Float16, Int8, TopK, RandomK, OneBit)}
"""The ways to compress, by name."""


def _said(compression: Compression, keep: float | None = None) -> str:
    share = "" if keep is None else f" {100 * keep:g} %"
    return f"{compression.name}{share}" + ("" if compression.error_feedback else ", no error feedback")


def _require_bool(compression: Compression) -> None:
    if not isinstance(compression.error_feedback, bool):
        raise UsageError(f"{type(compression).__name__}(error_feedback=…) must be True or False, found {compression.error_feedback!r}")


def _require_share(keep: float, compression: Compression) -> None:
    if isinstance(keep, bool) or not isinstance(keep, int | float) or not 0 < keep <= 1:
        raise UsageError(
            f"{type(compression).__name__}(keep=…) must be a number above 0 and at most 1, found {keep!r}", "0.01 keeps one element of a hundred"
        )
