"""The controls: what can be set, what is in force, and how another value is asked for. A further one is a further entry of `CONTROLS`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pslab.errors import UsageError
from pslab.lab.language import tr
from pslab.lab.mode_words import COMMITS, UPDATES
from pslab.lab.panel.conditions import LINKS, STRAGGLER
from pslab.lab.panel.desk import Desk
from pslab.lab.panel.face import MOST_TASKS, Control, Face, number, whole
from pslab.train.collective import Pipeline, RingAllReduce
from pslab.train.commits import Differences, Gradients
from pslab.train.compression import COMPRESSIONS
from pslab.train.strategy import Replication, Strategy
from pslab.train.updates import SSP, Aggregation, Async, Immediate, KAsync, Sync


def _word(kinds: Mapping[str, Any], value: Any) -> str:
    return next(word for word, kind in kinds.items() if isinstance(value, kind))


def _replication(desk: Desk) -> Face:
    now = str(desk.lab.strategy.replication)
    return Face(tr("Replication"), now, now, tuple(str(r) for r in Replication), hint=tr("Who builds the graph: each worker, or one client"))


LOCAL = "local"
"""What is chosen as an update rule, and is `Sync` with `Differences`: local SGD."""
LOCAL_STEPS = 8
"""Steps of a worker's own where nobody has said how many."""


def _is_local(strategy: Strategy) -> bool:
    return isinstance(strategy.update, Sync) and isinstance(strategy.commit, Differences)


def _update(desk: Desk) -> Face:
    now = LOCAL if _is_local(desk.lab.strategy) else _word(UPDATES, desk.lab.strategy.update)
    rules = list(UPDATES)
    return Face(
        tr("Update"),
        now,
        now,
        (*rules[:3], LOCAL, *rules[3:]),
        hint=tr("When what workers commit is applied; local: steps of their own, then an average"),
    )


def _set_update(desk: Desk, word: Any) -> None:
    now = desk.lab.strategy
    if word != LOCAL and word not in UPDATES:
        raise UsageError(f"there is no update rule {word!r}", f"one of: {', '.join((*UPDATES, LOCAL))}")
    if word == LOCAL:
        every = now.commit_every if now.commit_every > 1 else LOCAL_STEPS
        fields: dict[str, Any] = {} if _is_local(now) else {"update": Sync(), "commit": Differences(), "commit_every": every}
    elif _is_local(now):
        fields = {"update": _rule(desk, word), "commit": Gradients(), "commit_every": 1}
    else:
        fields = {} if isinstance(now.update, UPDATES[word]) else {"update": _rule(desk, word)}
    if fields:
        desk.lab.mode(**fields)


def _rule(desk: Desk, word: str) -> Any:
    kind = UPDATES[word]
    return kind(k=max(1, _workers_now(desk) - 1)) if kind is KAsync else kind()


@dataclass(frozen=True)
class _Parameter:
    field: str
    label: str
    least: int
    hint: str


_PARAMETERS = {
    Sync: _Parameter("backup", "Backups", 0, "How many of the slowest workers a step does without"),
    SSP: _Parameter("staleness", "Staleness", 0, "How many steps one worker may be ahead of the slowest"),
    KAsync: _Parameter("k", "k", 1, "How many contributions make an update"),
    Pipeline: _Parameter("microbatches", "Microbatches", 1, "How many parts a batch is cut into"),
}
_LOCKS = {"on": True, "off": False}


def _parameter(desk: Desk) -> Face | None:
    update = desk.lab.strategy.update
    if isinstance(update, RingAllReduce):
        return None
    if _is_local(desk.lab.strategy):
        hint = tr("After how many steps of their own the workers' parameters are averaged")
        return _every(desk)._replace(label=tr("Local steps"), hint=hint)
    if isinstance(update, Async):
        return Face(
            tr("Locks"),
            "on" if update.lock else "off",
            tr("locks") if update.lock else tr("no locks"),
            tuple(_LOCKS),
            hint=tr("One at a time, or as they come (Hogwild)"),
        )
    parameter = _PARAMETERS[type(update)]
    value = getattr(update, parameter.field)
    return Face(tr(parameter.label), value, f"{tr(parameter.label).lower()} {value}", (), parameter.least, MOST_TASKS, hint=tr(parameter.hint))


def _set_parameter(desk: Desk, value: Any) -> None:
    update = desk.lab.strategy.update
    if isinstance(update, Async):
        desk.lab.mode(update=dataclasses.replace(update, lock=_LOCKS[value]))
    elif _is_local(desk.lab.strategy):
        desk.lab.mode(commit_every=whole(value))
    else:
        fields: dict[str, Any] = {_PARAMETERS[type(update)].field: whole(value)}
        desk.lab.mode(update=dataclasses.replace(update, **fields))


def _aggregation(desk: Desk) -> Face | None:
    update = desk.lab.strategy.update
    if isinstance(update, RingAllReduce | Pipeline):
        return None
    options = (Aggregation.SUM, Aggregation.MEAN) if isinstance(update, Immediate) else tuple(Aggregation)
    now = str(update.aggregation)
    return Face(tr("Aggregation"), now, now, tuple(map(str, options)), hint=tr("What becomes of several contributions; weighted: by their examples"))


