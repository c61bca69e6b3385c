"""Flags, parsed at their first use."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pslab.compat import flags
from pslab.compat.flags import FlagValues


def run(program: str, *arguments: str, status: int = 0) -> str:
    """What a program prints that has ``flags``, in a process of its own: flags are its own and it is parsed once."""
    done = subprocess.run(
        [sys.executable, "-c", f"from pslab.compat import flags\nFLAGS = flags.FLAGS\n{program}", *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == status, done.stderr
    return (done.stdout + done.stderr).strip()


@pytest.fixture
def values(monkeypatch: pytest.MonkeyPatch) -> FlagValues:
    """Fresh flags that the ``DEFINE`` functions define into."""
    fresh = FlagValues()
    monkeypatch.setattr(flags, "FLAGS", fresh)
    return fresh


def test_each_kind(values: FlagValues, monkeypatch: pytest.MonkeyPatch) -> None:
    flags.DEFINE_string("job_name", "", "help")
    flags.DEFINE_integer("task_index", None, "help")
    flags.DEFINE_float("rate", 0.1, "help")
    flags.DEFINE_boolean("sync", False, "help")
    flags.DEFINE_bool("shuffle", True, "help")
    flags.DEFINE_bool("deep", False, "help")
    flags.DEFINE_enum("mode", "train", ["train", "test"], "help")
    flags.DEFINE_list("hosts", [], "help")
    flags.DEFINE_multi_integer("layer", [1], "help")
    command = [
        "p",
        "--job_name=ps",
        "--task_index",
        "2",
        "--rate=1e-3",
        "--sync",
        "--noshuffle",
        "--deep=True",
        "--hosts=a,b",
        "--layer=3",
        "--layer=4",
    ]
    monkeypatch.setattr(sys, "argv", command)
    assert [values[n].value for n in ("job_name", "task_index")] == ["", None]
    assert (values.job_name, values.task_index, values.rate) == ("ps", 2, 1e-3)
    assert (values.sync, values.shuffle, values.deep) == (True, False, True)
    assert (values.mode, values.hosts, values.layer) == ("train", ["a", "b"], [3, 4])


def test_the_first_use_parses(values: FlagValues, monkeypatch: pytest.MonkeyPatch) -> None:
    flags.DEFINE_integer("steps", 5, "help")
    monkeypatch.setattr(sys, "argv", ["p", "--steps=7"])
    assert not values.is_parsed()
    assert values.steps == 7
    assert values.is_parsed()


def test_a_flag_that_is_defined_after_the_first_use_has_its_default_until_all_are_parsed(values: FlagValues, monkeypatch: pytest.MonkeyPatch) -> None:
    flags.DEFINE_integer("steps", 5, "help")
    monkeypatch.setattr(sys, "argv", ["p", "--steps=7", "--late=3"])
    assert values.steps == 7
    flags.DEFINE_integer("late", 1, "help")
    assert values.late == 1
    values(sys.argv)  # as app.run does
    assert values.late == 3


def test_a_flag_may_be_set(values: FlagValues, monkeypatch: pytest.MonkeyPatch) -> None:
    flags.DEFINE_string("log_dir", "/a", "help")
    monkeypatch.setattr(sys, "argv", ["p"])
    values.log_dir = "/b"
    assert values.log_dir == "/b"


def test_the_keywords_of_before_absl(values: FlagValues, monkeypatch: pytest.MonkeyPatch) -> None:
    flags.DEFINE_integer(flag_name="steps", default_value=5, docstring="How many")
    monkeypatch.setattr(sys, "argv", ["p"])
    assert values.steps == 5
    assert "How many" in values.get_help()


def test_a_flag_that_is_not_there_names_those_that_are(values: FlagValues, monkeypatch: pytest.MonkeyPatch) -> None:
    flags.DEFINE_integer("steps", 5, "help")
    monkeypatch.setattr(sys, "argv", ["p"])
    with pytest.raises(AttributeError, match="no flag --step; it has: steps"):
        values.step  # noqa: B018


def test_a_flag_is_defined_once(values: FlagValues) -> None:
    flags.DEFINE_string("data_dir", "/a", "help")
    with pytest.raises(flags.DuplicateFlagError):
        flags.DEFINE_string("data_dir", "/b", "help")


def test_validators_and_required_flags(values: FlagValues, monkeypatch: pytest.MonkeyPatch) -> None:
    flags.DEFINE_integer("steps", 5, "help")
    flags.DEFINE_string("job_name", None, "help")
    flags.register_validator("steps", lambda n: n > 0, message="must be positive")
    flags.mark_flag_as_required("job_name")
    with pytest.raises(flags.IllegalFlagValueError, match="job_name"):
        values(["p", "--steps=1"])
    with pytest.raises(flags.IllegalFlagValueError, match="must be positive"):
        values(["p", "--steps=0", "--job_name=ps"])
    assert values(["p", "--steps=1", "--job_name=ps", "rest"]) == ["p", "rest"]


def test_what_other_tasks_are_told_is_left_alone_and_log_dir_is_the_programs() -> None:
    program = "flags.DEFINE_string('log_dir', '', '')\nprint(FLAGS.log_dir, FLAGS._parse_flags())"
    assert run(program, "--ps_hosts=a:1", "--log_dir=/logs", "rest").split(" ", 1)[0] == "/logs"


def test_old_programs_parse_by_hand() -> None:
    program = "flags.DEFINE_integer('n', 1, '')\nprint(FLAGS._parse_flags(['--n=4', 'rest']), FLAGS.n)"
    assert run(program) == "['rest'] 4"


def test_a_value_that_is_none_of_its_kind() -> None:
    printed = run("flags.DEFINE_integer('n', 1, '')\nprint(FLAGS.n)", "--n=many", status=1)
    assert "IllegalFlagValueError: flag --n=many: invalid literal for int()" in printed
