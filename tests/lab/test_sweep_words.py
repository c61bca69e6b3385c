"""%pslab sweep: from words to values, each read as the option of its own verb, and what cannot be meant."""

from __future__ import annotations

from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

from pslab.errors import PslabError
from pslab.lab.setup import KEYS
from pslab.lab.sweep import Sweep
from pslab.lab.sweep_words import grid_of, suggestions, until_of
from pslab.lab.until import Until
from pslab.train.commits import Differences, Elastic
from pslab.train.compression import Int8, TopK
from pslab.train.strategy import Strategy
from pslab.train.updates import SSP, Async, KAsync, Sync
from tests.lab.fake import FakeLab
from tests.lab.sweeps import filled


def mine(x, y):
    return None


def grid(*said: str, now: Strategy | None = None) -> dict[str, list[Any]]:
    return grid_of(said, now or Strategy(), {"mine": mine}.__getitem__)


@pytest.mark.parametrize(
    ("said", "key", "values"),
    [
        ("commit-every=1,2,8", "commit_every", [1, 2, 8]),
        ("commit_every=4", "commit_every", [4]),
        ("update=sync,async", "update", [Sync(), Async()]),
        ("update=sync:backup=1,k-async:k=2,ssp:staleness=4", "update", [Sync(backup=1), KAsync(2), SSP(staleness=4)]),
        ("update=async:no-lock,ssp:staleness=0:by-staleness", "update", [Async(lock=False), SSP(staleness=0, by_staleness=True)]),
        ("commit=differences:outer-rate=0.7:outer-momentum=0.9,elastic:alpha=0.5", "commit", [Differences(0.7, 0.9), Elastic(0.5)]),
        ("replication=in-graph", "replication", ["in-graph"]),
        ("compression=none,top-k:keep=0.1,int8", "compression", [None, TopK(0.1), Int8()]),
        ("batch-size=8,16", "batch_size", [8, 16]),
        ("learning-rate=0.1,1e-3", "learning_rate", [0.1, 1e-3]),
        ("optimizer=sgd,adam", "optimizer", ["sgd", "adam"]),
        ("hidden=128,64-32", "hidden", [[128], [64, 32]]),
        ("model=logistic,mine", "model", ["logistic", mine]),
        ("reading=files", "reading", ["files"]),
        ("workers=1,2,4", "workers", [1, 2, 4]),
        ("ps=2", "ps", [2]),
    ],
)
def test_words_are_values(said, key, values) -> None:
    assert grid(said) == {key: values}


def test_what_a_rule_has_already_stays_where_it_is_not_said() -> None:
    assert grid("update=sync,async", now=Strategy(update=Sync(backup=1))) == {"update": [Sync(backup=1), Async()]}


def test_several_keys_are_one_grid() -> None:
    assert grid("ps=1,2", "update=sync") == {"ps": [1, 2], "update": [Sync()]}


@pytest.mark.parametrize(
    ("said", "message", "hint"),
    [
        (["commit-evry=1"], "there is no setting 'commit_evry'", "did you mean 'commit_every'?"),
        (["update"], "--over update has no values", "such as --over commit-every=1,2,4"),
        (["update="], "--over update= has no values", "such as"),
        (["ps=1", "ps=2"], "--over ps=… comes twice", "all values in one: --over ps=2"),
        (["update=sink"], "%pslab mode --update has no 'sink'", "one of: sync, async"),
        (["update=sync:bakup=1"], "%pslab mode has no '--bakup'", "did you mean '--backup'?"),
        (["update=async:backup=1"], "--update async has no backup", "that is of sync"),
        (["commit-every=0"], "--commit-every: must be 1 or more, found 0", "%pslab mode"),
        (["batch-size=8,x"], "--over batch-size=8,x: must be a whole number, found 'x'", "such as"),
        (["reading=telepathy"], "--over reading=telepathy: one of: feeding, files, preloaded", "such as"),
        (["hidden=64-0"], "--over hidden=64-0: must be 1 or more, found 0", "such as"),
    ],
)
def test_what_cannot_be_meant_is_told_in_two_lines(said, message, hint) -> None:
    with pytest.raises(PslabError) as caught:
        grid(*said)
    assert caught.value.message == message
    assert caught.value.hint.startswith(hint)
    assert len(str(caught.value).splitlines()) == 2


