"""The grammar of %pslab: what it reads, and that bad lines are told, never fatal."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import UsageError
from pslab.lab.parser import build_parser, parse, verbs_of

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
    "9" * 5000,
    "--lr",
    "nan",
    "--",
    "--steps=",
    "2",
    "'",
    '"',
    "--help",
    "mlp",
    "$x",
]


def test_words_become_values() -> None:
    options = parse("cluster start --ps 2 --workers 3 --threads")
    assert (options.verb, options.action, options.ps, options.workers, options.processes) == ("cluster", "start", 2, 3, False)
    assert parse("train").steps == 500
    assert parse("model mlp --hidden 64 32 --lr 0.5").hidden == [64, 32]
    assert parse("data x y --batch 16").source == ["x", "y"]
    assert parse('save "my runs/first"').prefix == "my runs/first"
    assert parse("cluster start --processes").processes is True
    assert parse("cluster start").processes is None
    assert parse("mode --update sync --backup 1").backup == 1
    assert parse("step").n == 1
    assert (parse("log").path, parse("log race.log").path) == (None, "race.log")
    assert (parse("replay -").source, parse("replay race.log --until 30").until) == ("-", 30)


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("clutser start", "%pslab has no 'clutser'", "did you mean 'cluster'? usage: %pslab [--help] VERB ..."),
        ("cluster strat", "%pslab cluster has no 'strat'", "did you mean 'start'? usage: %pslab cluster"),
        ("xyzzy", "%pslab has no 'xyzzy'", "one of: cluster, data"),
        ("cluster", "the following arguments are required: action", "{start,scale,kill,status,link,unlink,slow,stop}"),
        ("cluster start --workers 0", "--workers: must be 1 or more, found 0", "%pslab cluster start"),
        ("cluster start --threads --processes", "--processes: not allowed with argument --threads", "%pslab cluster start"),
        ("train --steps many", "--steps: must be a whole number, found 'many'", "%pslab train"),
        ("train --steps 99999999999", "--steps: must be 2147483647 or less, found 99999999999", "%pslab train"),
        ("mode --backup -1", "--backup: must be 0 or more, found -1", "%pslab mode"),
        ("model mlp --lr nan", "--lr: must be a number greater than 0, found nan", "%pslab model"),
        ("model mlp --lr 1e400", "--lr: must be a number greater than 0, found 1e400", "%pslab model"),
        ("model mlp --lr fast", "--lr: must be a number, found 'fast'", "%pslab model"),
        ("model mlp --seed -1", "--seed: must be 0 or more, found -1", "%pslab model"),
        ("mode --update bsp", "%pslab mode --update has no 'bsp'", "did you mean 'ssp'? usage: %pslab mode"),
        ("mode --update asinc", "%pslab mode --update has no 'asinc'", "did you mean 'async'? usage: %pslab mode"),
        ("save", "required: PREFIX", "%pslab save"),
        ("train --stepz 5", "%pslab train has no '--stepz'", "did you mean '--steps'? usage: %pslab train"),
        ("train --stepz=5", "%pslab train has no '--stepz'", "did you mean '--steps'? usage: %pslab train"),
        ("pause now", "%pslab pause has no 'now'", "usage: %pslab pause"),
        ("save 'half", "cannot read the line: no closing quotation", "close the quote"),
    ],
)
def test_a_line_that_cannot_be_meant_says_what_is_wrong_and_what_to_do(line, message, hint) -> None:
    with pytest.raises(UsageError) as caught:
        parse(line)
    assert message in caught.value.message
    assert hint in caught.value.hint


@pytest.mark.parametrize("line", ["", "--help", "cluster --help", "cluster start --help", "train -h", "save --help"])
def test_help_is_a_text_and_ends_nothing(line) -> None:
    options = parse(line)
    assert options.verb is None
    assert options.help.startswith("usage: %pslab " + line.removesuffix("--help").removesuffix("-h").strip())


def test_nothing_said_gives_an_overview_of_all_verbs() -> None:
    overview = parse("").help
    assert all(f"\n    {verb}" in overview for verb in verbs_of(build_parser()))


@given(st.one_of(st.text(), st.lists(st.sampled_from(WORDS)).map(" ".join)))
def test_whatever_is_typed_only_a_usage_error_comes(line: str) -> None:
    with contextlib.suppress(UsageError):
        assert parse(line).verb in {None, *verbs_of(build_parser())}
