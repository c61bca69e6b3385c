"""The words of ``%pslab mode``."""

from __future__ import annotations

import pytest

from pslab.errors import UsageError
from pslab.lab.mode_words import mode_fields
from pslab.lab.parser import parse
from pslab.train.commits import Differences, Elastic, Gradients
from pslab.train.compression import Float16, Int8, OneBit, RandomK, TopK
from pslab.train.strategy import Strategy
from pslab.train.updates import SSP, Async, KAsync, Sync


def said(line: str, now: Strategy | None = None) -> dict:
    return mode_fields(parse(f"mode {line}"), now or Strategy())


@pytest.mark.parametrize(
    ("line", "fields"),
    [
        ("", {}),
        ("--replication in-graph", {"replication": "in-graph"}),
        ("--update sync --backup 1", {"update": Sync(1)}),
        ("--update ssp", {"update": SSP(3)}),
        ("--update ssp --staleness 0 --by-staleness", {"update": SSP(0, by_staleness=True)}),
        ("--update k-async --k 2 --aggregation sum", {"update": KAsync(2, "sum")}),
        ("--no-lock", {"update": Async(lock=False)}),
        ("--compensation 0.04", {"update": Async(compensation=0.04)}),
        ("--commit-every 8 --commit differences", {"commit_every": 8, "commit": Differences()}),
        ("--commit differences --outer-rate 0.7 --outer-momentum 0.9 --own-start", {"commit": Differences(0.7, 0.9, True)}),
        ("--commit elastic --alpha 0.2", {"commit": Elastic(0.2)}),
        ("--compression none", {"compression": None}),
        ("--compression float16", {"compression": Float16()}),
        ("--compression int8 --error-feedback", {"compression": Int8(True)}),
        ("--compression top-k --keep 0.05", {"compression": TopK(0.05)}),
        ("--compression random-k --no-error-feedback", {"compression": RandomK(0.01, False)}),
        ("--compression one-bit", {"compression": OneBit()}),
    ],
)
def test_what_is_said_is_what_changes(line, fields) -> None:
    assert said(line) == fields


def test_an_option_alone_changes_the_rule_in_force() -> None:
    now = Strategy(update=SSP(3, by_staleness=True), commit=Elastic(0.1))
    assert said("--staleness 5", now) == {"update": SSP(5, by_staleness=True)}
    assert said("--alpha 0.3", now) == {"commit": Elastic(0.3)}
    assert said("--update ssp", now) == {"update": now.update}
    assert said("--commit gradients", now) == {"commit": Gradients()}
    compressed = Strategy(compression=TopK(0.05))
    assert said("--no-error-feedback", compressed) == {"compression": TopK(0.05, False)}
    assert said("--compression random-k", compressed) == {"compression": RandomK()}
    assert said("--update sync", compressed) == {"update": Sync()}


@pytest.mark.parametrize(
    ("line", "message", "hint"),
    [
        ("--update async --backup 1", "--update async has no backup", "that is of sync: %pslab mode --update sync …"),
        ("--backup 1", "--update async has no backup", "that is of sync"),
        ("--staleness 1", "--update async has no staleness", "that is of ssp"),
        ("--update sync --compensation 1", "--update sync has no compensation", "that is of async and ssp"),
        ("--alpha 0.1", "--commit gradients has no alpha", "that is of elastic"),
        ("--update k-async", "--update k-async needs --k", "%pslab mode --update k-async --k 2"),
        ("--commit elastic --alpha 2", "--alpha: must be a number from 0 to 1, found 2", "%pslab mode"),
        ("--keep 0.1", "without compression there is no keep", "%pslab mode --compression top-k --keep 0.01"),
        ("--compression none --no-error-feedback", "without compression there is no error-feedback", "%pslab mode --compression"),
        ("--compression one-bit --keep 0.1", "--compression one-bit has no keep", "that is of top-k and random-k"),
        ("--compression float16 --error-feedback", "--compression float16 has no error-feedback", "that is of int8 and top-k"),
        ("--compression top-k --keep 0", "TopK(keep=…) must be a number above 0 and at most 1, found 0.0", "0.01 keeps one element of a hundred"),
        ("--compression topk", "%pslab mode --compression has no 'topk'", "did you mean 'top-k'?"),
        ("--commit-every 0", "--commit-every: must be 1 or more, found 0", "%pslab mode"),
    ],
)
def test_an_option_of_another_rule_is_refused(line, message, hint) -> None:
    with pytest.raises(UsageError) as caught:
        said(line)
    assert message in caught.value.message
    assert hint in caught.value.hint
