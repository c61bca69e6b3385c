"""Values as text: what is said is read back as it was, and nothing else is understood."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pslab.errors import UsageError
from pslab.lab.values import call, read, say
from pslab.train.compression import Float16, TopK
from pslab.train.updates import SSP, Async, KAsync, Sync

KINDS = {kind.__name__: kind for kind in (Sync, Async, SSP, KAsync, TopK, Float16)}
RULES = st.one_of(
    st.builds(Sync, st.integers(0, 9), st.sampled_from(["mean", "sum", "weighted"])),
    st.builds(KAsync, st.integers(1, 9)),
    st.builds(SSP, staleness=st.integers(0, 99), compensation=st.floats(0, 10)),
    st.builds(TopK, st.floats(0.01, 1), st.booleans()),
    st.just(Float16()),
)
PLAIN = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text())
VALUES = st.recursive(PLAIN | RULES, lambda inner: st.lists(inner, max_size=4).map(tuple), max_leaves=8)
NAMES = st.sampled_from(["a", "learning_rate", "x1"])


@given(st.dictionaries(NAMES, VALUES))
def test_what_is_said_is_read_back(values) -> None:
    assert read(call("pslab", values), "pslab", KINDS) == values


@given(st.text())
def test_any_text_is_read_or_refused(text) -> None:
    try:
        read(text, "pslab", KINDS)
        read(f"pslab({text})", "pslab", KINDS)
    except UsageError:
        pass


def test_only_what_is_not_usual_is_said() -> None:
    assert say(SSP()) == "SSP()"
    assert say(SSP(staleness=2)) == "SSP(staleness=2)"
    assert say(Sync(backup=1, aggregation="sum")) == 'Sync(backup=1, aggregation="sum")'
    assert say((64,)) == "(64,)"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("lab(workers=3)", "which is not pslab"),
        ("pslab(3)", "needs a name"),
        ("pslab(**{})", "needs a name"),
        ("pslab(a=SSQ())", "there is no SSQ"),
        ("pslab(a=SSP(k=3))", "SSP has no k"),
        ("pslab(a=KAsync())", "has a value missing"),
        ("pslab(a=SSP(staleness='x'))", "does not fit"),
        ("pslab(a=SSP(staleness=-1))", "must be 0 or more, found -1"),
        ("pslab(a=open('x'))", "needs a name"),
        ("pslab(a=(lambda: 1)())", "cannot read"),
        ("pslab(a=x.y)", "cannot read x.y"),
        ("pslab(" + "(" * 5000, "cannot read"),
        ("pslab(a=1", "cannot read"),
    ],
)
def test_what_is_not_understood_is_refused(text, message) -> None:
    with pytest.raises(UsageError, match=message):
        read(text, "pslab", KINDS)


def test_a_function_cannot_be_said() -> None:
    def model(x, y):
        """One of one's own."""

    with pytest.raises(UsageError, match="model cannot be told in a line of text"):
        say(model)
