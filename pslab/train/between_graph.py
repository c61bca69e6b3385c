"""The graphs of between-graph replication: one per worker, and the chief's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pslab.graph.dtypes import int64
from pslab.graph.graph import Graph
from pslab.graph.operation import Operation
from pslab.graph.ops.math import add_n
from pslab.graph.ops.sources import identity, placeholder
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable
from pslab.sync.claim_ops import claim, paused_time, try_claim
from pslab.sync.ledger_ops import ledger_answer, ledger_note
from pslab.sync.ops import NEVER_STALE, accumulator_apply_gradient, accumulator_set_global_step
from pslab.sync.pacing_ops import step_after
from pslab.sync.quorum_ops import chosen_ready, quorum_bring, quorum_brought, quorum_choose, quorum_ready, quorum_take, take_chosen
from pslab.train.applying import apply_at_once, by_task, enter, note_read, own_arrays, pace_of, task_of
from pslab.train.committing import WorkerSide, outer_optimizer, outer_slots, worker_side
from pslab.train.divergence import squared_distances
from pslab.train.epoch_names import resources_of
from pslab.train.exchange import Exchange, send
from pslab.train.job import Job
from pslab.train.leaving import Leaving, giving_back, leaving, quorum_of
from pslab.train.replica import PS_0, Replica, build_replica
from pslab.train.round_tally import weighs
from pslab.train.staleness import staleness
from pslab.train.updates import KAsync, Sync


@dataclass(frozen=True)
class ReplicaGraph:
    """A worker's graph. One step takes the parameters as they were read before, and gives those that the next step takes.

    Attributes:
        replica: the model.
        read_step: placeholder of the global step at which the parameters were read.
        staleness: updates that others made in between.
        next_step: the global step of ``next_parameters``.
        next_parameters: the parameters after a commit.
        paused_ns: for how long, in all, updates stood still on purpose.
        distances: squared distances of the replica's parameters from those on the ps, just before the update.
        further: further ops of a commit.
        torn: how many of ``next_parameters`` an update ran into while they were read; None where that cannot be.
        local: the parameters after a step that commits nothing; none where those stay as they are.
        local_ops: further ops of such a step.
        arrived: the parameters with which the replica comes to a commit.
        prepare: ops that one worker runs before the others begin.
        pull: what a replica reads before its first step: the global step, the time paused, the parameters.
        pull_ops: further ops to be run then.
        granted: whether the next update is claimed already; None where the replica makes no updates itself.
        claim: waits until the next update is claimed; None likewise.
        leaving: how the worker leaves, when it is out of data.
    """

    replica: Replica
    read_step: Tensor
    staleness: Tensor
    next_step: Tensor
    next_parameters: Sequence[Tensor]
    paused_ns: Tensor
    distances: Sequence[Tensor]
    further: Sequence[Operation]
    torn: Tensor | None
    local: Sequence[Tensor]
    local_ops: Sequence[Operation]
    arrived: Sequence[Tensor]
    prepare: Sequence[Operation]
    pull: Sequence[Tensor]
    pull_ops: Sequence[Operation]
    granted: Tensor | None
    claim: Tensor | None
    leaving: Leaving

    @property
    def feeds(self) -> list[Tensor]:
        """What a step takes: what the source of its batches is fed, the read step, the parameters."""
        return [*self.replica.tower.source.feeds, self.read_step, *self.replica.reads]


def worker_graph(job: Job, worker: int) -> ReplicaGraph:
    """A worker's graph in the job's mode."""
    return gathered_replica(job, worker) if job.strategy.gathered else immediate_replica(job, worker)


def immediate_replica(job: Job, worker: int) -> ReplicaGraph:
    """A worker's graph where what it commits is applied as it comes, in the same message that brings it."""
    arrival = _arrive(job, worker)
    replica, side = arrival.replica, arrival.side
    with replica.on_worker():
        optimizer = outer_optimizer(job, replica)
        differences = arrival.differences()
        applied = apply_at_once(job, replica, worker, optimizer, differences, arrival.before, arrival.exchange.sent)
        next_step = replica.count_after(applied.counted)
        pace = pace_of(job)
        go, read = (next_step.op, applied.read()) if pace is None else applied.read_in_pace(pace, next_step.op)
        with replica.graph.device(PS_0), replica.graph.control_dependencies([go]):
            granted, paused = try_claim(job.epoch_id), paused_time()
        next_parameters, settling = side.settle(read.parameters, differences)
        torn = add_n(read.torn) if read.torn else None
        with replica.graph.device(PS_0):
            waiting = claim(job.epoch_id)
        prepare = [*outer_slots(job, optimizer), *own_arrays(job, replica)]
        noted = note_read(job, replica, worker)
    return arrival.graph(
        staleness=applied.staleness,
        next_step=next_step,
        next_parameters=next_parameters,
        paused_ns=paused,
        further=[*settling, *read.noted],
        torn=torn,
        prepare=prepare,
        noted=noted,
        granted=granted,
        claim=waiting,
    )


