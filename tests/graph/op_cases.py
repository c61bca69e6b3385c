"""At least one example of every op type, for the tests that hold for all of them."""

from __future__ import annotations

import io
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from PIL import Image

from pslab.graph.build import apply
from pslab.graph.ops import arrays, contraction, joining, losses, nn, numerics, python, random, scattering, shapes, slicing, sources
from pslab.graph.variables import Variable


@dataclass(frozen=True)
class Case:
    """An op as ``build(*placeholders)``, and values of the placeholders. ``ranks``: whether it can be built where the inputs' ranks are unknown."""

    type: str
    build: Callable[..., Any]
    inputs: tuple[np.ndarray, ...]
    ranks: bool = True

    def __str__(self) -> str:
        return self.type


_rng = np.random.default_rng(7)


def some(*shape: int, low: float = -2.0, high: float = 2.0) -> np.ndarray:
    """Distinct numbers, at least 0.01 apart from each other and from 0, where kinks are."""
    count = int(np.prod(shape))
    values = np.linspace(low, high, count + 2)[1:-1]
    values = np.where(np.abs(values) < 0.01, 0.013, values)
    return _rng.permutation(values).reshape(shape)


def positive(*shape: int) -> np.ndarray:
    return some(*shape, low=0.3, high=3.0)


def whole(*shape: int, below: int = 3) -> np.ndarray:
    return _rng.integers(0, below, shape).astype("int32")


def truths(*shape: int) -> np.ndarray:
    return _rng.integers(0, 2, shape).astype(bool)


def probabilities(*shape: int) -> np.ndarray:
    values = positive(*shape)
    return values / values.sum(-1, keepdims=True)


def png(*pixels: tuple[int, int, int]) -> bytes:
    """A file with a picture of one row."""
    file = io.BytesIO()
    Image.fromarray(np.array([pixels], "uint8")).save(file, "png")
    return file.getvalue()


CASES: list[Case] = []


def op(type: str, *inputs: Any, **attrs: Any) -> None:
    """An op by its type, from its inputs and attributes."""
    CASES.append(Case(type, lambda *xs: apply(type, xs, **attrs), tuple(inputs)))


def function(type: str, build: Callable[..., Any], *inputs: Any, ranks: bool = True) -> None:
    """An op by the function that builds it."""
    CASES.append(Case(type, build, tuple(inputs), ranks))


for _type in ("Add", "Sub", "Mul", "Maximum", "Minimum", "SquaredDifference"):
    op(_type, some(3, 4), some(3, 4, low=-3, high=1))
    op(_type, some(2, 3, 4), some(4))
    op(_type, some(3, 1), some(1, 4))
    op(_type, some(), some(2))
op("RealDiv", some(3, 4), positive(4))
op("RealDiv", some(3, 1), positive(3, 4))
op("FloorDiv", some(3, 4), positive(4))
op("FloorMod", some(3, 4), positive(4))
op("Pow", positive(3, 4), some(4))
for _type in ("Neg", "Abs", "Sign", "Exp", "Expm1", "Square", "Reciprocal", "Sin", "Cos", "Floor", "Ceil", "Round"):
    op(_type, some(3, 4))
op("Neg", some())
for _type in ("Log", "Log1p", "Sqrt", "Rsqrt"):
    op(_type, positive(3, 4))
for _type in ("Tan", "Asin", "Acos", "Atan", "Sinh", "Cosh", "Asinh", "Atanh", "Erf"):
    op(_type, some(3, 4, low=-0.9, high=0.9))
op("Acosh", positive(3, 4) + 1)
op("AddN", some(3, 2), some(3, 2), some(3, 2))
op("AddN", some(3))

op("MatMul", some(3, 4), some(4, 2), transpose_a=False, transpose_b=False)
op("MatMul", some(4, 3), some(4, 2), transpose_a=True, transpose_b=False)
op("MatMul", some(3, 4), some(2, 4), transpose_a=False, transpose_b=True)
op("MatMul", some(4, 3), some(2, 4), transpose_a=True, transpose_b=True)
op("MatMul", some(2, 3, 4), some(2, 4, 2), transpose_a=False, transpose_b=False)
op("MatMul", some(2, 4, 3), some(2, 2, 4), transpose_a=True, transpose_b=True)

function("Einsum", lambda a, b: contraction.einsum("ij,kj->ki", a, b), some(2, 3), some(4, 3))
function("Einsum", lambda a, b, c: contraction.einsum("bij,jk,b->kb", a, b, c), some(2, 3, 4), some(4, 2), some(2))
function("Einsum", lambda a: contraction.einsum("ijk->j", a), some(2, 3, 2))

