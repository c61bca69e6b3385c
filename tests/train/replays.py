"""What tests of replay have in common: a training that is logged, and the same once more."""

from __future__ import annotations

import numpy as np

from pslab.train.apply_log import ApplyLog
from pslab.train.reading import Reading
from pslab.train.rehearsal import replay
from pslab.train.trainer import Trainer
from tests.train.tasks import LocalTasks
from tests.train.test_values import BATCH, data, model


def run(strategies, ps: int, workers: int, trained=None, steps: int = 60, reading: Reading = Reading.FEEDING, between=lambda trainer: None):
    """The log, the parameters at its end, and those after each strategy; ``between`` is called while each runs."""
    with LocalTasks(ps, workers) as tasks:
        trainer = Trainer(tasks, data("float32"), trained or model("momentum"), strategies[0], BATCH, data_seed=3, reading=reading)
        ends = []
        for strategy in strategies:
            trainer.set_strategy(strategy)
            trainer.train(steps)
            between(trainer)
            assert trainer.wait(timeout=60).state == "done"
            trainer.stop()
            ends.append(trainer.parameters())
        log = trainer.log()
        trainer.close()
    return log, ends


def again(log: ApplyLog, trained=None, until: int | None = None):
    """The parameters at the end of a log, or at a step of it."""
    with LocalTasks(log.ps, log.workers) as tasks:
        return replay(tasks, log, data("float32"), trained or model("momentum"), until, timeout=60)


def same(found, wanted) -> None:
    """Bit for bit."""
    assert set(found) == set(wanted)
    for name, value in wanted.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)
