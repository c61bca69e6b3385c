"""The grammar of %pslab: what it reads, and that bad lines are told, never fatal."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import UsageError
from pslab.lab.parser import HelpAsked, build_parser, parse, verbs_of

WORDS = [
    *verbs_of(build_parser()),
    "start",
    "kill",
    "--ps",
    "--workers",
    "--steps",
    "--update",
    "sync",
    "-1",
    "0",
    "2",
    "'",
    '"',
    "--help",
    "mlp",
    "$x",
]


def test_words_become_values() -> None:
    options = parse("cluster start --ps 2 --workers 3 --threads")
    assert (options.verb, options.action, options.ps, options.workers, options.threads) == ("cluster", "start", 2, 3, True)
    assert parse("train").steps == 500
    assert parse("model mlp --hidden 64 32 --lr 0.5").hidden == [64, 32]
    assert parse("data x y --batch 16").source == ["x", "y"]
    assert parse('save "my runs/first"').prefix == "my runs/first"
    assert parse("").verb is None


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("clutser start", "%pslab has no 'clutser'", "did you mean 'cluster'?"),
        ("cluster strat", "%pslab cluster has no 'strat'", "did you mean 'start'?"),
        ("xyzzy", "%pslab has no 'xyzzy'", "one of: cluster, data"),
        ("cluster start --workers 0", "must be a whole number, 1 or more; found '0'", "%pslab cluster start"),
        ("train --steps many", "must be a whole number, 1 or more; found 'many'", "%pslab train"),
        ("mode --update ssp", "invalid choice: 'ssp'", "%pslab mode"),
        ("save", "required: PREFIX", "%pslab save"),
        ("train --stepz 5", "Unrecognized arguments: --stepz 5", "%pslab"),
        ("save 'half", "cannot read the line: no closing quotation", "close the quote"),
    ],
)
def test_a_line_that_cannot_be_meant_says_what_is_wrong_and_what_to_do(line, message, hint) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line)
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("line", ["--help", "cluster --help", "cluster start --help", "train -h"])
def test_help_is_asked_for_and_ends_nothing(line) -> None:
    with pytest.raises(HelpAsked, match="usage: %pslab"):
        parse(line)


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_whatever_is_typed_only_a_usage_error_comes(line: str) -> None:
    with contextlib.suppress(UsageError, HelpAsked):
        parse(line)
