"""``%pslab``: the words of the lab in a notebook."""

from __future__ import annotations

import argparse
import atexit
import contextlib
import difflib
import io
import shlex
from collections.abc import Callable
from typing import Any

from IPython.core.magic import Magics, line_cell_magic, magics_class

from pslab.errors import AbortedError, DeadlineExceededError, NotFoundError, UsageError
from pslab.lab.completion import pslab_matcher
from pslab.lab.display import (
    Shown,
    out_of_data,
    show_cluster,
    show_cost,
    show_divergence,
    show_figures,
    show_merge_gap,
    show_passages,
    show_predictions,
    show_status,
    show_table,
)
from pslab.lab.lab import Lab
from pslab.lab.log_words import show_log, show_replay
from pslab.lab.mode_words import mode_fields
from pslab.lab.parser import parse
from pslab.lab.programs import run_words
from pslab.lab.progress import ProgressLine
from pslab.lab.status import LabStatus
from pslab.lab.sweep import Sweep
from pslab.lab.sweep_words import grid_of, until_of
from pslab.train.apply_log import ApplyLog
from pslab.train.delays import DISTRIBUTIONS
from pslab.train.models import NAMES

NAME = "lab"
"""The variable that a notebook finds its lab under."""


@magics_class
class PslabMagics(Magics):
    """The magic, and the lab that it acts on."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        found = self.shell.user_ns.get(NAME)
        self._own = found if isinstance(found, Lab) else Lab()
        self._swept: Sweep | None = None
        atexit.register(self._own.cluster.stop)
        self.shell.user_ns.setdefault(NAME, self._own)

    @property
    def lab(self) -> Lab:
        """The notebook's own ``lab`` if it is one, else ours."""
        found = self.shell.user_ns.get(NAME)
        return found if isinstance(found, Lab) else self._own

    @line_cell_magic
    def pslab(self, line: str, cell: str | None = None) -> Any:
        """Distributed training, to be watched. ``%pslab --help`` tells the verbs, ``%pslab VERB --help`` what each takes.

        ``%%pslab run`` runs a cell as a program, a process per task; ``%%pslab on TASK`` runs it in the process of a task of the cluster.
        """
        options = parse(line)
        if options.verb is None:
            print(options.help)
            return None
        if cell is not None and options.verb not in ("run", "on"):
            raise UsageError(f"%pslab {options.verb} takes no cell", f"write it with one %: %pslab {line}")
        options.cell = cell
        verb = options.verb if options.verb != "cluster" else f"cluster {options.action}"
        return _VERBS[verb](self, options)

    # The verbs

    def _start(self, options: argparse.Namespace) -> Shown:
        running = self.lab.cluster.running
        with ProgressLine("starting the cluster …"):
            status = self.lab.cluster.start(
                ps=options.ps,
                workers=options.workers,
                processes=options.processes,
                address=options.address,
                memory_limit=options.memory_limit,
            )
        return show_cluster(status, "it was running already, and stays as it is; %pslab cluster scale changes it" if running else "")

    def _scale(self, options: argparse.Namespace) -> Shown:
        with ProgressLine("scaling the cluster …"):
            return show_cluster(self.lab.cluster.scale(ps=options.ps, workers=options.workers))

    def _kill(self, options: argparse.Namespace) -> Shown:
        self.lab.cluster.kill(options.task)
        return Shown(f"{options.task} was killed; it comes back under its name")

    def _link(self, options: argparse.Namespace) -> Shown:
        words = {"duplex": options.duplex, "between": _two(options.between)}
        return Shown(f"links: {self.lab.cluster.link(options.bandwidth, options.latency, options.jitter, **words)}")

    def _unlink(self, options: argparse.Namespace) -> Shown:
        return Shown(f"links: {self.lab.cluster.unlink(_two(options.between))}")

    def _cluster(self, options: argparse.Namespace) -> Shown:
        network = self.lab.cluster.network
        return show_cluster(self.lab.cluster.status(), f"links: {network}" if network.shaped else "")

    def _slow(self, options: argparse.Namespace) -> Shown:
        if options.shape is not None and options.distribution != "pareto":
            raise UsageError("--shape is said together with --distribution pareto", "the other distributions have none")
        make = DISTRIBUTIONS[options.distribution]
        return show_cluster(self.lab.cluster.slow(options.task, make(options.delay, options.shape or 1.5) if options.delay else None))

    def _stop_cluster(self, options: argparse.Namespace) -> Shown:
        with ProgressLine("stopping the cluster …"):
            self.lab.cluster.stop()
        return Shown("no cluster")

    def _data(self, options: argparse.Namespace) -> Any:
        source: Any = options.source[0]
        if len(options.source) == 2:
            source = tuple(self._named(name, "array") for name in options.source)
        elif len(options.source) > 2:
            raise UsageError(f"data takes a name, or two arrays; found {' '.join(options.source)}", "%pslab data x y")
        return self.lab.data(
            source,
            label=options.label,
            classes=options.classes,
            batch_size=options.batch,
            shares=options.shares,
            passes=options.passes,
            seed=options.seed,
            reading=options.reading,
        )

    def _model(self, options: argparse.Namespace) -> Shown:
        source = options.source
        if source not in NAMES:
            source = self._named(source, "function")
            if not callable(source):
                raise UsageError(
                    f"{options.source!r} is a {type(source).__name__}, not a function", "a model is a function (x, y) -> (loss, metrics)"
                )
        wanted = {
            "hidden": options.hidden,
            "stages": options.stages,
            "partitions": options.partitions,
            "placement": options.placement,
            "optimizer": options.optimizer,
            "learning_rate": options.lr,
            "seed": options.seed,
        }
        model = self.lab.model(source, **wanted)
        return Shown(f"model {model.name}, {model.optimizer} with learning rate {model.learning_rate:g}")

    def _mode(self, options: argparse.Namespace) -> Shown:
        return Shown(f"mode: {self.lab.mode(**mode_fields(options, self.lab.strategy))}")

    def _train(self, options: argparse.Namespace) -> Shown:
        status = self.lab.train(options.steps)
        if options.wait:
            status = self._wait()
        return show_status(status)

    def _step(self, options: argparse.Namespace) -> Shown:
        if options.worker is not None and options.messages is None:
            raise UsageError("--worker is said together with --messages", f"%pslab step --messages 1 --worker {options.worker}")
        if options.messages is None:
            return show_status(self.lab.step(options.n))
        return show_passages(self.lab.step(messages=options.messages, worker=options.worker))

    def _wait(self) -> LabStatus:
        try:
            with ProgressLine("training …") as line:
                while (status := self.lab.status()).state == "running":
                    said = [f"step {status.global_step} of {status.target_step}", out_of_data(status)]
                    line.update("; ".join(filter(None, said)), status.global_step, status.target_step)
                    with contextlib.suppress(DeadlineExceededError):
                        self.lab.wait(timeout=0.2)
        except KeyboardInterrupt:
            print("stopped waiting; the training goes on in the background (%pslab pause, %pslab stop)")
        return self.lab.status()

    def _traffic(self, options: argparse.Namespace) -> Shown:
        from IPython.display import display

        from pslab.lab.cost_figures import traffic_figure

        table = self.lab.traffic(options.by)
        if options.by == "link":
            display(traffic_figure(table))
        return show_table(f"traffic since the mode began, by {options.by}", table)

    def _cost(self, options: argparse.Namespace) -> Shown:
        from IPython.display import display

        from pslab.lab.cost_figures import cost_figure

        cost = self.lab.cost()
        display(cost_figure(cost))
        return show_cost(cost)

    def _sweep(self, options: argparse.Namespace) -> Sweep:
        from IPython.display import display

        if options.resume and self._swept is None:
            raise UsageError("there is no sweep to go on with", "leave --resume out")
        grid = grid_of(options.over, self.lab.strategy, lambda name: self._named(name, "function"))
        resume = self._swept if options.resume else None
        self._swept = self.lab.sweep(grid, until_of(options.until), seeds=options.seeds, seed=options.seed, path=options.path, resume=resume)
        display(self._swept.plot())
        return self._swept

    def _plot(self, options: argparse.Namespace) -> Any:
        from IPython.display import display

        display(self.lab.plot(options.path))

    def _panel(self, options: argparse.Namespace) -> Any:
        return self.lab.panel(hide=options.hide, lock=options.lock)

    def _adjust(self, options: argparse.Namespace) -> Shown:
        if options.lr is None and options.batch is None:
            raise UsageError("adjust changes --lr or --batch, or both", "%pslab adjust --lr 0.01")
        self.lab.adjust(learning_rate=options.lr, batch_size=options.batch)
        rate = self.lab.learning_rate
        return Shown(f"{'' if rate is None else f'learning rate {rate:g}, '}batch size {self.lab.batch_size}")

    def _share(self, options: argparse.Namespace) -> Shown:
        if options.setup is not None:
            with ProgressLine("setting up …"):
                self.lab.take_share(options.setup)
        return Shown(f"%pslab share {shlex.quote(self.lab.share())}")

    def _timeline(self, options: argparse.Namespace) -> Any:
        from IPython.display import display

        display(self.lab.timeline(options.path))

    def _trajectories(self, options: argparse.Namespace) -> Any:
        if options.live:
            if options.path is not None:
                raise UsageError("a live view writes no picture", f"%pslab trajectories {shlex.quote(options.path)} draws one")
            return self.lab.parameter_view(options.directions, options.seed)
        from IPython.display import display

        how = {"looks": options.looks, "every": options.every, "directions": options.directions, "seed": options.seed}
        display(self.lab.trajectories(options.path, **how))
        return None

    def _divergence(self, options: argparse.Namespace) -> Shown:
        from IPython.display import display

        shown = show_divergence(self.lab.divergence())
        if options.path or len(self.lab.divergence(history=True)):
            display(self.lab.plot_divergence(options.path))
        return shown

    def _log(self, options: argparse.Namespace) -> Shown:
        log = self.lab.log()
        return show_log(log, f"written to {log.save(options.path)}" if options.path else "")

    def _replay(self, options: argparse.Namespace) -> Shown:
        log = self.lab.log() if options.source == "-" else ApplyLog.load(options.source)
        with ProgressLine("replaying …"):
            found = self.lab.replay(log, options.until)
        return show_replay(log, found, options.until)

    def _graph(self, options: argparse.Namespace) -> Any:
        if options.live:
            return self.lab.graph_view()
        from IPython.display import display

        from pslab.lab.graph_figure import graph_figure

        plan = self.lab.graph()
        display(graph_figure(plan))
        print(plan)
        return None

    def _placement(self, options: argparse.Namespace) -> None:
        print(self.lab.placement())

    def _run(self, options: argparse.Namespace) -> None:
        status = run_words(options.words, options.cell, options.ps, options.workers, options.tensorflow)
        if status not in (0, 130):
            raise AbortedError(f"the program has failed with exit status {status}", "what it said is above")

    def _on(self, options: argparse.Namespace) -> None:
        if options.cell is None:
            raise UsageError("on runs a cell", f"begin the cell with %%pslab on {options.where}, and write what is to be run below")
        self.lab.on(options.where, options.cell, anew=options.anew)

    def _named(self, name: str, kind: str) -> Any:
        """What the notebook calls ``name``.

        Raises:
            NotFoundError: nothing.
        """
        if name not in self.shell.user_ns:
            close = difflib.get_close_matches(name, [n for n in self.shell.user_ns if not n.startswith("_")], n=1)
            known = f", or take one of: {', '.join(NAMES)}" if kind == "function" else ""
            raise NotFoundError(
                f"there is no {kind} {name!r} in this notebook", f"did you mean {close[0]!r}?" if close else f"define it first{known}"
            )
        return self.shell.user_ns[name]


