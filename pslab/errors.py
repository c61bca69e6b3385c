"""The one exception tree of pslab, with TensorFlow's names where TensorFlow has the concept.

Every error says what was wrong in its message and, where there is one, what to do in ``hint``. An error that happened inside an op also knows the op,
its device and the line of Python that built it. All of them survive pickling, because they travel from the task where they happened to the client.
"""

from __future__ import annotations


class PslabError(Exception):
    """Base of everything pslab raises on purpose.

    Args:
        message: what was wrong, with the value found and the value expected.
        hint: what to do about it, or an empty string.
    """

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message}\n  hint: {self.hint}" if self.hint else self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (_rebuild, (type(self), self.args, self.__dict__.copy()))

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback: the message and the hint."""
        lines = [f"\x1b[31m{type(self).__name__}:\x1b[0m {self.message}"]
        return [*lines, f"  hint: {self.hint}"] if self.hint else lines


def _rebuild(cls: type[PslabError], args: tuple[object, ...], state: dict[str, object]) -> PslabError:
    error = cls.__new__(cls)
    error.args = args
    error.__dict__.update(state)
    return error


class GraphError(PslabError, ValueError):
    """A graph that cannot be built: a bad name, a bad attribute, a cycle."""


class ShapeError(GraphError):
    """Static shapes that do not fit; raised where the op is built."""


class DeviceError(GraphError):
    """A device name that cannot be parsed, or that no task has."""


class UsageError(PslabError, ValueError):
    """A call whose arguments cannot be meant: ``workers=0``, an unknown mode, a model that returns nothing."""


class ClosedSessionError(UsageError, RuntimeError):
    """A run of a session that was closed."""


class OpError(PslabError):
    """An error while a step was running; the base of TensorFlow's error codes.

    Attributes:
        op: name of the op it happened in (with its name scopes), or None.
        device: the device the op ran on, or None.
        origin: ``file:line: source`` of the Python line that built the op, or None.
    """

    def __init__(self, message: str, hint: str = "", *, op: str | None = None, device: str | None = None, origin: str | None = None) -> None:
        where = ""
        if op is not None:
            where = f"\n  in op {op!r}" + (f" on {device}" if device else "") + (f"\n  built at {origin}" if origin else "")
        super().__init__(message + where, hint)
        self.op = op
        self.device = device
        self.origin = origin


class CancelledError(OpError):
    """The step was cancelled: the session closed, or another task's part of the step failed."""


class InvalidArgumentError(OpError, ValueError):
    """A value an op cannot take: an unfed placeholder, a NaN where numerics are checked, shapes that do not fit at run time."""


class DeadlineExceededError(OpError, TimeoutError):
    """Something did not happen in time; the message says what, whose it was and how long was waited."""


class NotFoundError(OpError):
    """A thing that was asked for by name is not there: a file, a variable in a checkpoint, a task."""


class NotInGraphError(NotFoundError, KeyError, ValueError):
    """A name of an op or a tensor that the graph does not have. TensorFlow's graph raises KeyError for it, its session ValueError."""


class AlreadyExistsError(OpError):
    """A thing to be made is there already."""


class PermissionDeniedError(OpError):
    """A peer did not prove the cluster's secret."""


class ResourceExhaustedError(OpError):
    """Memory or disk that is not there."""


class FailedPreconditionError(OpError):
    """The state does not allow it: most often, a variable that was not initialised."""


class AbortedError(OpError):
    """The step was given up because the task it ran on restarted or changed."""


class OutOfRangeError(OpError):
    """The end of the input: a closed and empty queue."""


class UnimplementedError(OpError, NotImplementedError):
    """A thing pslab does not do; the message names it."""


class InternalError(OpError):
    """A broken invariant of pslab itself. A bug: please report it."""


class UnavailableError(OpError):
    """A task that cannot be reached: not started, killed, or cut off."""


class DataLossError(OpError):
    """A file that is truncated or is not what it says it is."""
