"""The grammar of ``%pslab``."""

from __future__ import annotations

import argparse
import difflib
import shlex
from collections.abc import Sequence
from typing import Any, NoReturn

from pslab.errors import UsageError
from pslab.lab.mode_words import add_mode
from pslab.lab.numbers import count, duration, fraction, natural, positive
from pslab.train.delays import DISTRIBUTIONS
from pslab.train.model import OPTIMIZERS
from pslab.train.placement import Placement
from pslab.train.reading import Reading
from pslab.train.trajectories import Directions


class _HelpAsked(Exception):
    """``--help`` was given; the argument is the text to show."""


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        raise _HelpAsked(parser.format_help())


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` where argparse would end the process, and says which word may have been meant."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, add_help=False, allow_abbrev=False, formatter_class=_formatter)
        self.add_argument("--help", "-h", action=_Help, nargs=0, help="show this")

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong, with the usage."""
        raise UsageError(message.removeprefix("argument "), self._usage())

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Never ends the kernel."""
        raise UsageError(message or "that cannot be meant", self._usage())

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """As argparse's, but each verb refuses what it does not know itself, so that the usage is that verb's."""
        options, unknown = super().parse_known_args(args, namespace)
        if unknown:
            known = [option for action in self._actions for option in action.option_strings if option.startswith("--")]
            self._refuse(unknown[0].partition("=")[0], self.prog, known if unknown[0].startswith("-") else [])
        return options, unknown

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        """Overrides argparse's check of choices and verbs, whose message lists them all and suggests none."""
        if action.choices is not None and value not in action.choices:
            owner = f"{self.prog} {action.option_strings[0]}" if action.option_strings else self.prog
            self._refuse(value, owner, [str(choice) for choice in action.choices])

    def _refuse(self, word: str, owner: str, known: Sequence[str]) -> NoReturn:
        close = difflib.get_close_matches(word, known, n=1)
        advice = f"did you mean {close[0]!r}? " if close else f"one of: {', '.join(known)}; " if known else ""
        raise UsageError(f"{owner} has no {word!r}", f"{advice}usage: {self._usage()}")

    def _usage(self) -> str:
        return " ".join(self.format_usage().split()).removeprefix("usage: ")


def _formatter(prog: str) -> argparse.HelpFormatter:
    return argparse.HelpFormatter(prog, max_help_position=32, width=110)


def build_parser() -> Parser:
    """The parser of all verbs."""
    parser = Parser(prog="%pslab", description="Distributed training, to be watched: a cluster, a model, a mode, and what they do.")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser)
    _add_cluster(verbs.add_parser("cluster", help="start, scale, hurt and stop the cluster"))
    _add_data(verbs.add_parser("data", help="choose the data: digits, two arrays x y, or files"))
    model = verbs.add_parser("model", help="choose the model: mlp, logistic, or a function of yours")
    model.add_argument("source", metavar="NAME", help="mlp, logistic, or the name of a function (x, y) -> (loss, metrics)")
    model.add_argument("--hidden", type=count, metavar="N", nargs="+", default=[128], help="widths of the MLP's hidden layers (128)")
    model.add_argument("--stages", type=count, metavar="N", default=1, help="over how many workers a pipeline spreads the MLP's layers (1)")
    model.add_argument("--partitions", type=count, metavar="N", default=1, help="how many variables the weights of each layer are (1)")
    model.add_argument("--placement", choices=[str(p) for p in Placement], default="in-turn", help="how variables are spread over the ps (in-turn)")
    model.add_argument("--optimizer", choices=OPTIMIZERS, default="sgd", help="(sgd)")
    model.add_argument("--lr", type=positive, metavar="F", default=0.1, help="learning rate (0.1)")
    model.add_argument("--seed", type=natural, metavar="N", default=0, help="seed of the initial parameters (0)")
    add_mode(verbs.add_parser("mode", help="choose how the replicas work together; also while they train"))
    train = verbs.add_parser("train", help="make updates, in the background")
    train.add_argument("--steps", type=count, metavar="N", default=500, help="how many (500)")
    train.add_argument("--wait", action="store_true", help="come back when they are made")
    step = verbs.add_parser("step", help="make so many updates, and be paused")
    step.add_argument("n", type=count, nargs="?", metavar="N", default=1, help="how many (1)")
    step.add_argument("--messages", type=count, metavar="N", help="let so many messages in at the ps, in place of updates")
    step.add_argument("--worker", type=natural, metavar="N", help="whose messages (of whoever comes first)")
    traffic = verbs.add_parser("traffic", help="what goes between the tasks: messages, bytes, seconds")
    traffic.add_argument("--by", choices=["link", "variable"], default="link", help="per link, or per variable and direction (link)")
    _add_sweep(verbs.add_parser("sweep", help="train at every point of a grid, with several seeds, and compare"))
    for verb, text in _PICTURES.items():
        verbs.add_parser(verb, help=text).add_argument("path", nargs="?", metavar="FILE", help="write the picture there too")
    _add_log_and_replay(verbs)
    _add_trajectories(verbs.add_parser("trajectories", help="follow the replicas and the ps through parameter space, over the loss"))
    panel = verbs.add_parser("panel", help="controls and live plots")
    for option, text in (("--hide", "controls and buttons not to be shown"), ("--lock", "controls and buttons that cannot be used")):
        panel.add_argument(option, nargs="+", default=[], metavar="NAME", help=text)
    graph = verbs.add_parser("graph", help="which task runs which ops, and what travels between them")
    graph.add_argument("--live", action="store_true", help="in a widget: scopes fold, ops tell what they are, messages light up while it trains")
    adjust = verbs.add_parser("adjust", help="change the learning rate or the batch size, also while it trains")
    adjust.add_argument("--lr", type=positive, metavar="F", help="learning rate")
    adjust.add_argument("--batch", type=count, metavar="N", help="examples per worker and step")
    predict = verbs.add_parser("predict", help="the model's outputs for examples of the test set")
    predict.add_argument("n", type=count, nargs="?", metavar="N", default=10, help="how many (10)")
    for verb, text in (("save", "write a checkpoint"), ("restore", "go back to a checkpoint")):
        verbs.add_parser(verb, help=text).add_argument("prefix", metavar="PREFIX", help="its path, without ending")
    share = verbs.add_parser("share", help="the whole set-up as one line, for others to begin from; or take such a line")
    share.add_argument("setup", nargs="?", metavar="SETUP", help="what another has shared, in single quotes")
    run = verbs.add_parser("run", help="run a TF1-style program, a process per ps and worker; %%%%pslab run takes the cell as the program")
    run.add_argument("--ps", type=natural, metavar="N", default=1, help="parameter servers (1)")
    run.add_argument("--workers", type=count, metavar="N", default=2, help="workers (2)")
    run.add_argument("--tensorflow", action="store_true", help="let 'import tensorflow' in it mean pslab")
    run.add_argument("words", nargs=argparse.REMAINDER, metavar="SCRIPT ARGS", help="the program and its arguments; of a cell, -- ARGS")
    on = verbs.add_parser("on", help="run a cell (%%%%pslab on TASK) in a task's own process, where tf, cluster, server and task_index are there")
    on.add_argument("where", metavar="TASK", help="worker for each of them, or such as worker:1, or client")
    on.add_argument("--anew", action="store_true", help="forget the names and the graph of the cells before")
    for verb, text in _PLAIN.items():
        verbs.add_parser(verb, help=text)
    return parser


def _add_trajectories(trajectories: argparse.ArgumentParser) -> None:
    trajectories.add_argument("path", nargs="?", metavar="FILE", help="write the picture there too")
    trajectories.add_argument("--live", action="store_true", help="in a widget, while it trains")
    trajectories.add_argument("--looks", type=count, metavar="N", default=40, help="how often to look (40)")
    trajectories.add_argument("--every", type=count, metavar="N", default=1, help="updates between two looks (1)")
    trajectories.add_argument("--directions", choices=[str(d) for d in Directions], default="pca", help="in which plane (pca)")
    trajectories.add_argument("--seed", type=natural, metavar="N", default=0, help="seed of random directions (0)")


_PICTURES = {
    "plot": "draw loss, divergence, bytes and time",
    "timeline": "trace one step, and draw what each task did meanwhile",
    "divergence": "how far the replicas are from the ps and from each other, and draw how it came to that",
}
_PLAIN = {
    "race": "step through the training message by message, drawn",
    "pause": "let no further update begin",
    "resume": "go on",
    "stop": "end the training; the parameters stay",
    "status": "how the training fares",
    "cost": "a step, predicted and measured, and what makes it take so long",
    "merge-gap": "what averaging the replicas does to the loss on the test set",
    "evaluate": "loss and metrics on the test set",
    "reset": "back to the initial parameters",
    "placement": "the device of each op",
}


def _add_data(data: argparse.ArgumentParser) -> None:
    data.add_argument("source", nargs="+", metavar="NAME", help="digits, the names of two arrays, or the URL of files, such as s3://bucket/*.parquet")
    data.add_argument("--label", metavar="COLUMN", help="of files: the column of the targets")
    data.add_argument("--classes", type=count, metavar="N", help="of files: how many classes there are (as many as the first file has)")
    data.add_argument("--reading", choices=[str(r) for r in Reading], default="feeding", help="how examples come to the workers (feeding)")
    data.add_argument("--batch", type=count, metavar="N", nargs="+", default=[64], help="examples per step, of all workers or of each (64)")
    data.add_argument("--shares", type=fraction, metavar="F", nargs="+", help="the part of the examples that each worker has as its own")
    data.add_argument("--passes", type=count, metavar="N", help="how often a worker goes through its examples (for ever)")
    data.add_argument("--seed", type=natural, metavar="N", default=0, help="seed of the order of the examples (0)")


def _add_cluster(cluster: argparse.ArgumentParser) -> None:
    actions = cluster.add_subparsers(dest="action", required=True, parser_class=Parser)
    start = actions.add_parser("start", help="bring a cluster up")
    start.add_argument("--ps", type=count, metavar="N", default=1, help="parameter servers (1)")
    start.add_argument("--workers", type=count, metavar="N", default=2, help="workers (2)")
    hosting = start.add_mutually_exclusive_group()
    hosting.add_argument(
        "--threads", action="store_false", dest="processes", default=None, help="tasks as threads of one process, for small machines"
    )
    hosting.add_argument(
        "--processes", action="store_true", dest="processes", default=None, help="a process per task; if neither is said, the memory decides"
    )
    start.add_argument("--address", metavar="A", help="a Dask scheduler that is running already")
    start.add_argument("--memory-limit", metavar="SIZE", help="what all tasks together may use, such as 2GB")
    scale = actions.add_parser("scale", help="change the number of tasks")
    scale.add_argument("--ps", type=count, metavar="N", help="parameter servers (as many as there are)")
    scale.add_argument("--workers", type=count, metavar="N", help="workers (as many as there are)")
    kill = actions.add_parser("kill", help="end a task's process, as a crash would")
    kill.add_argument("task", metavar="TASK", help="such as worker:1")
    actions.add_parser("status", help="who is where, and what the links are like")
    link = actions.add_parser("link", help="make the links between tasks slow; what is not said is as fast as it goes")
    link.add_argument("between", nargs="*", metavar="TASK", help="two tasks whose link alone is changed (all links)")
    link.add_argument("--bandwidth", metavar="B", help="of each task's port, such as 100Mbit; of one link, of its own cable")
    link.add_argument("--latency", metavar="T", help="of each message, such as 1ms")
    link.add_argument("--jitter", metavar="T", help="mean of what comes on top of the latency, such as 200us")
    link.add_argument("--duplex", choices=["full", "half"], help="whether a port sends and receives at the same time (full)")
    unlink = actions.add_parser("unlink", help="make the links as fast as they go again")
    unlink.add_argument("between", nargs="*", metavar="TASK", help="two tasks whose link alone is changed (all links)")
    slow = actions.add_parser("slow", help="let a worker be slower in each step of training; also while it trains")
    slow.add_argument("task", metavar="TASK", help="such as worker:1")
    slow.add_argument("--delay", type=duration, metavar="TIME", required=True, help="such as 50ms or 1.5s; 0 takes it away")
    slow.add_argument("--distribution", choices=list(DISTRIBUTIONS), default="constant", help="TIME is its mean, of pareto the least (constant)")
    slow.add_argument("--shape", type=positive, metavar="F", help="pareto: how fast the tail falls (1.5)")
    actions.add_parser("stop", help="take the cluster down")


def _add_log_and_replay(verbs: Any) -> None:
    log = verbs.add_parser("log", help="the order of all updates: what is in it, and to keep it in a file")
    log.add_argument("path", nargs="?", metavar="FILE", help="write it there")
    replay = verbs.add_parser("replay", help="train once more as a log says, bit for bit, on tasks of its own; the training goes on meanwhile")
    replay.add_argument("source", metavar="FILE", help="what %%pslab log has written; - for the present training's")
    replay.add_argument("--until", type=natural, metavar="STEP", help="a global step in the middle (the last)")


def _add_sweep(sweep: argparse.ArgumentParser) -> None:
    sweep.add_argument(
        *("--over", "-o"), action="append", required=True, metavar="SETTING=V,V", help="values of a setting; several: each combination of them"
    )
    sweep.add_argument("--until", "-u", action="append", required=True, metavar="END=V", help="accuracy, loss, steps or seconds; which comes first")
    sweep.add_argument("--seeds", type=count, metavar="N", default=3, help="runs of each combination (3)")
    sweep.add_argument("--seed", type=natural, metavar="N", default=0, help="the first seed (0)")
    kept = sweep.add_mutually_exclusive_group()
    kept.add_argument("--path", metavar="DIRECTORY", help="keep it there; what is there already is gone on with")
    kept.add_argument("--resume", action="store_true", help="go on with the last one, which was interrupted")


def verbs_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of a parser's verbs, by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def parse(line: str) -> argparse.Namespace:
    """What a line asks for.

    Returns:
        The values by name. ``verb`` is None where help is asked for, or nothing; ``help`` is then the text to show.

    Raises:
        UsageError: it cannot be meant.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"cannot read the line: {str(error).lower()}", "close the quote, or put a lone one in quotes") from None
    try:
        return build_parser().parse_args(words or ["--help"])
    except _HelpAsked as asked:
        return argparse.Namespace(verb=None, help=str(asked))
