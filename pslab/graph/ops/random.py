"""Random values, from generators that live in the state of the task: one per op, which goes on from step to step.

Seeds follow TensorFlow 1. An op's generator starts from a pair: the graph-level seed (`set_random_seed`) and the op's own.

- With neither, it starts from the operating system's entropy.
- With the graph's alone, the op's is the number of ops built before it, so that a program's values repeat from run to run.
- With the op's alone, the graph's is a fixed number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one, convert_to_tensor
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import DType, as_dtype, float32, int64
from pslab.graph.operation import Operation
from pslab.graph.ops import infer, math
from pslab.graph.ops.shapes import shape as shape_of
from pslab.graph.ops.slicing import slice_
from pslab.graph.ops.static import inferred_shape, integer, runtime_shape, shape_argument
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor

GENERATORS = "random/"
"""Beginning of the resource key of every generator. `Task.drop_resources` with it lets all random sequences begin anew."""
_WORD = 2**64 - 1
DEFAULT_GRAPH_SEED = 87654321
"""TensorFlow's graph-level seed for ops that have a seed of their own in a graph that has none."""


Array = np.ndarray[Any, Any]


def set_random_seed(seed: int) -> None:
    """Set the default graph's seed, from which ops without a seed of their own take theirs."""
    get_default_graph().seed = seed


def get_seed(op_seed: int | None) -> tuple[int, int]:
    """The pair of seeds of an op that is about to be built; (0, 0) stands for the operating system's entropy."""
    graph = get_default_graph()
    if graph.seed is None and op_seed is None:
        return 0, 0
    graph_seed = DEFAULT_GRAPH_SEED if graph.seed is None else graph.seed
    own = len(graph.operations) if op_seed is None else op_seed
    return (0, 2**31 - 1) if (graph_seed, own) == (0, 0) else (graph_seed, own)


def _generator(state: Any, name: str, xp: Any, seed: int, seed2: int) -> Any:
    """The op's generator, which the task keeps."""

    def make() -> Any:
        entropy = None if (seed, seed2) == (0, 0) else [seed % 2**64, seed2 % 2**64]
        if xp is np:
            return np.random.default_rng(entropy)
        return xp.random.default_rng(None if entropy is None else int(np.random.SeedSequence(entropy).generate_state(1, np.uint64)[0]))

    return state.resource(f"{GENERATORS}{name}/{seed}/{seed2}", make)


def generator_state(generator: Any) -> Array:
    """Where a sequence is, as six uint64; none where it lies on a GPU, which does not tell."""
    if not isinstance(generator, np.random.Generator):
        return np.empty(0, np.uint64)
    state = generator.bit_generator.state
    words = [word for n in (state["state"]["state"], state["state"]["inc"]) for word in (n >> 64, n & _WORD)]
    return np.array([*words, state["has_uint32"], state["uinteger"]], np.uint64)


def generator_at(state: Array) -> np.random.Generator:
    """A generator whose sequence goes on from a `generator_state`."""
    high, low, inc_high, inc_low, *rest = (int(word) for word in state)
    generator = np.random.Generator(np.random.PCG64())
    place = {"state": high << 64 | low, "inc": inc_high << 64 | inc_low}
    generator.bit_generator.state = {"bit_generator": "PCG64", "state": place, "has_uint32": rest[0], "uinteger": rest[1]}
    return generator


