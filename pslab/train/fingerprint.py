"""What tells a data set and a model from others: what a log was made with, so that it is replayed with nothing else."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np

from pslab.data.partitions import DataSource, Partitions
from pslab.errors import UsageError
from pslab.graph.node import Node
from pslab.graph.packing import pack
from pslab.graph.variables import global_variables
from pslab.train.model import Features, Model, try_out

Array = np.ndarray[Any, Any]


def fingerprint(dataset: DataSource, model: Model) -> dict[str, str]:
    """What there is to compare, by what it is called.

    Of the data: shapes, dtypes, and SHA-256 of the contents; of data in parts, the parts' names, and the same of the first one's examples to test on. Of
    the model: shapes and dtypes of its variables, slots among them, and of each op of its graph the type and a hash of all that it computes by.
    """
    x, y = dataset.sample
    found = {**_of_array("examples", x), **_of_array("targets", y)}
    share = dataset.for_tasks()
    if isinstance(share, Partitions):
        found["parts"] = ", ".join(part.name for part in share.parts)
    found["placement of variables"] = str(model.placement)
    graph = try_out(model, Features.of(x, y)).loss.graph
    with graph.as_default():
        found.update({f"variable {v.op.name}": f"{v.shape} {v.dtype.name}" for v in global_variables()})
    found.update({f"op {op.name}": _of_node(Node.of(op)) for op in graph.operations})
    return found


def digests(parameters: Mapping[str, Array]) -> dict[str, str]:
    """Of each parameter a SHA-256 of dtype, shape and content, in 16 digits."""
    return {name: _hash(pack(np.asarray(value, order="C"))) for name, value in parameters.items()}


def require_same(logged: Mapping[str, str], found: Mapping[str, str]) -> None:
    """Refuse another data set or model than that of a log.

    Raises:
        UsageError: what differs first.
    """
    for name in sorted(dict.fromkeys([*logged, *found]), key=lambda name: name.startswith("op ")):  # what says more first
        was, now = logged.get(name, "not there"), found.get(name, "not there")
        if was != now:
            what = "model" if name.startswith(("placement ", "variable ", "op ")) else "data set"
            raise UsageError(f"the log is of another {what}: {name}: {was} in the log, {now} here", f"replay it with the {what} that was trained")


def _of_array(name: str, array: Array) -> dict[str, str]:
    content = np.ascontiguousarray(array)
    return {name: f"{array.shape} {array.dtype.name}", f"contents of the {name}": _hash(content.reshape(-1).view(np.uint8).data)}


def _of_node(node: Node) -> str:
    attrs = node.attrs if node.definition.portable else {}  # a function of the program's own has no name that another run would know
    number = np.ravel(attrs["value"]) if node.type == "Const" else np.empty(0)
    told = f" {number[0]:.7g}" if number.size == 1 and number.dtype.kind in "fiu" else ""
    return f"{node.type}{told} {_hash(pack((node.inputs, node.controls, attrs, node.outputs)))}"


def _hash(data: Any) -> str:
    return hashlib.sha256(data).hexdigest()[:16]
