"""Flags of a program (TensorFlow 1's ``tf.app.flags``), kept by absl, which is where TensorFlow's come from.

They are parsed at their first use, which may be before ``app.run``. What is not a flag of the program is left alone: the launcher passes every task the
flags of all.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from absl import flags as absl_flags
from absl.flags import DuplicateFlagError, Error, IllegalFlagValueError, UnrecognizedFlagError, ValidationError

__all__ = [
    "FLAGS",
    "DEFINE_alias",
    "DEFINE_bool",
    "DEFINE_boolean",
    "DEFINE_enum",
    "DEFINE_float",
    "DEFINE_integer",
    "DEFINE_list",
    "DEFINE_multi_float",
    "DEFINE_multi_integer",
    "DEFINE_multi_string",
    "DEFINE_spaceseplist",
    "DEFINE_string",
    "DuplicateFlagError",
    "Error",
    "FlagValues",
    "IllegalFlagValueError",
    "UnrecognizedFlagError",
    "ValidationError",
    "mark_flag_as_required",
    "mark_flags_as_required",
    "register_validator",
]


class FlagValues(absl_flags.FlagValues):
    """Flags by name; parsed from the command line when the first is read."""

    def __getattr__(self, name: str) -> Any:
        if not self.is_parsed() and not name.startswith("__"):
            self(sys.argv, known_only=True)
        try:
            return super().__getattr__(name)
        except AttributeError:
            raise AttributeError(f"the program has no flag --{name}; it has: {', '.join(sorted(self)) or 'none'}", name=name, obj=self) from None

    def _parse_flags(self, args: list[str] | None = None) -> list[str]:
        """Parse now; programs of before TensorFlow 1.5 call it."""
        return self(sys.argv if args is None else [sys.argv[0], *args], known_only=True)[1:]


FLAGS = FlagValues()  # type: ignore[no-untyped-call]
"""The program's flags. They are a registry of their own: a flag may have the name of one of absl's, such as ``log_dir``."""

_OLD_KEYWORDS = {"flag_name": "name", "default_value": "default", "docstring": "help"}


def _ours(function: Callable[..., Any]) -> Callable[..., Any]:
    """One of absl's functions, on our flags, which also knows the keywords of TensorFlow's."""

    @functools.wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        renamed = {_OLD_KEYWORDS.get(key, key): value for key, value in kwargs.items()}
        return function(*args, **{"flag_values": FLAGS, **renamed})

    return call


DEFINE_alias = _ours(absl_flags.DEFINE_alias)
DEFINE_bool = DEFINE_boolean = _ours(absl_flags.DEFINE_boolean)
DEFINE_enum = _ours(absl_flags.DEFINE_enum)
DEFINE_float = _ours(absl_flags.DEFINE_float)
DEFINE_integer = _ours(absl_flags.DEFINE_integer)
DEFINE_list = _ours(absl_flags.DEFINE_list)
DEFINE_multi_float = _ours(absl_flags.DEFINE_multi_float)
DEFINE_multi_integer = _ours(absl_flags.DEFINE_multi_integer)
DEFINE_multi_string = _ours(absl_flags.DEFINE_multi_string)
DEFINE_spaceseplist = _ours(absl_flags.DEFINE_spaceseplist)
DEFINE_string = _ours(absl_flags.DEFINE_string)
mark_flag_as_required = _ours(absl_flags.mark_flag_as_required)
mark_flags_as_required = _ours(absl_flags.mark_flags_as_required)
register_validator = _ours(absl_flags.register_validator)
