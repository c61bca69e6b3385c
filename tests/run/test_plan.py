"""Each task is told who it is, and who the others are, in both ways that programs ask."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pslab.run.plan import plan_tasks


def test_a_task_knows_itself_and_the_others() -> None:
    plans = plan_tasks({"ps": ["h:1"], "worker": ["h:2", "h:3"]}, ["--rate", "0.1"])
    assert [plan.name for plan in plans] == ["ps:0", "worker:0", "worker:1"]
    last = plans[-1]
    assert last.arguments == ("--rate", "0.1", "--job_name=worker", "--task_index=1", "--ps_hosts=h:1", "--worker_hosts=h:2,h:3")
    assert json.loads(last.environment["TF_CONFIG"]) == {"cluster": {"ps": ["h:1"], "worker": ["h:2", "h:3"]}, "task": {"type": "worker", "index": 1}}


def test_without_ps_there_is_no_such_job() -> None:
    (plan,) = plan_tasks({"ps": [], "worker": ["h:1"]}, [])
    assert json.loads(plan.environment["TF_CONFIG"])["cluster"] == {"worker": ["h:1"]}
    assert "--ps_hosts=" in plan.arguments


def test_modules_are_imported_from_further_directories(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "/theirs")
    (plan,) = plan_tasks({"worker": ["h:1"]}, [], [Path("/ours")])
    assert plan.environment["PYTHONPATH"] == "/ours:/theirs"
    assert "PYTHONPATH" not in plan_tasks({"worker": ["h:1"]}, [])[0].environment
