"""Mailboxes as stateful ops: an edge between two workers' graphs. `mailbox_put` runs on the receiver's task, `mailbox_take` waits there.

`Task.drop_resources` with `MAILBOXES`, and the beginning of a name if wanted, forgets them with what lies in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pslab.graph.build import apply_op, convert_to_tensor
from pslab.graph.dtypes import as_dtype
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import register
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor
from pslab.sync.mailbox import Mailbox

MAILBOXES = "sync/mailbox/"
"""Beginning of the resource key of every mailbox; its name follows."""


def mailbox_put(mailbox: str, values: Sequence[Any], capacity: int, name: str | None = None) -> Operation:
    """An op that leaves some tensors, as one item, in a mailbox of the device in force.

    Args:
        mailbox: its name.
        values: the tensors.
        capacity: as of `Mailbox`; the same at each op of one mailbox.
        name: name of the op.
    """
    return apply_op("MailboxPut", [convert_to_tensor(v) for v in values], name, mailbox=mailbox, capacity=capacity)


def mailbox_take(mailbox: str, like: Sequence[Tensor], capacity: int, name: str | None = None) -> list[Tensor]:
    """An op that waits for an item of a mailbox of the device in force, and takes it.

    Args:
        mailbox: its name.
        like: tensors of the dtypes and static shapes of those that come.
        capacity: as of `Mailbox`.
        name: name of the op.
    """
    attrs = {"dtypes": tuple(t.dtype.name for t in like), "shapes": tuple(t.shape.dims for t in like)}
    return list(apply_op("MailboxTake", [], name, mailbox=mailbox, capacity=capacity, **attrs).outputs)


def _mailbox(state: Any, name: str, capacity: int) -> Mailbox:
    return state.resource(MAILBOXES + name, lambda: Mailbox(capacity))  # type: ignore[no-any-return]


def _put(state: Any, name: str, xp: Any, *values: Any, mailbox: str, capacity: int) -> None:
    _mailbox(state, mailbox, capacity).put(values)


def _take(state: Any, name: str, xp: Any, *, mailbox: str, capacity: int, dtypes: Any, shapes: Any) -> Any:
    item = _mailbox(state, mailbox, capacity).take()
    return item[0] if isinstance(item, tuple) and len(item) == 1 else item


def _infer_take(op: Operation) -> infer.Inferred:
    return [(as_dtype(dtype), TensorShape(shape)) for dtype, shape in zip(op.attrs["dtypes"], op.attrs["shapes"], strict=True)]


register("MailboxPut", infer=lambda op: [], kernel=_put, stateful=True, signals=True)
register("MailboxTake", infer=_infer_take, kernel=_take, stateful=True, blocking=True)
