"""Errors on the wire: plain data, never code."""

from __future__ import annotations

from pslab import errors
from pslab.graph.packing import pack, unpack


def pack_error(error: BaseException) -> bytes:
    """Encode an error for another task. What is not pslab's own travels as an `InternalError` with its text."""
    if isinstance(error, errors.OpError):
        return pack((type(error).__name__, error.message, error.hint, error.op, error.device, error.origin))
    if isinstance(error, errors.PslabError):
        return pack((type(error).__name__, error.message, error.hint, None, None, None))
    return pack(("InternalError", f"{type(error).__name__}: {error}", "", None, None, None))


def unpack_error(data: bytes) -> errors.PslabError:
    """Decode what `pack_error` encoded."""
    kind, message, hint, op, device, origin = unpack(data)
    cls = getattr(errors, kind, None)
    if not (isinstance(cls, type) and issubclass(cls, errors.PslabError)):
        return errors.InternalError(f"{kind}: {message}", hint)
    error = cls(message, hint)
    if isinstance(error, errors.OpError):
        error.op, error.device, error.origin = op, device, origin
    return error
