"""Summary ops. Each gives a serialised ``Summary`` protocol buffer, as TensorFlow's do."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from pslab.errors import InvalidArgumentError, ShapeError
from pslab.graph.build import apply_one
from pslab.graph.collections import GraphKeys
from pslab.graph.default_names import name_scope
from pslab.graph.defaults import get_default_graph
from pslab.graph.dtypes import string
from pslab.graph.operation import Operation
from pslab.graph.ops import infer
from pslab.graph.registry import not_differentiable, register
from pslab.graph.shape import scalar as scalar_shape
from pslab.graph.tensor import Tensor


def scalar(name: str, tensor: Any, collections: Sequence[str] | None = None, family: str | None = None) -> Tensor:
    """A summary of one number.

    Args:
        name: its tag, below the current name scope.
        tensor: a real scalar.
        collections: where the op is put; ``[GraphKeys.SUMMARIES]`` by default.
        family: a prefix of the tag, by which TensorBoard groups.

    Returns:
        A string scalar: the serialised summary.

    Raises:
        ShapeError: ``tensor`` has more than one element for sure.
    """
    return _summary("ScalarSummary", name, tensor, collections, family)


def histogram(name: str, values: Any, collections: Sequence[str] | None = None, family: str | None = None) -> Tensor:
    """A summary of how values are distributed, in TensorFlow's buckets, whose limits grow by a tenth.

    Args:
        name: its tag, below the current name scope.
        values: real numbers of any shape.
        collections: where the op is put; ``[GraphKeys.SUMMARIES]`` by default.
        family: a prefix of the tag, by which TensorBoard groups.

    Returns:
        A string scalar: the serialised summary. When it runs on values some of which are not finite, `InvalidArgumentError` is raised.
    """
    return _summary("HistogramSummary", name, values, collections, family)


def image(name: str, tensor: Any, max_outputs: int = 3, collections: Sequence[str] | None = None, family: str | None = None) -> Tensor:
    """A summary of pictures, as PNG.

    Args:
        name: the beginning of their tags, ``name/image/0`` and so on (``name/image`` if ``max_outputs`` is 1), below the current name scope.
        tensor: [batch, height, width, channels] with 1 (grey), 3 (RGB) or 4 (RGBA) channels; uint8 as it is, or floats, of which each picture is
            scaled to [0, 255], or, where some are negative, so that 0 comes to 127.
        max_outputs: how many pictures of the batch at most.
        collections: where the op is put; ``[GraphKeys.SUMMARIES]`` by default.
        family: a prefix of the tag, by which TensorBoard groups.

    Returns:
        A string scalar: the serialised summary.

    Raises:
        ShapeError: ``tensor`` has not four dimensions, or another number of channels.
    """
    return _summary("ImageSummary", name, tensor, collections, family, max_outputs=max_outputs)


def merge(inputs: Sequence[Tensor], collections: Sequence[str] | None = None, name: str | None = None) -> Tensor:
    """All of these summaries as one, a string scalar. When it runs and two have the same tag, `InvalidArgumentError` is raised."""
    made = apply_one("MergeSummary", list(inputs), name)
    for key in collections or ():
        made.graph.add_to_collection(key, made)
    return made


def merge_all(key: str = GraphKeys.SUMMARIES, scope: str | None = None, name: str | None = None) -> Tensor | None:
    """All summaries of a collection as one; None if there are none.

    Args:
        key: the collection.
        scope: take only those whose names begin with this.
        name: the op's name.
    """
    found = get_default_graph().get_collection(key, scope)
    return merge(found, name=name) if found else None


def _summary(type: str, name: str, values: Any, collections: Sequence[str] | None, family: str | None, **attrs: Any) -> Tensor:
    """One summary op. The tag is its own name, with the family in front, as in TensorFlow."""
    with name_scope(f"{family}/{name}" if family else name, values=[values]) as scope:
        tag = f"{family}/{scope.rstrip('/')}" if family else scope.rstrip("/")
        made = apply_one(type, [values], scope, tag=tag, **attrs)
    for key in [GraphKeys.SUMMARIES] if collections is None else collections:
        made.graph.add_to_collection(key, made)
    return made


def _infer_summary(op: Operation) -> infer.Inferred:
    return [(string, scalar_shape())]


def _infer_scalar(op: Operation) -> infer.Inferred:
    if op.inputs[0].shape.num_elements() not in {None, 1}:
        raise ShapeError(
            f"a scalar summary is of one number; {op.inputs[0].name} has shape {op.inputs[0].shape}", "use reduce_mean, or summary.histogram"
        )
    return _infer_summary(op)


def _infer_image(op: Operation) -> infer.Inferred:
    shape = op.inputs[0].shape
    if shape.ndims is not None and (shape.ndims != 4 or shape.as_list()[3] not in {None, 1, 3, 4}):
        raise ShapeError(f"pictures are [batch, height, width, 1, 3 or 4 channels]; {op.inputs[0].name} has shape {shape}")
    return _infer_summary(op)


def _scalar(xp: Any, value: Any, *, tag: str) -> Any:
    from tensorboardX.proto.summary_pb2 import Summary

    if value.size != 1:
        raise InvalidArgumentError(f"a scalar summary is of one number; {tag!r} was given {value.shape}")
    return _packed(Summary(value=[Summary.Value(tag=tag, simple_value=float(value.item()))]))


def _histogram(xp: Any, values: Any, *, tag: str) -> Any:
    from tensorboardX.proto.summary_pb2 import HistogramProto, Summary
    from tensorboardX.summary import make_histogram

    if not np.isfinite(values).all():
        raise InvalidArgumentError(f"Nan in summary histogram for: {tag}")
    flat = values.ravel().astype(np.float64)
    made = make_histogram(flat, _bucket_limits()) if flat.size else HistogramProto()
    return _packed(Summary(value=[Summary.Value(tag=tag, histo=made)]))


def _bucket_limits() -> Any:
    """TensorFlow's: from 1e-12 on, each greater by a tenth, up to 1e20; the same below 0; the greatest doubles at the ends."""
    above = 1e-12 * 1.1 ** np.arange(0, 775)
    ends = np.finfo(np.float64).max
    return np.concatenate([[-ends], -above[::-1], [0.0], above, [ends]])


