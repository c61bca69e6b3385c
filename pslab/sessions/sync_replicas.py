"""Synchronous training with a shared token queue (TensorFlow 1's ``tf.train.SyncReplicasOptimizer``).

Each worker hands its gradients in with the step that it computed them at, and waits for a token. The chief takes the mean of the first
``replicas_to_aggregate`` of each variable, applies it, and puts tokens with the new global step into the queue; who takes one computes at that step.
Gradients that come later are stale, and dropped. See Chen et al., "Revisiting Distributed Synchronous SGD", 2016.

A worker may take two tokens of one step where another is slow: stop by the global step, not by counting one's own steps.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from typing import Any

from pslab.graph.build import apply_op
from pslab.graph.collections import GraphKeys
from pslab.graph.defaults import get_default_graph
from pslab.graph.operation import Operation
from pslab.graph.ops.arrays import fill
from pslab.graph.ops.sources import group, no_op
from pslab.graph.ops.uninitialized import report_uninitialized_variables
from pslab.graph.tensor import Tensor
from pslab.graph.variables import Variable, global_variables
from pslab.optim.optimizer import Optimizer
from pslab.queues.coordinator import Coordinator
from pslab.queues.queue import FIFOQueue
from pslab.queues.queue_runner import QueueRunner
from pslab.runtime.session import Session
from pslab.sessions.hook import SessionRunHook
from pslab.sync.conditional_accumulator import ConditionalAccumulator

_log = logging.getLogger("pslab.program")


class SyncReplicasOptimizer:
    """Wraps an optimizer, so that workers train in step.

    Args:
        opt: makes the updates.
        replicas_to_aggregate: gradients per update. Fewer than there are workers: the slowest are dropped (backup workers). More: workers hand in
            several per update.
        total_num_replicas: number of workers; ``replicas_to_aggregate`` by default.
        variable_averages: an `ExponentialMovingAverage` to apply after each update.
        variables_to_average: what it averages.
        use_locking: accepted; updates are always whole.
        name: name scope of the ops.
        replica_id: accepted from programs of before TensorFlow 1.0.
    """

    def __init__(
        self,
        opt: Optimizer,
        replicas_to_aggregate: int,
        total_num_replicas: int | None = None,
        variable_averages: Any = None,
        variables_to_average: Sequence[Variable] | None = None,
        use_locking: bool = False,
        name: str = "sync_replicas",
        replica_id: int | None = None,
    ) -> None:
        if replicas_to_aggregate < 1:
            raise ValueError(f"replicas_to_aggregate must be at least 1, found {replicas_to_aggregate}")
        self._opt = opt
        self._name = name
        self._replicas_to_aggregate = replicas_to_aggregate
        self._total_num_replicas = total_num_replicas if total_num_replicas is not None else replicas_to_aggregate
        self._tokens_per_step = max(self._total_num_replicas, replicas_to_aggregate)
        self._variable_averages = variable_averages
        self._variables_to_average = variables_to_average
        self._global_step: Variable | None = None
        self._queue: FIFOQueue | None = None
        self._chief_queue_runner: QueueRunner | None = None
        self.local_step_init_op: Operation | Tensor | None = None
        self.chief_init_op: Operation | None = None
        self.ready_for_local_init_op: Tensor | None = None
        _log.info("SyncReplicas: replicas_to_aggregate=%d; total_num_replicas=%d", replicas_to_aggregate, self._total_num_replicas)

    def compute_gradients(self, *args: Any, **kwargs: Any) -> list[tuple[Tensor | None, Variable]]:
        """The wrapped optimizer's gradients."""
        return self._opt.compute_gradients(*args, **kwargs)

    def minimize(self, loss: Tensor, global_step: Variable | None = None, var_list: Any = None, name: str | None = None, **kwargs: Any) -> Any:
        """`compute_gradients` and `apply_gradients` in one."""
        return self.apply_gradients(self.compute_gradients(loss, var_list=var_list, **kwargs), global_step=global_step, name=name)

    def apply_gradients(
        self, grads_and_vars: Iterable[tuple[Tensor | None, Variable]], global_step: Variable | None = None, name: str | None = None
    ) -> Tensor:
        """A worker's train op: hands the gradients in, and waits for a token.

        Args:
            grads_and_vars: what `compute_gradients` gave.
            global_step: counts the updates; it is needed to tell which gradients are stale.
            name: accepted.

        Raises:
            ValueError: no gradients, or no global step.
        """
        pairs = [(g, v) for g, v in grads_and_vars if g is not None]
        if not pairs:
            raise ValueError("Must supply at least one variable")
        if global_step is None:
            raise ValueError("Global step is required to check staleness")
        graph = get_default_graph()
        self._global_step = global_step
        with graph.colocate_with(apply_op("NoOp", [], "local_anchor")):  # the local step is this worker's own, whatever the device setter says
            local_step = Variable(0, trainable=False, collections=[GraphKeys.LOCAL_VARIABLES], dtype=global_step.dtype, name="sync_rep_local_step")
        self.local_step_init_op = local_step.assign(global_step)
        self.ready_for_local_init_op = report_uninitialized_variables(global_variables())
        chief_inits: list[Any] = [self.local_step_init_op]
        handed_in, means = [], []
        with graph.name_scope(self._name):
            for gradient, variable in pairs:
                with graph.colocate_with(variable.op):
                    accumulator = ConditionalAccumulator(gradient.dtype, variable.shape.dims, shared_name=f"{variable.op.name}/grad_accum")
                    means.append((accumulator.take_grad(self._replicas_to_aggregate), variable))
                    chief_inits.append(accumulator.set_global_step(global_step, name="SetGlobalStep"))
                handed_in.append(accumulator.apply_grad(gradient, local_step=local_step.value()))
        with graph.colocate_with(global_step.op), graph.name_scope(None):
            update = self._opt.apply_gradients(means, global_step)
            self._queue = queue = FIFOQueue(-1, global_step.dtype, shapes=(), name="sync_token_q", shared_name="sync_token_q")
            chief_inits.append(queue.reopen())
            with graph.control_dependencies(handed_in):
                token = queue.dequeue()
            with graph.control_dependencies([update]):
                fresh = global_step.read_value()
                done: Any = queue.enqueue_many([fill([self._tokens_per_step], fresh)])
            if self._variable_averages is not None:
                with graph.control_dependencies([done]):
                    done = self._variable_averages.apply(self._variables_to_average)
            # When the chief goes, nobody hands out tokens any more: with its queue closed, those who wait for one come to its end.
            self._chief_queue_runner = QueueRunner(queue, [done], close_op=queue.close(), cancel_op=queue.close(cancel_pending_enqueues=True))
        self.chief_init_op = group(*chief_inits, name="chief_init")
        return local_step.assign(token)

    def get_chief_queue_runner(self) -> QueueRunner:
        """What takes the means, applies them and hands out tokens; the chief starts it.

        Raises:
            ValueError: `apply_gradients` was not called.
        """
        if self._chief_queue_runner is None:
            raise ValueError("Should be called after apply_gradients().")
        return self._chief_queue_runner

    def get_init_tokens_op(self, num_tokens: int = -1) -> Operation:
        """An op that puts the first tokens into the queue; the chief runs it once.

        Args:
            num_tokens: how many; ``replicas_to_aggregate`` if -1. There must be enough for the first update.

        Raises:
            ValueError: `apply_gradients` was not called, or there are too few.
        """
        if self._queue is None or self._global_step is None:
            raise ValueError("get_init_tokens_op() should be called after apply_gradients().")
        needed = self._replicas_to_aggregate - self._total_num_replicas
        if num_tokens == -1:
            num_tokens = self._replicas_to_aggregate
        elif num_tokens < needed:
            raise ValueError(f"Too few tokens to finish the first step: {num_tokens} (given) vs {needed} (needed)")
        graph = get_default_graph()
        with graph.colocate_with(self._global_step.op), graph.name_scope(None):
            if num_tokens == 0:
                return no_op(name="no_init_tokens")
            return self._queue.enqueue_many([fill([num_tokens], self._global_step.value())])

    def make_session_run_hook(self, is_chief: bool, num_tokens: int = -1) -> SyncReplicasHook:
        """A hook that does all that is to be done at the beginning."""
        return SyncReplicasHook(self, is_chief, num_tokens)

    def get_slot(self, *args: Any, **kwargs: Any) -> Variable | None:
        """The wrapped optimizer's slot."""
        return self._opt.get_slot(*args, **kwargs)

    def get_slot_names(self, *args: Any, **kwargs: Any) -> list[str]:
        """The names of the wrapped optimizer's slots."""
        return self._opt.get_slot_names(*args, **kwargs)

    def variables(self) -> list[Variable]:
        """The wrapped optimizer's variables."""
        return self._opt.variables()


class SyncReplicasHook(SessionRunHook):
    """Initialises the local step; for the chief also the accumulators and the tokens, and starts its queue runner."""

    def __init__(self, optimizer: SyncReplicasOptimizer, is_chief: bool, num_tokens: int) -> None:
        self._optimizer = optimizer
        self._is_chief = is_chief
        self._num_tokens = num_tokens

    def begin(self) -> None:
        """Add the ops that are still missing.

        Raises:
            ValueError: the optimizer's `apply_gradients` was not called.
        """
        if self._optimizer.chief_init_op is None:
            raise ValueError("SyncReplicasOptimizer.apply_gradients should be called before using the hook.")
        self._tokens = self._optimizer.get_init_tokens_op(self._num_tokens) if self._is_chief else None

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Initialise, and start."""
        if self._tokens is None:
            session.run(self._optimizer.local_step_init_op)
            return
        session.run(self._optimizer.chief_init_op)
        session.run(self._tokens)
        self._optimizer.get_chief_queue_runner().create_threads(session, coord=coord, daemon=True, start=True)