def _two(between: list[str]) -> tuple[str, str] | None:
    """The two tasks that are named; None where none is.

    Raises:
        UsageError: it is another number.
    """
    if len(between) not in (0, 2):
        raise UsageError(f"a link is between two tasks, found {' '.join(between)}", "%pslab cluster link worker:1 ps:0 --bandwidth 10Mbit")
    return (between[0], between[1]) if between else None


_VERBS: dict[str, Callable[[PslabMagics, argparse.Namespace], Any]] = {
    "cluster start": PslabMagics._start,
    "cluster status": PslabMagics._cluster,
    "cluster link": PslabMagics._link,
    "cluster unlink": PslabMagics._unlink,
    "cluster scale": PslabMagics._scale,
    "cluster kill": PslabMagics._kill,
    "cluster slow": PslabMagics._slow,
    "cluster stop": PslabMagics._stop_cluster,
    "data": PslabMagics._data,
    "model": PslabMagics._model,
    "mode": PslabMagics._mode,
    "train": PslabMagics._train,
    "pause": lambda self, options: show_status(self.lab.pause()),
    "resume": lambda self, options: show_status(self.lab.resume()),
    "step": PslabMagics._step,
    "stop": lambda self, options: show_status(self.lab.stop()),
    "status": lambda self, options: show_status(self.lab.status()),
    "traffic": PslabMagics._traffic,
    "cost": PslabMagics._cost,
    "sweep": PslabMagics._sweep,
    "plot": PslabMagics._plot,
    "panel": PslabMagics._panel,
    "race": lambda self, options: self.lab.race(),
    "adjust": PslabMagics._adjust,
    "share": PslabMagics._share,
    "timeline": PslabMagics._timeline,
    "divergence": PslabMagics._divergence,
    "trajectories": PslabMagics._trajectories,
    "merge-gap": lambda self, options: show_merge_gap(self.lab.merge_gap()),
    "log": PslabMagics._log,
    "replay": PslabMagics._replay,
    "evaluate": lambda self, options: show_figures("on the test set", self.lab.evaluate()),
    "predict": lambda self, options: show_predictions(self.lab.predict(n=options.n)),
    "save": lambda self, options: Shown(f"saved to {self.lab.save(options.prefix)}"),
    "restore": lambda self, options: show_status(self.lab.restore(options.prefix)),
    "reset": lambda self, options: show_status(self.lab.reset()),
    "graph": PslabMagics._graph,
    "placement": PslabMagics._placement,
    "run": PslabMagics._run,
    "on": PslabMagics._on,
}


def _png(figure: Any) -> bytes:
    """A figure as JupyterLab shows it."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png")
    return buffer.getvalue()


def load_ipython_extension(ipython: Any) -> None:
    """``%load_ext pslab``."""
    ipython.register_magics(PslabMagics)
    ipython.display_formatter.formatters["image/png"].for_type_by_name("matplotlib.figure", "Figure", _png)
    if pslab_matcher not in ipython.Completer.custom_matchers:
        ipython.Completer.custom_matchers.append(pslab_matcher)


def unload_ipython_extension(ipython: Any) -> None:
    """``%unload_ext pslab``: the magic goes; a cluster that runs stays until the kernel ends."""
    for kind in ("line", "cell"):
        ipython.magics_manager.magics[kind].pop("pslab", None)
    if pslab_matcher in ipython.Completer.custom_matchers:
        ipython.Completer.custom_matchers.remove(pslab_matcher)
