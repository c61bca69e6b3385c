"""The grammar of ``%pslab``."""

from __future__ import annotations

import argparse
import difflib
import shlex
from typing import Any, NoReturn

from pslab.errors import UsageError
from pslab.train.model import OPTIMIZERS
from pslab.train.strategy import Replication


class HelpAsked(Exception):
    """``--help`` was given; the argument is the text to show."""


class Parser(argparse.ArgumentParser):
    """Raises `UsageError` where argparse would end the process, and `HelpAsked` for ``--help``."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options, add_help=False, allow_abbrev=False)
        self.add_argument("--help", "-h", action=_Help, nargs=0, help="show this")

    def error(self, message: str) -> NoReturn:
        """Raise what is wrong, with the usage."""
        usage = " ".join(self.format_usage().split()).removeprefix("usage: ")
        raise UsageError(f"{message[:1].upper()}{message[1:]}", usage)

    def exit(self, status: int = 0, message: str | None = None) -> NoReturn:
        """Never ends the kernel."""
        raise UsageError(message or "that cannot be meant")


class _Help(argparse.Action):
    def __call__(self, parser: argparse.ArgumentParser, *_: Any) -> None:
        raise HelpAsked(parser.format_help())


def count(text: str) -> int:
    """A whole number from 1 on."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number, 1 or more; found {text!r}")
    return number


def build_parser() -> Parser:
    """The parser of all verbs."""
    parser = Parser(prog="%pslab", description="Distributed training, to be watched: a cluster, a model, a mode, and what they do.")
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", parser_class=Parser)
    _add_cluster(verbs.add_parser("cluster", help="start, scale, hurt and stop the cluster"))
    data = verbs.add_parser("data", help="choose the data: digits, or two arrays x y")
    data.add_argument("source", nargs="+", metavar="NAME", help="digits, or the names of two arrays")
    data.add_argument("--batch", type=count, default=64, help="examples per worker and step (64)")
    data.add_argument("--seed", type=int, default=0, help="seed of the order of the examples (0)")
    model = verbs.add_parser("model", help="choose the model: mlp, logistic, or a function of yours")
    model.add_argument("source", metavar="NAME", help="mlp, logistic, or the name of a function (x, y) -> (loss, metrics)")
    model.add_argument("--hidden", type=count, nargs="+", default=[128], help="widths of the MLP's hidden layers (128)")
    model.add_argument("--optimizer", choices=OPTIMIZERS, default="sgd", help="(sgd)")
    model.add_argument("--lr", type=float, default=0.1, help="learning rate (0.1)")
    model.add_argument("--seed", type=int, default=0, help="seed of the initial parameters (0)")
    mode = verbs.add_parser("mode", help="choose how the replicas work together; also while they train")
    mode.add_argument("--replication", choices=[str(r) for r in Replication], help="who builds the graph: each worker, or one client")
    mode.add_argument("--update", choices=["sync", "async"], help="when gradients are applied")
    mode.add_argument("--backup", type=int, default=0, help="sync: how many of the slowest workers to do without (0)")
    train = verbs.add_parser("train", help="make updates, in the background")
    train.add_argument("--steps", type=count, default=500, help="how many (500)")
    train.add_argument("--wait", action="store_true", help="come back when they are made")
    step = verbs.add_parser("step", help="make so many updates, and be paused")
    step.add_argument("n", type=count, nargs="?", default=1, help="how many (1)")
    plot = verbs.add_parser("plot", help="draw loss, divergence, bytes and time")
    plot.add_argument("path", nargs="?", metavar="FILE", help="write the picture there too")
    predict = verbs.add_parser("predict", help="the model's outputs for examples of the test set")
    predict.add_argument("n", type=count, nargs="?", default=10, help="how many (10)")
    for verb, text in (("save", "write a checkpoint"), ("restore", "go back to a checkpoint")):
        verbs.add_parser(verb, help=text).add_argument("prefix", metavar="PREFIX", help="its path, without ending")
    for verb, text in _PLAIN.items():
        verbs.add_parser(verb, help=text)
    return parser


_PLAIN = {
    "pause": "let no further update begin",
    "resume": "go on",
    "stop": "end the training; the parameters stay",
    "status": "how the training fares",
    "evaluate": "loss and metrics on the test set",
    "reset": "back to the initial parameters",
    "graph": "which task runs which ops, and what travels between them",
    "placement": "the device of each op",
}


def _add_cluster(cluster: argparse.ArgumentParser) -> None:
    actions = cluster.add_subparsers(dest="action", metavar="ACTION", required=True, parser_class=Parser)
    start = actions.add_parser("start", help="bring a cluster up")
    start.add_argument("--ps", type=count, default=1, help="parameter servers (1)")
    start.add_argument("--workers", type=count, default=2, help="workers (2)")
    start.add_argument("--threads", action="store_true", help="tasks as threads of one process, for small machines")
    start.add_argument("--address", help="a Dask scheduler that is running already")
    start.add_argument("--memory-limit", metavar="SIZE", help="what all tasks together may use, such as 2GB")
    scale = actions.add_parser("scale", help="change the number of tasks")
    scale.add_argument("--ps", type=count)
    scale.add_argument("--workers", type=count)
    kill = actions.add_parser("kill", help="end a task's process, as a crash would")
    kill.add_argument("task", metavar="TASK", help="such as worker:1")
    actions.add_parser("status", help="who is where")
    actions.add_parser("stop", help="take the cluster down")


def verbs_of(parser: argparse.ArgumentParser) -> dict[str, argparse.ArgumentParser]:
    """The parsers of a parser's verbs, by name."""
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return dict(action.choices)
    return {}


def parse(line: str) -> argparse.Namespace:
    """What a line asks for.

    Raises:
        UsageError: it cannot be meant.
        HelpAsked: it asks for help.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"cannot read the line: {str(error).lower()}", "close the quote") from None
    parser = build_parser()
    _check_verbs(parser, words)
    return parser.parse_args(words)


def _check_verbs(parser: argparse.ArgumentParser, words: list[str]) -> None:
    """Say which verbs there are, where one is not: argparse says it at length."""
    known = verbs_of(parser)
    if not words or not known or words[0] in known or words[0].startswith("-"):
        if words and words[0] in known:
            _check_verbs(known[words[0]], words[1:])
        return
    close = difflib.get_close_matches(words[0], known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"one of: {', '.join(known)}"
    raise UsageError(f"{parser.prog} has no {words[0]!r}", hint)
