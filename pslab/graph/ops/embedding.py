"""Tables whose rows are looked up: whole ones, and such that are kept in parts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import nullcontext
from typing import Any

from pslab.errors import ShapeError
from pslab.graph.build import convert_to_tensor
from pslab.graph.ops.arrays import cast, range_
from pslab.graph.ops.compare import less, where
from pslab.graph.ops.gathering import gather
from pslab.graph.ops.joining import concat
from pslab.graph.ops.math import maximum
from pslab.graph.ops.scattering import dynamic_partition, dynamic_stitch
from pslab.graph.ops.shapes import reshape, shape, size
from pslab.graph.shape import TensorShape
from pslab.graph.tensor import Tensor


def embedding_lookup(
    params: Any, ids: Any, partition_strategy: str = "mod", name: str | None = None, validate_indices: bool = True, max_norm: Any = None
) -> Tensor:
    """The rows of a table at ``ids``. They are taken where the table, or its part, lives, and only they travel. The gradient is dense.

    Args:
        params: a tensor or a variable; a list of parts of one table; or a `PartitionedVariable`.
        ids: integers of any shape.
        partition_strategy: where row i of several parts is. ``"mod"``: in part i mod their number. ``"div"``: the parts follow each other, the first
            ones longer by one row where they are not equal.
        name: name of the op.
        validate_indices: changes nothing.
        max_norm: must be None.

    Returns:
        ``[*ids.shape, *row]``.

    Raises:
        ShapeError: there is no part, or no such strategy.
        InvalidArgumentError: when it runs, an id is outside.
    """
    if max_norm is not None:
        raise ShapeError("embedding_lookup does not bound norms; leave out max_norm=")
    parts = _parts(params)
    if len(parts) == 1:
        return _rows(parts[0], ids, name or "embedding_lookup")
    ids = convert_to_tensor(ids)
    with ids.graph.name_scope(name or "embedding_lookup"):
        flat = reshape(ids, [-1])
        part, within = _divided(flat, parts) if partition_strategy == "div" else _dealt(flat, len(parts), partition_strategy)
        part = cast(part, "int32")
        places = dynamic_partition(range_(size(flat)), part, len(parts))
        wanted = dynamic_partition(within, part, len(parts))
        rows = dynamic_stitch(places, [_rows(p, w, f"part_{i}") for i, (p, w) in enumerate(zip(parts, wanted, strict=True))])
        row = _row_shape(parts)
        found = reshape(rows, concat([shape(ids), list(row.as_tuple())], 0) if row.ndims else shape(ids))
        found.set_shape(TensorShape(None) if ids.shape.dims is None else [*ids.shape.dims, *row.as_tuple()])
        return found


def _parts(params: Any) -> Sequence[Any]:
    if hasattr(params, "_get_variable_list"):
        return params._get_variable_list()  # type: ignore[no-any-return]
    parts = params if isinstance(params, list | tuple) else [params]
    if not parts:
        raise ShapeError("embedding_lookup needs at least one part")
    return parts


def _rows(table: Any, ids: Any, name: str) -> Tensor:
    """The rows of one table, taken where it is if it is a variable."""
    with table.graph.colocate_with(table.op) if hasattr(table, "_as_tensor") else nullcontext():
        return gather(table, ids, name=name)


def _row_shape(parts: Sequence[Any]) -> TensorShape:
    merged = TensorShape(None)
    for part in parts:
        merged = merged.merge_with(convert_to_tensor(part).shape[1:])
    return merged


def _dealt(ids: Tensor, count: int, strategy: str) -> tuple[Tensor, Tensor]:
    if strategy != "mod":
        raise ShapeError(f"partition_strategy is 'mod' or 'div', not {strategy!r}")
    return ids % count, ids // count


def _divided(ids: Tensor, parts: Sequence[Any]) -> tuple[Tensor, Tensor]:
    lengths = [convert_to_tensor(p).shape.dim(0) for p in parts]
    known = [n for n in lengths if n is not None]
    if len(known) < len(parts):
        raise ShapeError("the strategy 'div' needs parts of known lengths")
    short, longer = divmod(sum(known), len(parts))
    later = ids - longer
    part = maximum(ids // (short + 1), later // max(short, 1))
    return part, where(less(part, longer), ids % (short + 1), later % max(short, 1))
