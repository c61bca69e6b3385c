"""What is said of a program that cannot be run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pslab.errors import NotFoundError, UsageError
from pslab.run.source import check_source, python_2_hint


def program(where: Path, text: str | bytes) -> Path:
    path = where / "program.py"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


@pytest.mark.parametrize(
    "line",
    [
        'print "step", step',
        "raise ValueError, 'wrong'",
        "mode = 0777",
        "n = 10L",
        "x = ur'text'",
        "if a <> b: pass",
        "t = `a`",
        "exec 'x = 1'",
    ],
)
def test_python_2_is_told_with_its_line(line: str, tmp_path: Path) -> None:
    path = program(tmp_path, f"import sys\n\n{line}\n")
    with pytest.raises(UsageError) as told:
        check_source(path)
    assert told.value.message == f"{path}:3 is Python 2: {line}"
    assert "2to3" in told.value.hint


def test_an_except_clause_of_python_2(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"program\.py:3 is Python 2: except ValueError, e:"):
        check_source(program(tmp_path, "try:\n    pass\nexcept ValueError, e:\n    pass\n"))


def test_tabs_and_spaces_mixed_are_python_2(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is Python 2"):
        check_source(program(tmp_path, "if True:\n        x = 1\n\ty = 2\n"))


def test_another_error_of_syntax_is_none_of_python_2(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"program.py:2 is no Python: '\(' was never closed"):
        check_source(program(tmp_path, "x = 1\ny = (1,\n"))


@pytest.mark.parametrize("text", [b"\xff\xfe\x00", b"x = 1\x00"])
def test_what_is_no_text_is_no_program(text: bytes, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is no Python"):
        check_source(program(tmp_path, text))


def test_a_program_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="there is no program"):
        check_source(tmp_path / "none.py")


def test_a_directory_is_no_program(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match="is no file"):
        check_source(tmp_path)


def test_a_good_one_passes(tmp_path: Path) -> None:
    check_source(program(tmp_path, "print('print x')\nprint (1)\n"))


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("xrange(3)", "xrange is of Python 2; in Python 3 it is range"),
        ("import cPickle", "cPickle is of Python 2; in Python 3 it is pickle"),
        ("import sys\nprint >>sys.stderr, 'x'", "print >> is of Python 2; in Python 3 it is print(…, file=…)"),
        ("{}.iteritems()", "dict.iteritems is of Python 2"),
        ("something_else", None),
        ("import no_such_module", None),
    ],
)
def test_names_of_python_2_are_known(source: str, hint: str | None) -> None:
    with pytest.raises(Exception) as caught:
        exec(source, {})
    assert python_2_hint(caught.value) == hint


def test_what_is_nested_too_deeply_is_told_in_few_words(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"is (no Python|nested too deeply)") as told:
        check_source(program(tmp_path, "(" * 100_000))
    assert len(told.value.message) < 400 + len(str(tmp_path))
    assert told.value.hint == "correct it, or give another program"
