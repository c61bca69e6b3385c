"""Looking at a program before it is run: whether it is there, and whether it is Python 3."""

from __future__ import annotations

import re
import tokenize
from pathlib import Path

from pslab.errors import NotFoundError, PermissionDeniedError, UsageError

_TRANSLATE = "pslab runs Python 3; translate the program first, for instance with 2to3"
_MEND = "correct it, or give another program"
_SHOWN = 100
"""Characters of a line that an error shows."""
_PYTHON_2 = re.compile(
    r"""^\s*print\s+[^(=\s]  | ^\s*print\s*$ | ^\s*print\s*>>  # statements that were no calls
    | ^\s*except\s+[\w.()\s,]+,\s*\w+\s*:                      # except Error, e:
    | ^\s*raise\s+[\w.]+\s*,                                   # raise Error, "text"
    | ^\s*exec\s+["'\w]
    | <>
    | `[^`]*`
    | \b0[0-7]+\b | \b\d+[lL]\b | \bur["']
    """,
    re.VERBOSE,
)
_PYTHON_2_NAMES = {
    "basestring": "str",
    "execfile": "exec(open(…).read())",
    "long": "int",
    "raw_input": "input",
    "reduce": "functools.reduce",
    "unichr": "chr",
    "unicode": "str",
    "xrange": "range",
}
_PYTHON_2_MODULES = {
    "ConfigParser": "configparser",
    "Queue": "queue",
    "StringIO": "io",
    "cPickle": "pickle",
    "urllib2": "urllib.request",
    "urlparse": "urllib.parse",
}


def check_source(path: Path) -> None:
    """See whether a program can be run.

    Raises:
        NotFoundError: there is no such file.
        PermissionDeniedError: it cannot be read.
        UsageError: it is Python 2, or it has another error of syntax; the message has file, line and text.
    """
    if not path.is_file():
        what = "is no file" if path.exists() else "is not there"
        raise NotFoundError(
            f"there is no program {str(path)!r}: it {what}", "pslab run [OPTIONS] SCRIPT [ARGS…]: options of pslab come before the script"
        )
    try:
        with tokenize.open(path) as file:
            source = file.read()
        compile(source, str(path), "exec", dont_inherit=True)
    except SyntaxError as error:
        line = (error.text or "").strip()[:_SHOWN]
        where = f"{path}:{error.lineno}" if error.lineno else str(path)
        if isinstance(error, TabError) or _PYTHON_2.search(line):
            raise UsageError(f"{where} is Python 2: {line}", _TRANSLATE) from None
        raise UsageError(f"{where} is no Python: {error.msg}: {line}", _MEND) from None
    except (UnicodeDecodeError, ValueError) as error:
        raise UsageError(f"{path} is no Python: {error}", _MEND) from None
    except (RecursionError, MemoryError) as error:
        raise UsageError(f"{path} is nested too deeply for Python: {type(error).__name__}", _MEND) from None
    except OSError as error:
        raise PermissionDeniedError(f"cannot read {path}: {error.strerror}", "change its permissions, or give another program") from None


def python_2_hint(error: BaseException) -> str | None:
    """What to say of an error that a program of Python 2 ends with, once its syntax is that of Python 3; None for others."""
    if isinstance(error, NameError) and error.name in _PYTHON_2_NAMES:
        return f"{error.name} is of Python 2; in Python 3 it is {_PYTHON_2_NAMES[error.name]}"
    if isinstance(error, ModuleNotFoundError) and error.name in _PYTHON_2_MODULES:
        return f"{error.name} is of Python 2; in Python 3 it is {_PYTHON_2_MODULES[error.name]}"
    if isinstance(error, TypeError) and "unsupported operand type(s) for >>: 'builtin_function_or_method'" in str(error):
        return "print >> is of Python 2; in Python 3 it is print(…, file=…)"
    if isinstance(error, AttributeError) and error.name in {"iteritems", "iterkeys", "itervalues", "has_key"} and isinstance(error.obj, dict):
        return f"dict.{error.name} is of Python 2"
    return None