op("SumToShape", some(2, 3, 4), shape=(3, 1))
op("SumToShape", some(3, 4), shape=(4,))
op("SumToShape", some(3, 4), shape=(3, 4))
op("SumToLike", some(2, 3, 4), some(1, 4))
op("SumToLike", some(3, 4), some(3, 4))

for _type in ("Sum", "Mean", "Prod", "Max", "Min"):
    op(_type, some(3, 4), axis=None, keep_dims=False)
    op(_type, some(2, 3, 2), axis=(0, 2), keep_dims=False)
    op(_type, some(3, 4), axis=(1,), keep_dims=True)
for _type in ("All", "Any"):
    op(_type, truths(3, 4), axis=(1,), keep_dims=False)
op("Mean", whole(3, 4, below=9), axis=(0,), keep_dims=False)
op("Sum", whole(3, 4, below=9), axis=(0,), keep_dims=False)
op("ReduceGrad", some(3), some(3, 4), axis=(1,), keep_dims=False, mean=True, shape=None)
op("ReduceGrad", some(1, 4), axis=(0,), keep_dims=True, mean=False, shape=(3, 4))
op("ReduceGrad", some(), some(2, 3), axis=None, keep_dims=False, mean=True, shape=None)
op("ProdOfOthers", some(2, 3), axis=(1,))
op("ArgMax", some(3, 4), axis=1, dtype="int64")
op("ArgMin", some(3, 4), axis=0, dtype="int32")

for _type in ("Equal", "NotEqual", "Less", "LessEqual", "Greater", "GreaterEqual"):
    op(_type, whole(3, 4), whole(4))
for _type in ("LogicalAnd", "LogicalOr", "LogicalXor"):
    op(_type, truths(3, 4), truths(4))
op("LogicalNot", truths(3))
op("Select", truths(3, 4), some(3, 4), some(3, 4))
op("Select", truths(3, 1), some(4), some(1, 4))
op("Where", truths(3, 4))

op("Shape", some(2, 3), dtype="int32")
op("Size", some(2, 3), dtype="int64")
op("Rank", some(2, 3), dtype="int32")
function("Reshape", lambda x: shapes.reshape(x, [4, -1]), some(2, 6))
function("Reshape", lambda x, like: shapes.reshape(x, shapes.shape(like)), some(2, 6), some(3, 4))
op("ExpandDims", some(2, 3), axis=(1,))
op("Squeeze", some(2, 1, 3, 1), axis=(1, 3))
op("Squeeze", some(2, 1, 3), axis=None)
op("Transpose", some(2, 3, 4), perm=(2, 0, 1))
op("Transpose", some(2, 3), perm=None)

function("Fill", lambda x: arrays.fill([2, 3], x), some())
function("Fill", lambda x, like: arrays.fill(shapes.shape(like), x), some(), some(2, 3))
op("ZerosLike", some(2, 3))
op("OnesLike", some(2, 3))
function("Range", arrays.range_, np.array(5, "int32"))
function("OneHot", lambda i: arrays.one_hot(i, 4), whole(3, 2))
op("OneHot", whole(3, 2), some(), some(), depth=4, axis=1)
op("Tile", some(2, 3), multiples=(2, 3))
op("TileGrad", some(4, 9), some(2, 3), multiples=(2, 3))
op("Cast", some(2, 3), dtype="float64")
op("Cast", some(2, 3), dtype="int32")

function("ConcatV2", lambda *xs: joining.concat(xs, 1), some(2, 3), some(2, 1), some(2, 2))
function("ConcatV2", lambda *xs: joining.concat(xs, 0), some(2), some(3))
op("Split", some(5, 2), sizes=(2, 3), axis=0)
op("SplitLike", some(5, 2), some(2, 2), some(3, 2), axis=0)
op("SplitEvenly", some(2, 6), count=3, axis=1)
op("Pack", some(2, 3), some(2, 3), axis=1)
op("Unpack", some(2, 3), num=3, axis=1)

