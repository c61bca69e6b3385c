"""Running a program's ``main`` (TensorFlow 1's ``tf.app``)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from pslab.compat import flags

__all__ = ["flags", "run"]


def run(main: Callable[[list[str]], Any] | None = None, argv: Sequence[str] | None = None) -> NoReturn:
    """Parse the flags, call ``main`` with what is left of the command line, and end the process with what it returns.

    Args:
        main: the program; ``main`` of the module that was started if None.
        argv: the command line; that of the process if None.

    Raises:
        SystemExit: always. A flag that cannot be parsed ends with status 1, after the flags were explained.
    """
    arguments = list(sys.argv if argv is None else argv)
    program = sys.modules["__main__"]
    if any(a in ("--help", "-help", "-h") for a in arguments[1:]):
        print(f"{(program.__doc__ or '').strip()}\n\n{flags.FLAGS.get_help()}")
        sys.exit(0)
    try:
        rest = flags.FLAGS(arguments, known_only=True)
    except flags.Error as error:
        print(f"FATAL Flags parsing error: {error}\nPass --help to see what each flag means.", file=sys.stderr)
        sys.exit(1)
    sys.exit((main if main is not None else program.main)(rest))