def gathered_replica(job: Job, worker: int) -> ReplicaGraph:
    """A worker's graph where what it commits is gathered with the others', and it goes on after the chief's update."""
    arrival = _arrive(job, worker)
    replica, side = arrival.replica, arrival.side
    with replica.on_worker():
        with replica.graph.control_dependencies(arrival.exchange.sent):
            sent_step = identity(arrival.read_step)  # as one more tensor that travels with the contributions
            weight = identity(side.weight) if weighs(job) else 1
        stale = staleness(replica.global_step, sent_step)
        arrival.exchange.precede([stale.op])
        always = isinstance(job.strategy.update, KAsync)
        differences = arrival.differences()
        races = job.strategy.races
        ledger = resources_of(job.epoch_id)
        entries = enter(replica, differences, arrival.exchange.sent, lambda: ledger_note(ledger, worker)) if races else {}
        handed_in = []
        if always:
            with replica.graph.device(PS_0), replica.graph.control_dependencies([stale.op, entries[task_of(replica.global_step)]]):
                handed_in.append(quorum_bring(quorum_of(job), worker))
        for difference, variable, old in zip(differences, replica.variables, arrival.before, strict=True):
            with replica.graph.colocate_with(variable.op):
                fresh = NEVER_STALE if always else sent_step
                op = accumulator_apply_gradient(accumulator_of(job, variable), difference, fresh, worker, weight=weight)
            op.add_control_input(old.op)
            if races:
                op.add_control_input(entries[task_of(variable)])
            handed_in.append(op)
        mine = [stale.op, *(op for op in handed_in if op.device == replica.global_step.device)]
        with replica.graph.device(PS_0), replica.graph.control_dependencies(mine):
            late = replica.global_step.read_value() if always else sent_step
            update = step_after(replica.global_step, late, job.epoch_id)
        next_step, *pulled = _read_after([replica.global_step, *replica.variables], [update.op])
        with replica.graph.device(PS_0), replica.graph.control_dependencies([update]):
            paused = paused_time()
        answered = enter(replica, (), [update.op], lambda: ledger_answer(ledger, worker)) if races else {}
        next_parameters, settling = side.settle(pulled, differences)
    return arrival.graph(
        staleness=stale,
        next_step=next_step,
        next_parameters=next_parameters,
        paused_ns=paused,
        further=[*handed_in, *settling, *answered.values()],
        torn=None,
        prepare=(),
        noted=(),
        granted=None,
        claim=None,
    )


@dataclass(frozen=True)
class ChiefGraph:
    """The graph of the chief's loop, which makes the updates of what is gathered.

    Attributes:
        graph: the graph.
        begin: to run once: gradients older than the global step are stale from now on.
        next_step: the global step after an update; running it makes one.
        granted: whether the next update is claimed already.
        claim: waits until the next update is claimed.
        leaving: what is to be done when there is nobody left who brings something.
        entered: entries in the ledgers, each at the beginning of what is done at one moment; none where nothing races.
        further: further ops of an update.
    """

    graph: Graph
    begin: Sequence[Operation]
    next_step: Tensor
    granted: Tensor
    claim: Tensor
    leaving: Leaving
    entered: Sequence[Operation]
    further: Sequence[Operation] = ()


