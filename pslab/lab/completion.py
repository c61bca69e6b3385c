"""Tab completion of ``%pslab``."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from IPython.core.completer import CompletionContext, SimpleCompletion, SimpleMatcherResult, context_matcher
from IPython.core.getipython import get_ipython

from pslab.lab.lab import Lab
from pslab.lab.parser import build_parser, verbs_of
from pslab.lab.sweep_words import ENDS, suggestions
from pslab.train.models import NAMES


@context_matcher()
def pslab_matcher(context: CompletionContext) -> SimpleMatcherResult:
    """What may come next on a line that begins with ``%pslab``."""
    line = context.line_with_cursor[: context.cursor_position]
    words = line.split()
    if not words or words[0] not in ("%pslab", "%%pslab") or (len(words) == 1 and not line.endswith(" ")):
        return {"completions": []}
    typed = "" if line.endswith(" ") else words.pop()
    shell = get_ipython()
    found = candidates(words[1:], shell.user_ns if shell is not None else {})
    matches = [SimpleCompletion(text) for text in found if text.startswith(typed)]
    return {"completions": matches, "suppress": not _FILES.intersection(words[1:2]), "matched_fragment": typed}


_FILES = frozenset({"save", "restore", "plot", "run", "sweep", "log", "replay"})
"""Verbs that take the name of a file: IPython's own completions of these stay."""
_OPTION_VALUES: dict[tuple[str, str], Callable[[], Iterable[str]]] = {("sweep", "--over"): suggestions, ("sweep", "--until"): lambda: ENDS}
"""Words for options of verbs whose values are not a choice."""


def candidates(words: list[str], names: Mapping[str, Any]) -> list[str]:
    """All words that may follow ``words``.

    Args:
        words: what stands after ``%pslab``.
        names: the notebook's names.
    """
    parser: argparse.ArgumentParser = build_parser()
    used: list[str] = []
    for word in words:
        verbs = verbs_of(parser)
        if word in verbs:
            parser = verbs[word]
            used.append(word)
    if verbs := verbs_of(parser):
        return list(verbs)
    last = words[-1]
    for action in parser._actions:
        if last in action.option_strings and action.nargs != 0:
            return [str(choice) for choice in action.choices or _OPTION_VALUES.get((used[0], max(action.option_strings, key=len)), list)()]
    options = [max(a.option_strings, key=len) for a in parser._actions if a.option_strings]
    return [*_values(used, names), *(o for o in options if o not in words)]


def _values(verbs: list[str], names: Mapping[str, Any]) -> Iterable[str]:
    lab = names.get("lab")
    match verbs:
        case ["cluster", "kill" | "slow" as action] if isinstance(lab, Lab):
            return [*(f"ps:{i}" for i in range(lab.cluster.ps if action == "kill" else 0)), *(f"worker:{i}" for i in range(lab.cluster.workers))]
        case ["on"]:
            workers = lab.cluster.workers if isinstance(lab, Lab) else 0
            return ["worker", *(f"worker:{i}" for i in range(workers)), "client"]
        case ["replay"]:
            return ["-"]
        case ["model"]:
            mine = [n for n, v in names.items() if callable(v) and getattr(v, "__module__", "") == "__main__" and not n.startswith("_")]
            return [*NAMES, *mine]
        case ["data"]:
            return ["digits", *(n for n, v in names.items() if hasattr(v, "__array__") and not n.startswith("_"))]
    return ()