def _set_aggregation(desk: Desk, value: Any) -> None:
    update = desk.lab.strategy.update
    if isinstance(update, RingAllReduce | Pipeline):
        raise UsageError(f"{update} takes the mean in its own way", "choose another update rule")
    desk.lab.mode(update=dataclasses.replace(update, aggregation=value))


def _commit(desk: Desk) -> Face:
    now = _word(COMMITS, desk.lab.strategy.commit)
    return Face(tr("Commit"), now, now, tuple(COMMITS), hint=tr("What a worker commits: its gradient, or what became of a copy of its own"))


def _set_commit(desk: Desk, word: Any) -> None:
    if word not in COMMITS:
        raise UsageError(f"there is no commit {word!r}", f"one of: {', '.join(COMMITS)}")
    if not isinstance(desk.lab.strategy.commit, COMMITS[word]):
        desk.lab.mode(commit=COMMITS[word]())


def _commit_every(desk: Desk) -> Face | None:
    return None if _is_local(desk.lab.strategy) else _every(desk)


def _every(desk: Desk) -> Face:
    now = desk.lab.strategy.commit_every
    return Face(tr("Commit every"), now, tr("commit every {}", now), (), 1, 1024, 2, tr("After how many of its steps a worker commits"))


_NONE = "none"


def _compression(desk: Desk) -> Face:
    compression = desk.lab.strategy.compression
    now = _NONE if compression is None else compression.name
    return Face(
        tr("Compression"), now, tr("no compression") if now == _NONE else now, (_NONE, *COMPRESSIONS), hint=tr("How commits are made smaller")
    )


def _set_compression(desk: Desk, word: Any) -> None:
    if word != _NONE and word not in COMPRESSIONS:
        raise UsageError(f"there is no compression {word!r}", f"one of: {', '.join(COMPRESSIONS)}")
    desk.lab.mode(compression=None if word == _NONE else COMPRESSIONS[word]())


def _workers_now(desk: Desk) -> int:
    return desk.lab.cluster.workers or desk.workers


def _ps_now(desk: Desk) -> int:
    return desk.lab.cluster.ps or desk.ps


def _workers(desk: Desk) -> Face:
    now = _workers_now(desk)
    return Face(tr("Workers"), now, tr("{} workers", now), (), 1, MOST_TASKS, hint=tr("How many replicas compute gradients"))


def _set_workers(desk: Desk, value: Any) -> None:
    if desk.lab.cluster.running:
        desk.lab.cluster.scale(workers=whole(value))
    else:
        desk.lab.strategy.check(whole(value))
        desk.workers = whole(value)


def _ps(desk: Desk) -> Face:
    now = _ps_now(desk)
    return Face(tr("Servers (ps)"), now, tr("{} ps", now), (), 1, MOST_TASKS, hint=tr("How many tasks the parameters are spread over"))


def _set_ps(desk: Desk, value: Any) -> None:
    if desk.lab.cluster.running:
        desk.lab.cluster.scale(ps=whole(value))
    else:
        desk.ps = whole(value)


def _rate(desk: Desk) -> Face:
    now = desk.lab.learning_rate
    hint = tr("How far a step goes along the gradient" if now is not None else "The optimizer was made by a function, which alone knows its rate")
    return Face(tr("Learning rate"), now, tr("rate {:g}", now) if now is not None else "", (), 0, None, 2, hint)


def _batch(desk: Desk) -> Face:
    now = desk.lab.batch_size
    said = now if isinstance(now, int) else ", ".join(map(str, now))
    return Face(
        tr("Batch size"), said, tr("batch {}", said), (), 1, None, 2, tr("Examples per worker and step; one number, or one per worker: 64, 32")
    )


def _set_batch(desk: Desk, value: Any) -> None:
    desk.lab.adjust(batch_size=_sizes(value) if isinstance(value, str) else whole(value))


def _sizes(words: str) -> list[int]:
    parts = [part.strip() for part in words.split(",")]
    if not all(part.isdecimal() for part in parts):
        raise UsageError(f"a batch size is a whole number, or one per worker, found {words!r}", "64, or 64, 32")
    return [int(part) for part in parts]


GROUPS: Mapping[str, tuple[Control, ...]] = {
    "Mode": (
        Control("replication", _replication, lambda desk, value: desk.lab.mode(replication=value)),
        Control("update", _update, _set_update),
        Control("parameter", _parameter, _set_parameter),
        Control("aggregation", _aggregation, _set_aggregation),
        Control("commit", _commit, _set_commit),
        Control("commit_every", _commit_every, lambda desk, value: desk.lab.mode(commit_every=whole(value))),
        Control("compression", _compression, _set_compression),
    ),
    "Cluster": (Control("workers", _workers, _set_workers), Control("ps", _ps, _set_ps)),
    "Steps": (
        Control("learning_rate", _rate, lambda desk, value: desk.lab.adjust(learning_rate=number(value))),
        Control("batch_size", _batch, _set_batch),
    ),
    "Straggler": STRAGGLER,
    "Links": LINKS,
}
"""All controls, in the order they are shown, by the headings they stand under."""
CONTROLS = tuple(control for group in GROUPS.values() for control in group)
"""All controls."""