def chief(job: Job) -> ChiefGraph:
    """The chief's graph: take what has come, together; apply it; count the step."""
    update = job.strategy.update
    assert isinstance(update, Sync | KAsync)
    replica = build_replica(job, 0)
    rule, chosen = quorum_of(job), None
    with replica.on_worker():
        begin: list[Operation] = []
        entered: list[Operation] = []
        taken: dict[Variable, Tensor] = {}
        for _, here in sorted(by_task(replica).items()):
            names = {v: accumulator_of(job, v) for v in here if v is not replica.global_step}
            with replica.graph.colocate_with(here[0].op):
                begin += [accumulator_set_global_step(name, replica.global_step.value()) for name in names.values()]
                if isinstance(update, Sync):
                    ready = quorum_ready(rule, list(names.values()))
                else:
                    ready = quorum_brought(rule) if chosen is None else chosen_ready(chosen, list(names.values()))
                entry = _chief_entry(job, [ready], updates=1)
                with replica.graph.control_dependencies([ready, *entry]):
                    if isinstance(update, KAsync) and chosen is None:  # on the first ps, whose accumulators have what its quorum was brought
                        chosen = quorum_choose(rule)
                    for v, name in names.items():
                        how = update.aggregation
                        taken[v] = quorum_take(name, v, how) if chosen is None else take_chosen(chosen, name, v, how)
            entered += entry
        optimizer = outer_optimizer(job, replica)
        updates = [u.op for u in optimizer.update((taken[v], v) for v in replica.variables)]
        with replica.graph.device(PS_0):
            counted = _chief_entry(job, updates, updates=0)
        next_step = replica.count_after([*updates, *counted])
        with replica.graph.device(PS_0), replica.graph.control_dependencies([next_step]):
            granted = try_claim(job.epoch_id)
        with replica.graph.device(PS_0):
            waiting = claim(job.epoch_id)
    end = Leaving((), giving_back(job, replica))
    return ChiefGraph(replica.graph, [*begin, *outer_slots(job, optimizer)], next_step, granted, waiting, end, [*entered, *counted])


def _chief_entry(job: Job, after: Sequence[Operation], updates: int) -> list[Operation]:
    """That the chief does something, ``after`` these ops, in the ledger of their task, under the number that follows the workers'; where there is one."""
    if not job.strategy.races:
        return []
    with after[0].graph.control_dependencies(after):
        return [ledger_note(resources_of(job.epoch_id), job.workers, updates)]


def accumulator_of(job: Job, variable: Variable) -> str:
    """Name of the accumulator of a variable's contributions."""
    return f"{resources_of(job.epoch_id)}{variable.op.name}"


@dataclass(frozen=True)
class _Arrival:
    """A replica that comes to a commit, and what can be known before anything is done with what it brings."""

    job: Job
    replica: Replica
    side: WorkerSide
    exchange: Exchange
    read_step: Tensor
    before: Sequence[Tensor]
    distances: Sequence[Tensor]

    def differences(self) -> list[Tensor]:
        """What the ps take as gradients."""
        found = []
        for contribution, variable in zip(self.exchange.arrived, self.replica.variables, strict=True):
            with self.replica.graph.colocate_with(variable.op):
                found.append(self.side.difference(contribution, variable))
        return found

    def graph(
        self,
        *,
        staleness: Tensor,
        next_step: Tensor,
        next_parameters: Sequence[Tensor],
        paused_ns: Tensor,
        further: Sequence[Operation],
        torn: Tensor | None,
        prepare: Sequence[Operation],
        noted: Sequence[Operation],
        granted: Tensor | None,
        claim: Tensor | None,
    ) -> ReplicaGraph:
        """The worker's graph."""
        with self.replica.on_worker():
            first, beginning = self.side.begin(self.replica.reads)
            with self.replica.graph.device(PS_0):
                pull = [self.replica.global_step.value(), paused_time(), *first]
        return ReplicaGraph(
            self.replica,
            self.read_step,
            staleness,
            next_step,
            next_parameters,
            paused_ns,
            self.distances,
            further,
            torn,
            self.side.local,
            self.side.local_ops,
            self.side.arrived,
            prepare,
            pull,
            [*beginning, *self.exchange.begin, *noted],
            granted,
            claim,
            leaving(self.job, self.replica),
        )


def _arrive(job: Job, worker: int) -> _Arrival:
    replica = build_replica(job, worker)
    with replica.on_worker():
        side = worker_side(job, replica)
        read_step = placeholder(int64, [], name="read_step")
        exchange = send(job, worker, side.contributions, replica.variables)
        before = _read_after(replica.variables, exchange.sent)
        exchange.precede([old.op for old in before])
        distances = squared_distances(side.arrived, before)
    return _Arrival(job, replica, side, exchange, read_step, before, distances)


def _read_after(variables: Sequence[Variable], ops: Sequence[Operation]) -> list[Tensor]:
    with ops[0].graph.control_dependencies(ops):
        return [v.read_value() for v in variables]
