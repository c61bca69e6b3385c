"""A training once more, from its apply log: the same graphs on tasks of their own, whose gates let messages in in the order of the ledgers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from time import monotonic, sleep

import numpy as np

from pslab.data.partitions import DataSource
from pslab.errors import DeadlineExceededError, UnimplementedError, UsageError
from pslab.train.apply_log import ApplyLog, Array, EpochLog
from pslab.train.crew import Crew
from pslab.train.fingerprint import fingerprint, require_same
from pslab.train.job import Gates
from pslab.train.model import Model
from pslab.train.strategy import Replication
from pslab.train.tasks import Tasks
from pslab.train.updates import SSP, Async

LOOK_S = 0.005
"""Seconds between two looks at how far it is."""


def replay(cluster: Tasks, log: ApplyLog, dataset: DataSource, model: Model, until: int | None = None, timeout: float = 600.0) -> dict[str, Array]:
    """The parameters at the end of a log, or at global step ``until``, bit for bit; of several ps, those of each after as many updates.

    Args:
        cluster: tasks that do nothing else, as many as the log's.
        log: what to do.
        dataset: what was trained on.
        model: what was trained.
        until: a global step between the log's first and its last.
        timeout: seconds that it may take.

    Raises:
        UsageError: there is no such step, or the log is of another model, or of other data.
        UnimplementedError: a mode or the model leaves to chance what no ledger has.
        DeadlineExceededError: it was not done in time.
    """
    last = log.last_step if until is None else until
    if not int(log.beginning["global_step"]) <= last <= log.last_step:
        raise UsageError(f"the log is of global steps {int(log.beginning['global_step'])} to {log.last_step}, found until={until}")
    require_same(log.fingerprint, fingerprint(dataset, model))
    crew = Crew(cluster, dataset, model, log.division, log.reading)
    for epoch in log.epochs:
        if told := obstacle(epoch):
            raise UnimplementedError(told, "an epoch in which that is not so can be: choose another mode, and train")
    crew.begin_anew()
    crew.set_up()
    crew.ask("load", state=dict(log.beginning))
    deadline = monotonic() + timeout
    names = set(crew.ask("parameters"))
    for epoch in log.epochs:
        if epoch.first_step >= last:
            break
        crew.places.go_to(epoch.places)
        for task in cluster.call_all("generators"):
            cluster.call(task, "draw_from", generators=epoch.generators.get(task, {}))
        if epoch.strategy.races:
            kept = _in_order(crew, cluster, epoch, last - epoch.first_step if last < epoch.last_step else None, deadline)
            if last < epoch.last_step:
                return {name: value for name, value in kept.items() if name in names}
        else:
            _again(crew, epoch, min(last, epoch.last_step), deadline)
    return crew.ask("parameters")  # type: ignore[no-any-return]


def script(epoch: EpochLog, ps: int, order: Array) -> list[int]:
    """Who comes to the gate of a ps, in the order in which they are let in."""
    entries = [(int(e), True) if e >= 0 else (~int(e), False) for e in order]
    if epoch.strategy.gathered:
        return [who for who, _ in entries]
    if epoch.strategy.replication is Replication.BETWEEN_GRAPH:
        return [worker for worker, applied in entries if applied]
    found, released = [], set[int]()
    paced = ps == 0 and isinstance(epoch.strategy.update, SSP)
    for worker, applied in entries:  # in-graph SSP, the first read after an update is that of the first ps's clock, and no message
        if applied or worker not in released:
            found.append(worker)
        released.discard(worker)
        if applied and paced:
            released.add(worker)
    return found


def _in_order(crew: Crew, cluster: Tasks, epoch: EpochLog, updates: int | None, deadline: float) -> dict[str, Array]:
    crew.begin(epoch.strategy, Gates.ALL)
    epoch_id = crew.job(epoch.strategy).epoch_id
    ends = [_messages(epoch, i, order, updates, cluster.workers) for i, order in enumerate(epoch.orders)]
    for i, (order, end) in enumerate(zip(epoch.orders, ends, strict=True)):
        cluster.call(f"ps:{i}", "admit", epoch_id=epoch_id, workers=script(epoch, i, order), keep_after=end)
    crew.limit(np.iinfo(np.int64).max)
    _wait(crew, lambda: all(cluster.call(f"ps:{i}", "gate", epoch_id=epoch_id).passed >= n for i, n in enumerate(ends)), deadline)
    kept = {k: v for i in range(cluster.ps) for k, v in cluster.call(f"ps:{i}", "kept", epoch_id=epoch_id).items()}
    crew.abandon()  # not ended: what still waits at the gates was in no update
    return kept


def _messages(epoch: EpochLog, ps: int, order: Array, updates: int | None, workers: int) -> int:
    """How many messages had come to a ps when it had made so many updates; if None, all that it made."""
    made = epoch.updates(ps, workers)[:updates]
    return len(script(epoch, ps, order[: made[-1] + 1])) if len(made) else 0


def _again(crew: Crew, epoch: EpochLog, last: int, deadline: float) -> None:
    """What is the same however it goes."""
    crew.begin(epoch.strategy)
    crew.limit(last)
    _wait(crew, lambda: crew.look().global_step >= last, deadline)
    crew.end()


def _wait(crew: Crew, true: Callable[[], bool], deadline: float) -> None:
    while not true():
        failed: Sequence[Exception] = [loop.error for loops in crew.loops().values() for loop in loops if loop.error is not None]
        if failed:
            raise failed[0]
        if monotonic() > deadline:
            raise DeadlineExceededError("the replay was not done in time", "give it a greater timeout, or look at a smaller until")
        sleep(LOOK_S)


def obstacle(epoch: EpochLog) -> str:
    """Why an epoch cannot be replayed; empty if it can."""
    update = epoch.strategy.update
    if isinstance(update, Async) and not update.lock:
        return f"{update} cannot be replayed: updates and reads run into each other, element by element"
    if isinstance(update, SSP) and epoch.out:
        out = ", ".join(f"worker:{worker}" for worker in epoch.out)
        return f"{update} in which {out} ran out of data cannot be replayed: when others were let go by that, no ledger has"
    if any(not len(state) for states in epoch.generators.values() for state in states.values()):
        return "what it drew at random cannot be drawn again: sequences on a GPU do not tell where they are"
    return ""