def test_ends() -> None:
    assert until_of(["accuracy=0.95"]) == Until(accuracy=0.95)
    assert until_of(["accuracy=0.95,steps=500", "seconds=2.5", "every=10"]) == Until(steps=500, accuracy=0.95, seconds=2.5, every=10)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        ("accuracy", "--until accuracy has no value"),
        ("accuracy=high", "--until accuracy=… takes a number, found 'high'"),
        ("steps=1.5", "--until steps=… takes a whole number, found '1.5'"),
        ("acuracy=0.5", "a run has no end 'acuracy'"),
        ("accuracy=95", "Until(accuracy=…) must be a finite number from 0 to 1, found 95.0"),
    ],
)
def test_ends_that_cannot_be_meant(said, message) -> None:
    with pytest.raises(PslabError) as caught:
        until_of([said])
    assert caught.value.message == message


def test_every_setting_is_suggested_and_can_be_said() -> None:
    """A field that `Strategy` gets is an option of ``%pslab mode``, and so a word here."""
    words = suggestions()
    assert {word.partition("=")[0].replace("-", "_") for word in words} == set(KEYS)
    said = {word.partition("=")[0]: word for word in words if not word.endswith(("=", "=k-async"))}
    for word in said.values():
        assert next(iter(grid(word).values()))


class SweptLab(FakeLab):
    """Notes what it is asked to sweep."""

    def sweep(self, over: Any, until: Any = None, **how: Any) -> Sweep:  # type: ignore[override]
        self.calls.append((over, until, how))
        return filled({"batch_size": [8, 16]}, seeds=1)


@pytest.fixture
def shell(monkeypatch):
    shell = InteractiveShell()
    monkeypatch.setattr(InteractiveShell, "_instance", shell)
    shell.user_ns["lab"] = SweptLab()
    shell.run_line_magic("load_ext", "pslab")
    yield shell
    shell.run_line_magic("unload_ext", "pslab")


def test_a_line_is_one_call_and_shows_a_table_and_a_figure(shell, capsys) -> None:
    result = shell.run_cell("%pslab sweep --over update=sync,async --over ps=1,2 --until accuracy=0.95 --seeds 2 --seed 7 --path runs/k")
    shown = capsys.readouterr().out
    assert isinstance(result.result, Sweep)
    assert "Figure" in shown
    assert "sweep over batch_size, until accuracy 0.95" in shown
    how = {"seeds": 2, "seed": 7, "path": "runs/k", "resume": None}
    assert shell.user_ns["lab"].calls == [({"update": [Sync(), Async()], "ps": [1, 2]}, Until(accuracy=0.95), how)]


def test_resume_goes_on_with_the_last_one(shell, capsys) -> None:
    shell.run_cell("%pslab sweep --over ps=1 --until steps=5 --resume")
    assert "there is no sweep to go on with" in capsys.readouterr().out
    first = shell.run_cell("%pslab sweep --over ps=1 --until steps=5").result
    shell.run_cell("%pslab sweep --over ps=1 --until steps=5 --resume")
    assert shell.user_ns["lab"].calls[-1][2]["resume"] is first


def test_tab(shell) -> None:
    def press(cell: str) -> set[str]:
        with provisionalcompleter():
            return {completion.text for completion in shell.Completer.completions(cell, len(cell))}

    assert press("%pslab sweep --over upd") == {"update=sync", "update=ring", "update=pipeline", "update=async", "update=ssp", "update=k-async"}
    assert press("%pslab sweep --until acc") == {"accuracy="}
    assert {"--over", "--until", "--seeds", "--path", "--resume"} <= press("%pslab sweep --")
    assert "--until" in press("%pslab sweep --over update=sync --u")
