"""What is told: everything at first, then what has changed; the mode is followed, and what has gone lights up."""

from __future__ import annotations

import threading

import pytest

import pslab as tf
from pslab.lab.graph_view.watch import ENOUGH, Watch


@pytest.fixture
def lab():
    lab = tf.Lab()
    lab.data("digits")
    lab.model("mlp", hidden=[16])
    yield lab
    lab.cluster.stop()


def test_everything_is_told_once_and_anew_where_someone_has_come(lab) -> None:
    watch = Watch(lab, lab._job_or_sketch)
    first = watch.next(0.0)
    assert first["scene"]["mode"] == "between-graph async"
    assert first["state"]["training"] == "idle"
    assert watch.next(0.1) == {}
    watch.begin_anew()
    assert set(watch.next(0.2)) == {"scene", "state"}


def test_a_lab_whose_model_nobody_chose_has_the_same_graph_at_each_look() -> None:
    lab = tf.Lab()
    watch = Watch(lab, lab._job_or_sketch)
    assert "scene" in watch.next(0.0)
    assert [watch.next(0.1 * look) for look in (1, 2, 3)] == [{}, {}, {}]


def test_scopes_open_and_fold(lab) -> None:
    watch = Watch(lab, lab._job_or_sketch)
    watch.next(0.0)
    watch.open("gradients/MatMul_grad")
    assert watch.next(0.1)["scene"]["open"] == ["gradients", "gradients/MatMul_grad"]
    watch.close("gradients")
    assert watch.next(0.2)["scene"]["open"] == []
    watch.unfold()
    assert watch.next(0.3)["scene"]["closed"] == []
    watch.fold()
    assert watch.next(0.4)["scene"]["open"] == []


def test_a_training_lights_its_messages_is_weighed_and_its_change_of_mode_is_followed(lab) -> None:
    lab.cluster.start(ps=1, workers=2, processes=False)
    watch = Watch(lab, lab._job_or_sketch)
    lab.train(4, wait=True)
    assert "lit" not in watch.next(0.0), "what went before nobody has seen"
    lab.train(2 * ENOUGH, wait=True)
    told = watch.next(1.0)
    assert set(told["lit"]) <= {0, 1}
    assert told["lit"]
    assert told["scene"]["measured"]
    assert told["state"]["step"] == 4 + 2 * ENOUGH
    lab.mode(update=tf.Sync())
    told = watch.next(2.0)
    assert told["scene"]["mode"] == "between-graph sync"
    assert not told["scene"]["measured"]
    lab.train(4, wait=True)
    assert 2 in watch.next(3.0)["lit"], "the chief's messages"


def test_ops_of_a_ready_made_model_tell_its_line_where_no_user_is_on_the_stack(lab) -> None:
    watch = Watch(lab, lab._job_or_sketch)
    for clock in (0.0, 1.0):
        thread = threading.Thread(target=watch.next, args=(clock,))
        thread.start()
        thread.join()
        watch.unfold()
    watch.next(2.0)
    (relu,) = [
        {name: value for name, value, _ in n["facts"]} for n in watch.scene["nodes"] if n["title"] == "hidden_0/Relu" and n["task"] == "worker:0"
    ]
    assert relu["built at"].rpartition(":")[0].endswith("pslab/train/models.py")
    assert "relu(" in relu["source"]


def test_in_another_language_all_is_told_anew_and_what_is_open_stays_so(lab, request) -> None:
    watch = Watch(lab, lab._job_or_sketch)
    watch.next(0.0)
    watch.open("gradients")
    english = watch.next(0.1)["scene"]
    request.getfixturevalue("chinese")
    told = watch.next(0.2)["scene"]
    assert [node["key"] for node in told["nodes"]] == [node["key"] for node in english["nodes"]]
    assert told["open"] == english["open"] == ["gradients"]
    assert {node["facts"][0][0] for node in told["nodes"]} == {"任务", "来自"}
    assert watch.words == "between-graph async 的计算图，2 个 worker，1 个 ps"
    assert watch.next(0.3) == {}
