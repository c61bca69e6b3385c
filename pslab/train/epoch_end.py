"""What an epoch has left on a task, forgotten at its end."""

from __future__ import annotations

from pslab.data.reader_ops import READERS
from pslab.queues.ops import QUEUES as INPUT_QUEUES
from pslab.runtime.task import Task
from pslab.sync.gate_ops import GATES
from pslab.sync.last_read_ops import LAST_READS
from pslab.sync.ledger_ops import LEDGERS
from pslab.sync.mailbox_ops import MAILBOXES
from pslab.sync.ops import ACCUMULATORS
from pslab.sync.pacing_ops import CLOCKS
from pslab.sync.quorum_ops import QUORUMS
from pslab.train.epoch_names import resources_of, variables_of
from pslab.train.reading import readers_of

KEPT = (CLOCKS, QUORUMS, MAILBOXES, LEDGERS, GATES, LAST_READS)
"""What keeps an epoch in step, and what is kept of it."""
READ = (READERS, INPUT_QUEUES)
"""What it reads from."""


def forget_epoch(task: Task, epoch_id: str) -> int:
    """Forget what an epoch, which has ended on all tasks, has left on one of them.

    Returns:
        How many contributions were in no update: those that came too late, and those that its accumulators still held.
    """
    kept, read, own = resources_of(epoch_id), readers_of(epoch_id), variables_of(epoch_id)
    for resources in (*(kind + kept for kind in KEPT), *(kind + read for kind in READ)):
        task.drop_resources(resources)
    with task.monitor:
        for name in [n for n in task.variables if n.startswith((read, own))]:
            task.variables.discard(name)
    gathered = [accumulator.stats() for accumulator in task.drop_resources(ACCUMULATORS + kept)]
    return max((stats.dropped + stats.pending for stats in gathered), default=0)
