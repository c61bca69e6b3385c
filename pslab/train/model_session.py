"""A job's model at rest: initialise, look at, test, save and restore its parameters, without training it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pslab.checkpoint.saver import Saver
from pslab.errors import UsageError
from pslab.graph.clone import clone
from pslab.graph.default_names import name_scope
from pslab.graph.ops.sources import identity
from pslab.graph.partition import prune
from pslab.graph.variables import global_variables, is_variable_initialized, variables_initializer
from pslab.runtime.session import Session
from pslab.train.distances import Parameters
from pslab.train.job import Job
from pslab.train.model import Tower
from pslab.train.replica import build_replica
from pslab.train.trajectories import shaped

CHUNK = 1024
"""Examples that are tested at a time, where no fewer are asked for."""


class ModelSession:
    """The chief's view of the model.

    Args:
        job: what it is a model of.
        target: the chief's own server.
    """

    def __init__(self, job: Job, target: str) -> None:
        self.job = job
        replica = build_replica(job, 0)
        self._replica = replica = replace(replica, tower=_apart(replica.tower))
        with replica.on_worker():
            replica.optimizer.update(zip(replica.gradients, replica.variables, strict=True))  # makes the slots
            self._variables = global_variables()
            self._init = variables_initializer(self._variables)
            self._known = [is_variable_initialized(v) for v in self._variables]
            self._saver = Saver(self._variables, max_to_keep=0)
            self._name_results()
        self._session = Session(target, replica.graph)

    def _name_results(self) -> None:
        """Let loss, metrics and outputs be found in a saved graph: ``model/loss:0``, ``model/accuracy:0`` and so on."""
        tower = self._replica.tower
        with name_scope("model"):
            for name, tensor in {"loss": tower.loss, **tower.metrics, **tower.outputs}.items():
                identity(tensor, name)

    def initialise(self) -> None:
        """Give all variables their initial values: parameters by the model's seed, slots, the global step 0."""
        self._session.run(self._init)

    def initialised(self) -> bool:
        """Whether all variables have a value."""
        return all(self._session.run(self._known))

    def global_step(self) -> int:
        """How many updates were made."""
        return int(self._session.run(self._replica.global_step))

    def parameters(self) -> dict[str, np.ndarray[Any, Any]]:
        """The values of the trained variables, by name."""
        values = self._session.run(list(self._replica.variables))
        return {v.op.name: value for v, value in zip(self._replica.variables, values, strict=True)}

    def state(self) -> dict[str, np.ndarray[Any, Any]]:
        """The values of all variables, slots and the global step among them, by name."""
        values = self._session.run([v.value() for v in self._variables])
        return {v.op.name: np.asarray(value) for v, value in zip(self._variables, values, strict=True)}

    def load(self, state: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Give all variables the values of a `state`.

        Raises:
            UsageError: it is of another model.
        """
        if unlike := {v.op.name for v in self._variables} ^ set(state):
            raise UsageError(f"the state is of another model: {sorted(unlike)[0]!r} is in one of the two only")
        for variable in self._variables:
            variable.load(state[variable.op.name], self._session)

    def evaluate(self, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], chunk: int = CHUNK) -> dict[str, float]:
        """Loss and metrics over examples: means over chunks of ``chunk`` examples, weighted by their size."""
        tower = self._replica.tower
        fetches = {"loss": tower.loss, **tower.metrics}
        totals = dict.fromkeys(fetches, 0.0)
        for start in range(0, len(x), chunk):
            part = slice(start, start + chunk)
            values = self._session.run(fetches, {tower.x: x[part], tower.y: y[part]})
            for name, value in values.items():
                totals[name] += float(value) * len(x[part])
        return {name: total / len(x) for name, total in totals.items()}

    def measure(self, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> tuple[float, float]:
        """The loss over examples, and ‖θ‖, both of the same parameters."""
        loss, *values = self._session.run([self._replica.tower.loss, *self._replica.variables], {self._replica.tower.x: x, self._replica.tower.y: y})
        return float(loss), float(np.sqrt(sum(np.sum(np.square(value, dtype=np.float64)) for value in values)))

    def losses(self, points: Sequence[Parameters], x: np.ndarray[Any, Any], y: np.ndarray[Any, Any], chunk: int = CHUNK) -> list[float]:
        """The loss over examples at each of some points in parameter space; the variables stay as they are. Chunks as in `evaluate`."""
        tower, reads = self._replica.tower, self._replica.reads
        names = [v.op.name for v in self._replica.variables]
        totals = [0.0] * len(points)
        for start in range(0, len(x), chunk):
            xs, ys = x[start : start + chunk], y[start : start + chunk]
            for i, point in enumerate(points):
                fed = {read: point[name] for read, name in zip(reads, names, strict=True)}
                totals[i] += float(self._session.run(tower.loss, {tower.x: xs, tower.y: ys, **fed})) * len(xs)
        return [total / len(x) for total in totals]

    def surface(self, origin: Any, directions: Any, xs: Any, ys: Any, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """The loss over examples at ``origin + a·directions[0] + b·directions[1]``, float64 of shape [ys, xs]; the variables stay as they are."""
        like = self.parameters()
        points = (shaped(origin + a * directions[0] + b * directions[1], like) for b in ys for a in xs)
        return np.array([self.losses([point], x, y)[0] for point in points]).reshape(len(ys), len(xs))

    def predict(self, x: np.ndarray[Any, Any], chunk: int = CHUNK) -> dict[str, np.ndarray[Any, Any]]:
        """The model's outputs for examples, ``chunk`` of them at a time, by name.

        Raises:
            UsageError: the model has none.
        """
        outputs: Mapping[str, Any] = self._replica.tower.outputs
        if not outputs:
            raise UsageError(
                f"model {self.job.model.name!r} names no outputs",
                "let its function return one with its metrics: {'accuracy': …, 'prediction': pslab.argmax(logits, 1)}",
            )
        parts = [self._session.run(dict(outputs), {self._replica.tower.x: x[i : i + chunk]}) for i in range(0, len(x), chunk)]
        return {name: np.concatenate([p[name] for p in parts]) for name in outputs}

    def save(self, prefix: str) -> str:
        """Write all variables, slots and the global step among them, to a checkpoint; returns its prefix.

        The model goes with it, as ``PREFIX.meta`` for `pslab.train.import_meta_graph`, with placeholders ``x:0`` and ``y:0`` and the results in the scope
        ``model``. It asks for no devices: it is used where there are other tasks, or none.
        """
        saved = self._saver.save(self._session, prefix, write_meta_graph=False)
        self._saver.export_meta_graph(f"{saved}.meta", clear_devices=True)
        return saved

    def restore(self, prefix: str) -> None:
        """Read all variables from a checkpoint.

        Raises:
            OpError: the checkpoint is not there, broken, or of another model; the variables are as they were.
        """
        self._saver.restore(self._session, prefix)

    def close(self) -> None:
        """Let go of the tasks."""
        self._session.close()


def _apart(tower: Tower) -> Tower:
    """The same tower, or if it draws at random a copy, whose sequences are its own: to look at a training must not change what it draws."""
    named = {**tower.metrics, **tower.outputs}
    tensors = [tower.loss, *named.values()]
    if not any("seed2" in op.attrs for op in prune([t.op for t in tensors], [tower.x, tower.y])):
        return tower
    with tower.loss.graph.as_default(), name_scope("at_rest"):
        loss, *copies = clone(tensors, {tower.x: tower.x, tower.y: tower.y}, device=lambda op: op.device)
    copied = dict(zip(named, copies, strict=True))
    return replace(tower, loss=loss, metrics={n: copied[n] for n in tower.metrics}, outputs={n: copied[n] for n in tower.outputs})