def _draw(generator: Any, method: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> Any:
    """Floats by ``method``; float16, which generators do not know, by way of float32."""
    if dtype == np.float16:
        return getattr(generator, method)(shape, dtype=np.float32).astype(dtype)
    return getattr(generator, method)(shape, dtype=dtype)


def _infer_draw(op: Operation) -> infer.Inferred:
    return [(as_dtype(op.attrs["dtype"]), inferred_shape(op.attrs["shape"], op.inputs))]


def _normal(state: Any, name: str, xp: Any, *dynamic: Any, shape: Any, dtype: str, seed: int, seed2: int) -> Any:
    return _draw(_generator(state, name, xp, seed, seed2), "standard_normal", runtime_shape(shape, dynamic), np.dtype(dtype))


def _truncated(state: Any, name: str, xp: Any, *dynamic: Any, shape: Any, dtype: str, seed: int, seed2: int) -> Any:
    generator = _generator(state, name, xp, seed, seed2)
    values = xp.atleast_1d(_draw(generator, "standard_normal", runtime_shape(shape, dynamic), np.dtype(dtype)))
    while count := int((outside := xp.abs(values) > 2).sum()):
        values[outside] = _draw(generator, "standard_normal", (count,), np.dtype(dtype))
    return values.reshape(runtime_shape(shape, dynamic))


def _uniform(state: Any, name: str, xp: Any, *dynamic: Any, shape: Any, dtype: str, seed: int, seed2: int) -> Any:
    return _draw(_generator(state, name, xp, seed, seed2), "random", runtime_shape(shape, dynamic), np.dtype(dtype))


def _integers(state: Any, name: str, xp: Any, low: Any, high: Any, *dynamic: Any, shape: Any, dtype: str, seed: int, seed2: int) -> Any:
    if not low < high:
        raise InvalidArgumentError(f"random integers need minval < maxval, found {low} and {high}")
    return _generator(state, name, xp, seed, seed2).integers(int(low), int(high), runtime_shape(shape, dynamic), dtype=np.dtype(dtype))


def _mask(state: Any, name: str, xp: Any, keep: Any, *dynamic: Any, shape: Any, dtype: str, seed: int, seed2: int) -> Any:
    if not 0 < keep <= 1:
        raise InvalidArgumentError(f"keep_prob must be in (0, 1], found {keep}")
    draws = _draw(_generator(state, name, xp, seed, seed2), "random", runtime_shape(shape, dynamic), np.dtype(dtype))
    return (draws < keep) / keep


def _infer_multinomial(op: Operation) -> infer.Inferred:
    logits = op.inputs[0]
    rows, _ = logits.shape.merge_with([None, None]).as_list()
    return [(as_dtype(op.attrs["dtype"]), TensorShape([rows, op.attrs["count"]]))]


def _multinomial(state: Any, name: str, xp: Any, logits: Any, *, count: int, dtype: str, seed: int, seed2: int) -> Any:
    draws = _generator(state, name, xp, seed, seed2).random((logits.shape[0], count, logits.shape[1]))
    noise = -xp.log(-xp.log(xp.maximum(draws, 1e-300)))  # Gumbel's: the greatest sum is at each class with its probability
    return (logits[:, None, :] + noise).argmax(-1).astype(dtype)


def _shuffle(state: Any, name: str, xp: Any, value: Any, *, seed: int, seed2: int) -> Any:
    generator = _generator(state, name, xp, seed, seed2)
    return value[xp.argsort(generator.random(len(value)))]


register("RandomStandardNormal", infer=_infer_draw, kernel=_normal, gradient=not_differentiable, flops=infer.elements, stateful=True)
register("TruncatedNormal", infer=_infer_draw, kernel=_truncated, gradient=not_differentiable, flops=infer.elements, stateful=True)
register("RandomUniform", infer=_infer_draw, kernel=_uniform, gradient=not_differentiable, flops=infer.elements, stateful=True)
register("RandomUniformInt", infer=_infer_draw, kernel=_integers, gradient=not_differentiable, flops=infer.elements, stateful=True)
register("DropoutMask", infer=_infer_draw, kernel=_mask, gradient=not_differentiable, flops=infer.elements, stateful=True)
register("Multinomial", infer=infer.floating(_infer_multinomial), kernel=_multinomial, gradient=not_differentiable, stateful=True)
register("RandomShuffle", infer=infer.like_first, kernel=_shuffle, gradient=not_differentiable, stateful=True)


def _build(type: str, inputs: list[Tensor], shape: Any, dtype: DType, seed: int | None, name: str) -> Tensor:
    dynamic, attribute = shape_argument(shape)
    first, second = get_seed(seed)
    return apply_one(type, [*inputs, *dynamic], name, shape=attribute, dtype=dtype.name, seed=first, seed2=second)


def _floating(dtype: DType | Any, what: str) -> DType:
    found = as_dtype(dtype)
    if not found.is_floating:
        raise ShapeError(f"{what} makes floats, not {found.name}")
    return found


def random_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DType | Any = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Normally distributed values. ``mean`` and ``stddev`` may be tensors that broadcast to ``shape``."""
    draws = _build("RandomStandardNormal", [], shape, _floating(dtype, "random_normal"), seed, name or "random_normal")
    return math.add(math.multiply(draws, stddev), mean)


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: DType | Any = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Normally distributed values, those beyond two standard deviations drawn again."""
    draws = _build("TruncatedNormal", [], shape, _floating(dtype, "truncated_normal"), seed, name or "truncated_normal")
    return math.add(math.multiply(draws, stddev), mean)


def random_uniform(
    shape: Any, minval: Any = 0, maxval: Any = None, dtype: DType | Any = float32, seed: int | None = None, name: str | None = None
) -> Tensor:
    """Uniformly distributed values in ``[minval, maxval)``; ``maxval`` is 1 by default, and must be given for integers.

    Raises:
        ShapeError: integers without ``maxval``.
    """
    wanted = as_dtype(dtype)
    if wanted.is_integer:
        if maxval is None:
            raise ShapeError("random_uniform of integers needs maxval")
        bounds = [convert_to_tensor(minval, wanted), convert_to_tensor(maxval, wanted)]
        return _build("RandomUniformInt", bounds, shape, wanted, seed, name or "random_uniform")
    draws = _build("RandomUniform", [], shape, _floating(dtype, "random_uniform"), seed, name or "random_uniform")
    low, high = convert_to_tensor(minval, like=draws), convert_to_tensor(1.0 if maxval is None else maxval, like=draws)
    return math.add(math.multiply(draws, high - low), low)


def random_shuffle(value: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """The rows of ``value`` in random order."""
    first, second = get_seed(seed)
    return apply_one("RandomShuffle", [value], name, seed=first, seed2=second)


def multinomial(logits: Any, num_samples: Any, seed: int | None = None, name: str | None = None, output_dtype: DType | Any = int64) -> Tensor:
    """Classes drawn by their unscaled log probabilities, ``[batch, num_samples]`` from logits ``[batch, classes]``."""
    first, second = get_seed(seed)
    count = integer(num_samples, "num_samples")
    return apply_one("Multinomial", [logits], name or "multinomial", count=count, dtype=as_dtype(output_dtype).name, seed=first, seed2=second)


def random_crop(value: Any, size: Any, seed: int | None = None, name: str | None = None) -> Tensor:
    """A block of ``size`` (a number per axis) that begins at a random place.

    Raises:
        InvalidArgumentError: when it runs, the block is greater than ``value``.
    """
    x, extent = convert_to_tensor(value), convert_to_tensor(size)
    if extent.shape.num_elements() is None:
        raise ShapeError(f"random_crop needs one size per axis, but {extent.name} has shape {extent.shape}")
    room = shape_of(x) - extent + 1
    start = random_uniform([extent.shape.num_elements()], 0, 2**31 - 1, "int32", seed)
    return slice_(x, math.mod(start, math.maximum(room, 1)), size, name or "random_crop")


def keep_mask(x: Tensor, keep_prob: Tensor, shape: Any, seed: int | None) -> Tensor:
    """For `dropout`: 0 with probability ``1 - keep_prob``, else ``1 / keep_prob``; of the dtype and, unless another is given, the shape of ``x``."""
    return _build("DropoutMask", [keep_prob], shape_of(x) if shape is None else shape, x.dtype, seed, "dropout/mask")
