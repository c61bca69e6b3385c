"""The picture of a graph: every op once, every dependency downwards, nothing on top of another thing."""

from __future__ import annotations

import itertools

import pytest

import pslab as tf
from pslab.graph.partition import partition
from pslab.graph.plan import StepPlan
from pslab.lab.graph_figure import graph_figure, shorten
from pslab.lab.graph_lanes import lanes
from pslab.lab.graph_layout import WIDEST, lay_out
from pslab.train.strategy import ALL_MODES


@pytest.fixture(scope="module", params=ALL_MODES, ids=str)
def plan(request) -> StepPlan:
    lab = tf.Lab()
    lab.data("digits")
    lab.model("mlp", hidden=[32])
    lab.mode(request.param)
    return lab.graph()


def nodes(plan: StepPlan):
    return [(part.task, node) for part in plan.partitions.values() for stage in part.stages for node in (*stage.nodes, *stage.waits)]


def test_each_op_has_a_box_in_its_tasks_band(plan) -> None:
    boxes = lay_out(plan).boxes
    assert sorted(box.key for box in boxes if box.type is not None) == sorted((task, node.name) for task, node in nodes(plan))
    fed = {(part.task, name.rpartition(":")[0]) for part in plan.partitions.values() for name in part.feeds}
    assert {box.key for box in boxes if box.type is None} == fed
    returned = {name.rpartition(":")[0] for part in plan.partitions.values() for name in part.fetches}
    assert {box.name for box in boxes if box.fetched} == returned


def test_dependencies_run_downwards_and_lines_are_not_too_full(plan) -> None:
    layout = lay_out(plan)
    line = {box: number for lines in layout.bands.values() for number, boxes in enumerate(lines) for box in boxes}
    assert all(line[edge.source] < line[edge.destination] for edge in layout.edges)
    assert max(len(boxes) for lines in layout.bands.values() for boxes in lines) <= WIDEST
    assert len({len(lines) for lines in layout.bands.values()}) == 1


def test_each_tensor_that_is_taken_has_an_edge_and_each_wait_is_implied(plan) -> None:
    edges = lay_out(plan).edges
    drawn = {(edge.source.name, edge.destination.name) for edge in edges}
    reached: dict[str, set[str]] = {}
    for source, destination in drawn:
        reached.setdefault(destination, set()).add(source)

    def comes_before(name: str) -> set[str]:
        return set().union(*({s} | comes_before(s) for s in reached.get(name, ())))

    for _, node in nodes(plan):
        before = comes_before(node.name)
        taken = {tensor.rpartition(":")[0] for tensor in node.inputs}
        assert all((name, node.name) in drawn for name in taken)
        assert before >= {name for name in node.controls if name in {n.name for _, n in nodes(plan)}}


def test_all_that_crosses_is_drawn_as_crossing(plan) -> None:
    drawn = {(edge.source.task, edge.destination.task) for edge in lay_out(plan).edges if edge.cut}
    assert drawn <= {(cut.source, cut.destination) for cut in plan.cuts}
    assert drawn >= {(cut.source, cut.destination) for cut in plan.cuts if cut.tensors}


def test_edges_of_two_boxes_never_share_a_stretch_of_a_lane(plan) -> None:
    layout = lay_out(plan)
    line = {box: number for lines in layout.bands.values() for number, boxes in enumerate(lines) for box in boxes}
    for (one, lane), (other, its) in itertools.combinations(lanes(layout).items(), 2):
        if lane == its and one.source.task == other.source.task and one.source != other.source:
            assert line[one.destination] <= line[other.source] or line[other.destination] <= line[one.source]


def test_boxes_and_words_do_not_meet_and_words_fit(plan) -> None:
    figure = graph_figure(plan)
    figure.draw_without_rendering()
    ax = figure.axes[0]
    boxes = [patch.get_window_extent() for patch in ax.patches if patch.get_zorder() == 3]
    assert len(boxes) == len(lay_out(plan).boxes)
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    words = [(text.get_text(), text.get_window_extent()) for text in ax.texts]
    assert [(a, b) for (a, one), (b, other) in itertools.combinations(words, 2) if one.overlaps(other)] == []
    inside = [any(box.x0 <= w.x0 and w.x1 <= box.x1 and box.y0 <= w.y0 and w.y1 <= box.y1 for box in boxes) for _, w in words]
    assert inside.count(False) == 1 + len(lay_out(plan).bands)  # the title, and the tasks' names
    legend = ax.get_legend().get_window_extent()
    assert legend.x0 >= 0 and legend.x1 <= figure.bbox.x1
    assert min(text.get_fontsize() for text in ax.texts) >= 10


def test_a_plan_without_ops_says_so() -> None:
    figure = graph_figure(partition([], {}, master="worker:0", fetches=[], feeds=[]))
    assert "nothing to run" in [text.get_text() for text in figure.axes[0].texts]


def test_a_long_name_keeps_its_beginning_and_its_end() -> None:
    assert shorten("Relu", 1.4) == "Relu"
    short = shorten("SparseSoftmaxCrossEntropyWithLogits", 1.4)
    assert short.startswith("Sparse") and short.endswith("Logits") and "…" in short