def _image(xp: Any, pictures: Any, *, tag: str, max_outputs: int) -> Any:
    from PIL import Image
    from tensorboardX.proto.summary_pb2 import Summary

    summary = Summary()
    for i, picture in enumerate(pictures[:max_outputs]):
        height, width, channels = picture.shape
        encoded = io.BytesIO()
        Image.fromarray(_as_bytes(picture)[:, :, 0] if channels == 1 else _as_bytes(picture)).save(encoded, "PNG")
        image = Summary.Image(height=height, width=width, colorspace=channels, encoded_image_string=encoded.getvalue())
        summary.value.add(tag=f"{tag}/image" if max_outputs == 1 else f"{tag}/image/{i}", image=image)
    return _packed(summary)


def _as_bytes(picture: Any) -> Any:
    """Scale as TensorFlow does: the greatest comes to 255; where some are negative, the greatest magnitude to 127 around 128."""
    if picture.dtype == np.uint8:
        return picture
    finite = np.isfinite(picture)
    values = np.where(finite, picture, 0).astype(np.float64)
    low, high = values.min(initial=0), values.max(initial=0)
    greatest = max(-low, high)
    scale, offset = ((127 / greatest if greatest else 0), 128) if low < 0 else ((255 / high if high else 0), 0)
    scaled: Any = np.clip(values * scale + offset, 0, 255).astype(np.uint8)
    scaled[~finite.all(-1)] = 0 if picture.shape[-1] == 1 else [255, 0, 0, 255][: picture.shape[-1]]
    return scaled


def _merge(xp: Any, *summaries: Any) -> Any:
    from tensorboardX.proto.summary_pb2 import Summary

    merged = Summary()
    for packed in summaries:
        for one in packed.ravel():
            merged.MergeFromString(one)
    tags = [value.tag for value in merged.value]
    if len(set(tags)) != len(tags):
        raise InvalidArgumentError(f"Duplicate tag {next(tag for tag in tags if tags.count(tag) > 1)} found in summary inputs")
    return _packed(merged)


def _packed(summary: Any) -> Any:
    return np.asarray(summary.SerializeToString(), object)


_FIELDS: dict[str, Any] = {"gradient": not_differentiable, "host_only": True}
register("ScalarSummary", infer=_infer_scalar, kernel=_scalar, **_FIELDS)
register("HistogramSummary", infer=_infer_summary, kernel=_histogram, **_FIELDS)
register("ImageSummary", infer=_infer_image, kernel=_image, **_FIELDS)
register("MergeSummary", infer=_infer_summary, kernel=_merge, **_FIELDS)
