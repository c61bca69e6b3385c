"""Ops that are the program's own Python, or that print."""

from __future__ import annotations

import sys
import uuid
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from pslab.graph.build import apply, apply_one, convert_to_tensor
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import as_dtype
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import TensorShape
from pslab.graph.strings import as_strings
from pslab.graph.tensor import Tensor


class _Function:
    """A function that an op calls; its graph keeps it."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self.call = call


_FUNCTIONS: weakref.WeakValueDictionary[str, _Function] = weakref.WeakValueDictionary()
_COLLECTION = "__py_functions"


def _infer_call(op: Operation) -> infer.Inferred:
    return [(as_dtype(dtype), TensorShape(None)) for dtype in op.attrs["dtypes"]]


def _call(xp: Any, *inputs: Any, token: str, dtypes: Sequence[str]) -> Any:
    function = _FUNCTIONS.get(token)
    if function is None:
        raise UnimplementedError(
            "this py_func is on a task of another process than the one that built it, and functions do not travel",
            "place it on the session's own task, or write it with graph ops",
        )
    try:
        result = function.call(*(x[()] for x in inputs))  # as TensorFlow: scalars come as such, strings as bytes
    except StopIteration:
        raise OutOfRangeError("the function of a py_func has come to the end of its input: it raised StopIteration") from None
    values = list(result) if isinstance(result, list | tuple) else [] if result is None else [result]
    if len(values) != len(dtypes):
        raise InvalidArgumentError(f"the function returned {len(values)} values; {len(dtypes)} were announced")
    arrays = tuple(map(_as_array, values))
    for i, (array, dtype) in enumerate(zip(arrays, dtypes, strict=True)):
        if as_dtype(array.dtype).name != dtype:
            raise InvalidArgumentError(f"value {i} of the function is {array.dtype}; {dtype} was announced")
    return arrays if len(arrays) != 1 else arrays[0]


def _as_array(value: Any) -> Any:
    array = np.asarray(value)
    return as_strings(value) if array.dtype.kind in "SU" else array


register("PyFunc", infer=_infer_call, kernel=_call, gradient=not_differentiable, view=True, host_only=True, portable=False)


def py_func(func: Callable[..., Any], inp: Sequence[Any], Tout: Any, stateful: bool = True, name: str | None = None) -> Any:  # noqa: N803
    """An op that calls a Python function with NumPy arrays, scalars as such. It must run in the process that builds it: functions do not travel.

    Args:
        func: from an array per member of ``inp`` to an array per member of ``Tout``.
        inp: tensors.
        Tout: a dtype, or a list of them.
        stateful: taken for TensorFlow's sake; it is called once in each step that needs it.
        name: name of the op.

    Returns:
        A tensor of unknown shape, or a list of them where ``Tout`` is a list.

    Raises:
        UnimplementedError: when it runs, it is in another process.
        InvalidArgumentError: when it runs, the function returns other dtypes, or not as many.
    """
    several = isinstance(Tout, list | tuple)
    token, function = uuid.uuid4().hex, _Function(func)
    dtypes = tuple(as_dtype(t).name for t in (Tout if several else [Tout]))
    result = apply("PyFunc", [convert_to_tensor(x) for x in inp], name or "PyFunc", token=token, dtypes=dtypes)
    _FUNCTIONS[token] = function
    get_default_graph().add_to_collection(_COLLECTION, function)
    if not several:
        return result
    return [result] if isinstance(result, Tensor) else list(result) if isinstance(result, tuple) else result


def _print(state: Any, name: str, xp: Any, x: Any, *data: Any, message: str, first_n: int, summarize: int) -> Any:
    count = state.resource(f"print/{name}", lambda: [0])
    count[0] += 1
    if first_n < 0 or count[0] <= first_n:
        sys.stderr.write(f"{message}{''.join(_shown(d, summarize) for d in data)}\n")
    return x


def _shown(array: Any, summarize: int) -> str:
    flat = np.asarray(array).ravel()
    more = "..." if flat.size > summarize else ""
    return f"[{' '.join(str(v) for v in flat[:summarize])}{more}]"


register(
    "Print",
    infer=infer.like_first,
    kernel=_print,
    gradient=lambda op, g: [g, *[None] * (len(op.inputs) - 1)],
    view=True,
    stateful=True,
    host_only=True,
)


def Print(  # noqa: N802
    input_: Any, data: Sequence[Any], message: str | None = None, first_n: int | None = None, summarize: int | None = None, name: str | None = None
) -> Tensor:
    """``input_``, and by the way ``data`` on the standard error of the task it runs on.

    Args:
        input_: what is passed on.
        data: tensors to print.
        message: before them.
        first_n: print only so often; always by default.
        summarize: print only so many elements of each; 3 by default.
        name: name of the op.
    """
    count, elements = -1 if first_n is None else first_n, 3 if summarize is None else summarize
    return apply_one("Print", [input_, *data], name or "Print", message=message or "", first_n=count, summarize=elements)