op("StridedSlice", some(4, 5), key=((None, None, -2), 1))
op("StridedSlice", some(4, 5), key=("new", "...", (1, 4, 2)))
op("StridedSliceGrad", some(2), some(4, 5), key=((None, None, -2), 1))
function("Slice", lambda x: slicing.slice_(x, [1, 0], [2, -1]), some(4, 3))
function("Slice", lambda x, begin: slicing.slice_(x, begin, [2, 2]), some(4, 3), np.array([1, 1], "int32"))
op("SliceGrad", some(2, 3), some(4, 3), begin=(1, 0), size=(2, -1))
op("GatherV2", some(4, 3), whole(2, 3, below=4), axis=0)
op("GatherV2", some(2, 4), np.array([3, 0, 3], "int64"), axis=1)
op("GatherGrad", some(3, 3), np.array([1, 1, 0], "int32"), some(4, 3), axis=0, shape=None)
op("GatherGrad", some(3, 3), np.array([1, 1, 0], "int32"), axis=0, shape=(4, 3))
op("GatherNd", some(4, 3, 2), np.array([[[1, 2], [0, 0]], [[1, 2], [3, 1]]], "int32"))
op("GatherNdGrad", some(3, 2), np.array([[1], [1], [0]], "int64"), some(4, 2))
op("DynamicPartition", some(4, 2), np.array([1, 0, 1, 1], "int32"), count=3)
function(
    "DynamicStitch", lambda i, j, a, b: scattering.dynamic_stitch([i, j], [a, b]), np.array([3, 0]), np.array([[1], [2]]), some(2, 3), some(2, 1, 3)
)
function("UnsortedSegmentSum", lambda x, i: scattering.unsorted_segment_sum(x, i, 3), some(4, 2), np.array([2, 0, -1, 2]))
function("UnsortedSegmentSum", scattering.unsorted_segment_sum, some(2, 2), np.array([[1, 0], [-1, 1]]), np.array(2))
op("ReverseV2", some(2, 3, 2), axis=(0, -1))
op("Cumsum", some(2, 3, 2), axis=1, exclusive=False, reverse=True)
op("Cumsum", some(3, 2), axis=0, exclusive=True, reverse=False)
op("TopKV2", some(2, 3, 4), k=2)
op("TopKGrad", some(2, 2), np.array([[3, 0], [1, 2]], "int32"), some(2, 4))
op("PadV2", some(2, 3), paddings=((1, 0), (2, 1)), constant=1.5)

for _type in ("Relu", "Sigmoid", "Tanh", "Softplus", "Elu", "Selu", "Softmax", "LogSoftmax"):
    op(_type, some(3, 4))
op("Sigmoid", some())
op("Relu6", some(3, 4, low=-3, high=9))
op("LeakyRelu", some(3, 4), alpha=0.2)
for _type in ("ReluGrad", "SigmoidGrad", "TanhGrad", "EluGrad", "SeluGrad"):
    op(_type, some(3, 4), some(3, 4))
op("TanhGrad", some(), some())
op("Relu6Grad", some(3, 4), some(3, 4, low=-3, high=9))
op("LeakyReluGrad", some(3, 4), some(3, 4), alpha=0.2)
op("BiasAdd", some(2, 3, 4), some(4))
op("BiasAddGrad", some(2, 3, 4))
op("L2Loss", some(2, 3))
op("InTopK", some(3, 4), whole(3), k=2)

op("SoftmaxCrossEntropyWithLogits", some(3, 4), probabilities(3, 4))
op("SparseSoftmaxCrossEntropyWithLogits", some(3, 4), whole(3))
function(
    "SoftmaxCrossEntropyWithLogits",
    lambda x, y: losses.softmax_cross_entropy_with_logits_v2(y, x, 0),
    some(3, 4),
    probabilities(4, 3).T.copy(),
    ranks=False,
)
op("ScaleRows", some(3, 4), some(3))
op("SigmoidCrossEntropyWithLogits", some(3, 4), probabilities(3, 4))

_CONV = {"strides": (2, 1), "padding": "SAME"}
op("Conv2D", some(2, 5, 4, 2), some(3, 2, 2, 3), **_CONV)
op("Conv2D", some(1, 4, 4, 1), some(2, 2, 1, 2), strides=(1, 1), padding="VALID")
op("Conv2DBackpropInput", some(3, 2, 2, 3), some(2, 3, 4, 3), some(2, 5, 4, 2), **_CONV)
op("Conv2DBackpropFilter", some(2, 5, 4, 2), some(2, 3, 4, 3), some(3, 2, 2, 3), **_CONV)
op("MaxPool", some(2, 5, 4, 2), size=(2, 2), strides=(2, 2), padding="SAME")
op("MaxPool", some(1, 5, 5, 1), size=(3, 2), strides=(1, 2), padding="VALID")
op(
    "MaxPoolGrad",
    np.arange(8.0).reshape(1, 4, 2, 1),
    np.array([3.0, 7.0]).reshape(1, 2, 1, 1),
    some(1, 2, 1, 1),
    size=(2, 2),
    strides=(2, 2),
    padding="SAME",
)

