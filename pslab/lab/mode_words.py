"""The words of ``%pslab mode``: from options to the fields of a `Strategy`."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Mapping
from typing import Any

from pslab.errors import UsageError
from pslab.lab.numbers import count, fraction, natural, not_negative, positive
from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.commits import Differences, Elastic, Gradients
from pslab.train.compression import COMPRESSIONS, Compression
from pslab.train.strategy import Replication, Strategy
from pslab.train.updates import SSP, Aggregation, Async, KAsync, Sync

UPDATES: Mapping[str, Any] = {"sync": Sync, "async": Async, "ssp": SSP, "k-async": KAsync, "ring": RingAllReduce, "pipeline": Pipeline}
"""Rules of consistency, by the word for each."""
COMMITS: Mapping[str, Any] = {"gradients": Gradients, "differences": Differences, "elastic": Elastic}
"""What a worker commits, by the word for each."""

_UPDATE_OPTIONS = ("backup", "k", "staleness", "aggregation", "by_staleness", "compensation", "lock", "microbatches")
_COMPRESSION_OPTIONS = ("keep", "error_feedback")
_COMMIT_OPTIONS = {"outer_rate": "rate", "outer_momentum": "momentum", "own_start": "own_start", "alpha": "alpha"}


def add_mode(mode: argparse.ArgumentParser) -> None:
    """Give the verb its options. One that is not said is None."""
    mode.add_argument("--replication", choices=[str(r) for r in Replication], help="who builds the graph: each worker, or one client")
    mode.add_argument("--update", choices=list(UPDATES), help="when what workers commit is applied")
    mode.add_argument("--backup", type=natural, metavar="N", help="sync: how many of the slowest workers to do without (0)")
    mode.add_argument("--k", type=count, metavar="N", help="k-async: how many contributions make an update")
    mode.add_argument("--staleness", type=natural, metavar="N", help="ssp: how many steps one may be ahead of the slowest (3)")
    mode.add_argument("--aggregation", choices=[str(a) for a in Aggregation], help="what becomes of several workers' contributions")
    mode.add_argument("--by-staleness", action=_YesOrNo, help="async, ssp: a learning rate divided by the staleness (no)")
    mode.add_argument("--compensation", type=not_negative, metavar="F", help="async, ssp: strength of delay compensation (0)")
    mode.add_argument("--lock", action=_YesOrNo, help="async: updates and reads one at a time; no-lock is Hogwild (yes)")
    mode.add_argument("--microbatches", type=count, metavar="N", help="pipeline: how many parts a batch is cut into (4)")
    mode.add_argument("--commit-every", type=count, metavar="N", help="after how many of its steps a worker commits")
    mode.add_argument("--commit", choices=list(COMMITS), help="what it commits")
    mode.add_argument("--outer-rate", type=positive, metavar="F", help="differences: learning rate of the step on the ps (1)")
    mode.add_argument("--outer-momentum", type=fraction, metavar="F", help="differences: Nesterov momentum of the step on the ps (0)")
    mode.add_argument("--own-start", action=_YesOrNo, help="differences: each replica begins at initial values of its own (no)")
    mode.add_argument("--alpha", type=fraction, metavar="F", help="elastic: strength (0.1)")
    mode.add_argument("--compression", choices=["none", *COMPRESSIONS], help="how what it commits is sent in fewer bytes")
    mode.add_argument("--keep", type=fraction, metavar="F", help="top-k, random-k: which share of the elements is sent (0.01)")
    mode.add_argument("--error-feedback", action=_YesOrNo, help="whether a worker sends later what it did not send (of int8 no, else yes)")


def mode_fields(options: argparse.Namespace, now: Strategy) -> dict[str, Any]:
    """The fields of the strategy that ``options`` change; what a rule has already, ``now``, stays where it is not said.

    Raises:
        UsageError: an option is of another rule.
    """
    fields = {name: value for name in ("replication", "commit_every") if (value := getattr(options, name)) is not None}
    updates = {name: value for name in _UPDATE_OPTIONS if (value := getattr(options, name)) is not None}
    commits = {field: value for name, field in _COMMIT_OPTIONS.items() if (value := getattr(options, name)) is not None}
    if options.update is not None or updates:
        fields["update"] = _changed("update", UPDATES, options.update, updates, now.update)
    if options.commit is not None or commits:
        fields["commit"] = _changed("commit", COMMITS, options.commit, commits, now.commit)
    compression = {name: value for name in _COMPRESSION_OPTIONS if (value := getattr(options, name)) is not None}
    if options.compression is not None or compression:
        fields["compression"] = _compression(options.compression, compression, now.compression)
    return fields


def _compression(chosen: str | None, values: Mapping[str, Any], now: Compression | None) -> Compression | None:
    if chosen == "none" or (chosen is None and now is None):
        if values:
            name = next(iter(values)).replace("_", "-")
            raise UsageError(f"without compression there is no {name}", "%pslab mode --compression top-k --keep 0.01")
        return None
    return _changed("compression", COMPRESSIONS, chosen, values, now)  # type: ignore[no-any-return]


def _changed(option: str, kinds: Mapping[str, Any], chosen: str | None, values: Mapping[str, Any], now: Any) -> Any:
    kind = type(now) if chosen is None else kinds[chosen]
    known = {f.name for f in dataclasses.fields(kind)}
    for name in values:
        if name not in known:
            owners = [word for word, k in kinds.items() if name in {f.name for f in dataclasses.fields(k)}]
            word = next(word for word, k in kinds.items() if k is kind)
            raise UsageError(
                f"--{option} {word} has no {name.replace('_', '-')}", f"that is of {' and '.join(owners)}: %pslab mode --{option} {owners[0]} …"
            )
    missing = [f.name for f in dataclasses.fields(kind) if f.default is dataclasses.MISSING and f.name not in values]
    if type(now) is kind:
        return dataclasses.replace(now, **values)
    if missing:
        raise UsageError(f"--{option} {chosen} needs --{missing[0]}", f"%pslab mode --{option} {chosen} --{missing[0]} 2")
    return kind(**values)


class _YesOrNo(argparse.BooleanOptionalAction):
    """``--lock`` and ``--no-lock``, without a word about the default in the help."""
