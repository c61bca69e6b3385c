"""The command line: ``pslab demo``, ``pslab lab`` and ``pslab run``."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from pslab.errors import PslabError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; returns the exit status: 0 if all went well, 1 for an error, 2 for a call that cannot be meant, 130 for Ctrl-C."""
    try:
        options = _parser().parse_args(arguments)
        return _COMMANDS[options.command](options)
    except (PslabError, OSError) as error:  # the latter such as a disk that is full, which what is printed goes to
        print(f"pslab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\npslab: interrupted; everything that was started has ended", file=sys.stderr)
        return 130


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="pslab", description="Learn how distributed training works, by doing it.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    demo = commands.add_parser("demo", help="train the digits in four modes on a local cluster, and compare them")
    demo.add_argument("--ps", type=_positive, default=1, help="parameter servers (default: 1)")
    demo.add_argument("--workers", type=_positive, default=2, help="workers (default: 2)")
    demo.add_argument("--steps", type=_positive, default=2000, help="updates per mode (default: 2000)")
    demo.add_argument("--out", type=Path, default=Path("pslab-demo"), metavar="DIR", help="where checkpoint and picture go (default: pslab-demo)")
    demo.add_argument("--json", type=Path, metavar="FILE", help="write the facts as JSON too")
    lab = commands.add_parser("lab", help="open the course in JupyterLab")
    lab.add_argument("notebook", nargs="?", default="00-quickstart", help="which notebook (default: 00-quickstart)")
    lab.add_argument("--directory", type=Path, help="where your copy of the course goes (default: pslab-notebooks)")
    lab.add_argument("--port", type=_positive, help="where it listens (default: the first that is free, from 8888 on)")
    lab.add_argument("--no-browser", action="store_true", help="only print the address")
    run = commands.add_parser("run", help="run a TF1-style program, a process per ps and worker")
    run.add_argument("--ps", type=_count, default=1, help="parameter servers (default: 1)")
    run.add_argument("--workers", type=_positive, default=2, help="workers (default: 2)")
    run.add_argument("--tensorflow", action="store_true", help="let 'import tensorflow' in the program mean pslab")
    run.add_argument("--address", metavar="SCHEDULER", help="start the processes on the workers of this Dask scheduler")
    run.add_argument("script", type=Path, metavar="SCRIPT", help="the program")
    own = run.add_argument("arguments", nargs=argparse.REMAINDER, metavar="ARGS", help="its own arguments")
    own.required = False  # what says that SCRIPT is missing would name it too
    return parser


def _count(text: str) -> int:
    if not text.isdigit():
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 on, found {text!r}")
    return int(text)


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 on, found {text!r}")
    return int(text)


def _demo(options: argparse.Namespace) -> int:
    from pslab.lab.demo import run_demo
    from pslab.lab.demo_report import DemoReport

    if options.json is not None and not options.json.resolve().parent.is_dir():
        print(f"pslab: there is no directory {options.json.resolve().parent} for --json", file=sys.stderr)
        return 2
    with DemoReport() as report:
        facts = run_demo(options.out, options.steps, options.ps, options.workers, report.progress)
    report.conclude(facts)
    if options.json is not None:
        options.json.write_text(facts.to_json())
    return 0 if facts.restored_accuracy == facts.saved_accuracy else 1


def _lab(options: argparse.Namespace) -> int:
    from pslab.lab.launch import open_course

    return open_course(options.notebook, browser=not options.no_browser, directory=options.directory, port=options.port)


def _run(options: argparse.Namespace) -> int:
    from pslab.run.launcher import run_on_dask, run_program

    if options.address is not None:
        return run_on_dask(options.address, options.script, options.arguments, options.ps, options.workers, options.tensorflow)
    return run_program(options.script, options.arguments, options.ps, options.workers, options.tensorflow)


_COMMANDS = {"demo": _demo, "lab": _lab, "run": _run}

if __name__ == "__main__":
    sys.exit(main())