_POOL = {"size": (2, 3), "strides": (2, 1), "padding": "SAME"}
op("AvgPool", some(2, 5, 4, 2), **_POOL)
op("AvgPool", some(1, 5, 5, 1), size=(3, 2), strides=(1, 2), padding="VALID")
op("AvgPoolGrad", some(2, 5, 4, 1), some(2, 3, 4, 1), **_POOL)

_LRN = {"radius": 1, "bias": 1.5, "alpha": 0.3, "beta": 0.7}
op("LRN", some(2, 3, 5), **_LRN)
op("LRNGrad", some(2, 5), some(2, 5), **_LRN)
for _nearest in (False, True):
    op("Resize", some(1, 3, 4, 2), size=(5, 2), nearest=_nearest, align=False)
    op("Resize", some(2, 3, 2, 1), size=(2, 5), nearest=_nearest, align=True)
op("ResizeGrad", some(1, 5, 2, 2), some(1, 3, 4, 2), size=(5, 2), nearest=False, align=False)
op("DecodeImage", np.array(png((1, 2, 3), (250, 0, 9)), object), channels=3)

op("TopIndices", some(3, 5), share=0.2)
op("TopIndices", whole(3, 5).astype("float32"), share=0.5)
op("RandomIndices", np.array(5, "int32"), size=40, share=0.25)
op("Densify", np.array([1, 4], "int32"), some(2), shape=(2, 3))
op("QuantizeInt8", some(3, 4))
op("DequantizeInt8", whole(3, 4).astype("int8"), some())
op("PackSigns", some(3, 5))
op("UnpackSigns", np.array([170, 128], "uint8"), some(2), shape=(3, 3))

for _type in ("IsNan", "IsInf", "IsFinite"):
    op(_type, np.array([1.0, np.nan, np.inf]))
function("CheckNumerics", lambda x: numerics.check_numerics(x, "x"), some(2, 3))

function("RandomStandardNormal", lambda: random.random_normal([2, 3]))
function("RandomStandardNormal", lambda x: random.random_normal(shapes.shape(x), dtype="float16"), some(2, 3))
function("TruncatedNormal", lambda: random.truncated_normal([2, 3], dtype="float64"))
function("TruncatedNormal", lambda: random.truncated_normal([]))
function("RandomUniform", lambda: random.random_uniform([2, 3], -1, 1))
function("RandomUniformInt", lambda: random.random_uniform([2, 3], 2, 9, "int64"))
function("DropoutMask", lambda x: nn.dropout(x, 0.5), some(2, 3))
op("Multinomial", some(3, 4), count=5, dtype="int64", seed=1, seed2=2)
function("RandomShuffle", random.random_shuffle, some(4, 3))

function("Const", lambda: sources.constant([[1.0, 2.0]]))
op("Identity", some(2, 3))
function("PlaceholderWithDefault", lambda x: sources.placeholder_with_default(x, [None, 3]), some(2, 3))
op("StopGradient", some(2, 3))


function("Print", lambda x: python.Print(x, [x], first_n=0), some(2, 3))
function("PyFunc", lambda x: python.py_func(lambda array: array + 1, [x], x.dtype), some(2, 3))


def _assigned(type: str) -> Callable[..., Any]:
    def build(x: Any) -> Any:
        variable = Variable(np.ones((2, 3)), name="v")
        with variable.graph.control_dependencies([variable.initializer]):
            update = getattr(variable, {"Assign": "assign", "AssignAdd": "assign_add", "AssignSub": "assign_sub"}[type])
            return update(variable.initializer.outputs[0] * 0.0 + x)

    return build


for _type in ("Assign", "AssignAdd", "AssignSub"):
    function(_type, _assigned(_type), some(2, 3))

UNRUNNABLE = {
    "Placeholder": "refuses to run: a value must be fed in its place",
    "Assert": "has no output",
    "NoOp": "has no output",
    "VariableV2": "reads what an Assign op has put in the task's state",
    "ReadVariable": "reads what an Assign op has put in the task's state",
    "CountUpTo": "reads what an Assign op has put in the task's state",
    "IsVariableInitialized": "asks for the task's state",
    "ReportUninitialized": "is told of the task's state by its inputs",
}
"""Op types without a case here, and why; they have tests of their own."""

DYNAMIC = {"DecodeImage", "DynamicPartition", "DynamicStitch", "PlaceholderWithDefault", "PyFunc", "Where"}
"""Op types whose outputs' shapes depend on the inputs' values, or are what was asked for."""

SECOND_ORDER = {"LRNGrad", "MaxPoolGrad", "ProdOfOthers", "TopKGrad"}
"""Op types of gradients that have no gradient themselves: asking for it is an error."""
