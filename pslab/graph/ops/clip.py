"""Keeping values and gradients within bounds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.graph.build import convert_to_tensor
from pslab.graph.ops import math
from pslab.graph.ops.nn import l2_loss
from pslab.graph.ops.reduce import reduce_sum
from pslab.graph.tensor import Tensor


def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any, name: str | None = None) -> Tensor:
    """``t`` with what is below ``clip_value_min`` or above ``clip_value_max`` set to that bound."""
    return math.maximum(math.minimum(convert_to_tensor(t), clip_value_max), clip_value_min, name or "clip_by_value")


def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None, name: str | None = None) -> Tensor:
    """``t`` scaled down, if need be, so that its Euclidean norm over ``axes`` (by default all) is at most ``clip_norm``."""
    x = convert_to_tensor(t)
    squares = reduce_sum(math.square(x), axes, keep_dims=True)
    tiny = float(x.dtype.as_numpy_dtype.type(1e-30)) or 1e-7  # so that the root of 0 has a gradient
    norm = math.sqrt(math.maximum(squares, tiny))
    bound = convert_to_tensor(clip_norm, like=x)
    return math.truediv(x * bound, math.maximum(norm, bound), name or "clip_by_norm")


def global_norm(t_list: Sequence[Any], name: str | None = None) -> Tensor:
    """The Euclidean norm of all tensors in the list taken together; None among them are passed over."""
    halves = [l2_loss(t) for t in t_list if t is not None]
    return math.sqrt(math.add_n(halves) * 2.0, name or "global_norm")


def clip_by_global_norm(t_list: Sequence[Any], clip_norm: Any, use_norm: Any = None, name: str | None = None) -> tuple[list[Tensor | None], Tensor]:
    """Tensors scaled down together, if need be, so that their `global_norm` is at most ``clip_norm``.

    Returns:
        The tensors (None where there was None), and the norm they had, which is ``use_norm`` if that is given.
    """
    norm = global_norm(t_list) if use_norm is None else convert_to_tensor(use_norm)
    bound = convert_to_tensor(clip_norm, like=norm)
    scale = bound / math.maximum(norm, bound)
    prefix = name or "clip_by_global_norm"
    return [None if t is None else math.multiply(convert_to_tensor(t), scale, f"{prefix}/{i}") for i, t in enumerate(t_list)], norm
