"""The picture: nothing on top of another thing, replicas alike, the same each time."""

from __future__ import annotations

import itertools
import json
import re
from xml.etree import ElementTree

import pytest

from pslab.lab.graph_view.folding import Scopes
from pslab.lab.graph_view.scene import HEIGHT, THICKEST, Told, scene_of
from pslab.lab.graph_view.still import Still, svg_of
from tests.lab.graph_view.graphs import MODES, parts, steps


def told(node: dict) -> dict[str, str]:
    return {name: value for name, value, _ in node["facts"]}


def scene(mode: str, ps: int = 1, workers: int = 2, opened=None) -> dict:
    scopes = Scopes(parts(mode, ps, workers))
    return scene_of(scopes.fold(scopes.at_a_glance() if opened is None else opened), Told(steps(mode)[0].graph.gradient_ops, False))


@pytest.mark.parametrize("everything", [False, True])
@pytest.mark.parametrize("mode", MODES)
def test_nodes_do_not_meet_and_lie_in_their_tasks_band(mode, everything) -> None:
    picture = scene(mode, opened=Scopes(parts(mode)).all if everything else ())
    for a, b in itertools.combinations(picture["nodes"], 2):
        assert abs(a["x"] - b["x"]) >= (a["w"] + b["w"]) / 2 or abs(a["y"] - b["y"]) >= HEIGHT, (a["title"], b["title"])
    bands = {band["task"]: band for band in picture["bands"]}
    for node in picture["nodes"]:
        band = bands[node["task"]]
        assert band["x"] <= node["x"] - node["w"] / 2 and node["x"] + node["w"] / 2 <= band["x"] + band["width"]
    assert all(a["x"] + a["width"] < b["x"] for a, b in itertools.pairwise(picture["bands"]))


def test_the_same_op_lies_at_the_same_place_in_each_workers_band() -> None:
    picture = scene("async", ps=2, workers=3)
    left = {band["task"]: band["x"] for band in picture["bands"]}
    assert list(left) == ["ps:0", "ps:1", "worker:0", "worker:1", "worker:2"]
    places = [
        {n["title"]: (round(n["x"] - left[n["task"]], 6), n["y"]) for n in picture["nodes"] if n["task"] == task and n["kind"] in ("op", "fed")}
        for task in ("worker:0", "worker:1", "worker:2")
    ]
    assert places[0] == places[1] == places[2]
    assert places[0]


@pytest.mark.parametrize("mode", MODES)
def test_messages_go_between_layers_and_do_not_run_behind_nodes(mode) -> None:
    picture = scene(mode)
    for edge in picture["edges"]:
        if edge["flow"] != "message":
            continue
        points = list(zip(edge["path"][::2], edge["path"][1::2], strict=True))
        for (x0, y0), (x1, y1) in itertools.pairwise(points):
            for number, node in enumerate(picture["nodes"]):
                if number not in (edge["source"], edge["target"]) and y0 == y1:
                    across = min(x0, x1) < node["x"] + node["w"] / 2 and node["x"] - node["w"] / 2 < max(x0, x1)
                    assert not (across and abs(node["y"] - y0) < HEIGHT / 2), (mode, node["title"])


def test_messages_are_as_wide_as_their_bytes() -> None:
    picture = scene("in-graph sync")
    messages = [edge for edge in picture["edges"] if edge["flow"] == "message"]
    assert max(edge["width"] for edge in messages) == THICKEST
    one, other = messages[0], min(messages, key=lambda edge: edge["bytes"])
    assert (one["width"] - other["width"]) * picture["most"] == pytest.approx((THICKEST - 1.5) * (one["bytes"] - other["bytes"]), rel=1e-6)


def test_it_is_the_same_each_time_and_fits_json() -> None:
    assert json.dumps(scene("sync")) == json.dumps(scene("sync"))


def test_an_op_tells_what_it_is() -> None:
    picture = scene("async", opened=Scopes(parts("async")).all)
    (relu,) = [told(node) for node in picture["nodes"] if node["title"] == "hidden_0/Relu" and node["task"] == "worker:1"]
    assert relu["type"] == "Relu"
    assert "/task:1" in relu["device"]
    assert relu["output"] == "[?, 32] float32"
    assert relu["gradient"] == "gradients/Relu_grad/ReluGrad"
    assert relu["takes"] == "hidden_0/Add_1:0"
    (push,) = [told(node) for node in picture["nodes"] if node["kind"] == "send" and node["task"] == "worker:0"]
    assert (push["from"], push["to"]) == ("worker:0", "ps:0")
    assert re.fullmatch(r"[\d,]+ \(from static shapes\)", push["bytes"])
    assert push["tensors"] == "gradient/0:0, gradient/1:0, gradient/2:0, gradient/3:0"


def test_the_still_picture_has_all_of_it() -> None:
    picture = scene("async")
    root = ElementTree.fromstring(svg_of(picture))
    words = {"".join(text.itertext()) for text in root.iter("{http://www.w3.org/2000/svg}text")}
    assert words >= {node["soft"] + node["label"] for node in picture["nodes"]}
    assert len(list(root.iter("{http://www.w3.org/2000/svg}path"))) == len(picture["edges"])
    assert "pslab-snapshot" in Still(picture, "a <b>")._repr_html_()
    assert "<b>" not in Still(picture, "a <b>")._repr_html_()
    assert "img" not in Still(None, "")._repr_html_()


def latin(words: str) -> set[str]:
    """Its words in Latin letters, but for names of tasks and ops."""
    return set(re.findall(r"[A-Za-z]{2,}", words)) - {"worker", "ps", "client", "op", "chief"}


@pytest.mark.parametrize("mode", MODES)
def test_in_chinese_nothing_is_told_in_english_and_all_of_it_has_room(mode, chinese) -> None:
    picture = scene(mode, opened=Scopes(parts(mode)).all)
    said = {name for node in picture["nodes"] for name, _, _ in node["facts"]}
    assert {word for name in said for word in latin(name)} == set()
    values = {value for node in picture["nodes"] for name, value, _ in node["facts"] if name in ("字节数", "状态")}
    assert any("按静态形状估算" in value for value in values)
    messages = [node for node in picture["nodes"] if node["kind"] in ("send", "receive")]
    assert {word for node in messages for word in latin(node["soft"] + node["title"])} == set()
    for node in messages:
        assert node["w"] >= sum(11 if letter > "\u2e7f" else 6 for letter in node["soft"] + node["label"])


def test_the_still_pictures_words_are_those_of_the_language(chinese) -> None:
    assert "可打开实时视图" in Still(scene("async"), "…")._repr_html_()
