"""The timeline: spans become bars, and what is drawn is what was traced."""

from __future__ import annotations

import pytest

from pslab import errors
from pslab.lab.timeline_figure import bars, timeline_figure
from pslab.runtime.tracing import Span
from pslab.train.camera import Shot, Timeline
from pslab.train.collective import Pipeline
from pslab.train.strategy import Strategy


def span(name: str, type: str, began: int, duration: int) -> Span:
    return Span(name, type, "", began, duration, 0)


STEP = Shot(
    {
        "worker:0": [
            span("microbatch_0/MatMul", "MatMul", 0, 100),
            span("microbatch_0/Add", "Add", 100, 50),
            span("microbatch_1/MatMul", "MatMul", 150, 100),
            span("worker:1 → worker:0: backward_1/x", "Recv", 250, 400),
            span("backward_1/MatMul_grad/MatMul", "MatMul", 650, 200),
            span("update_w/ApplyGradientDescent", "ApplyGradientDescent", 900, 100),
        ],
        "ps:0": [span("TryClaim", "TryClaim", 990, 10)],
    }
)
OTHER = Shot({"worker:1": [span("MatMul", "MatMul", 900, 300)]})


def test_spans_of_one_kind_and_microbatch_are_one_bar() -> None:
    found = [(bar.kind, bar.number, bar.began, bar.ended) for bar in bars(STEP.spans["worker:0"], gap=10)]
    assert found == [
        ("forward", 0, 0, 150),
        ("forward", 1, 150, 250),
        ("receive", 1, 250, 650),
        ("backward", 1, 650, 850),
        ("update", -1, 900, 1000),
    ]


def test_a_timeline_is_one_step_of_one_and_what_all_did_meanwhile() -> None:
    timeline = Timeline.of([STEP], [STEP, OTHER])
    assert (timeline.began, timeline.ended) == (0, 1000)
    assert [s.duration for s in timeline.spans["worker:1"]] == [100]
    assert timeline.busy("worker:0") == pytest.approx(0.55)
    assert timeline.busy("worker:1") == pytest.approx(0.1)
    assert timeline.busy("worker:9") == 0
    with pytest.raises(errors.FailedPreconditionError, match="no step was made while it was traced"):
        Timeline.of([], [OTHER])


def test_the_figure_has_a_band_per_task_its_idle_share_and_the_bubble_of_theory() -> None:
    figure = timeline_figure(Timeline.of([STEP], [STEP, OTHER]), Strategy("in-graph", Pipeline(2)))
    (ax,) = figure.axes
    assert [t.get_text() for t in ax.get_yticklabels()] == ["worker:0", "worker:1", "ps:0"]
    words = [t.get_text() for t in ax.texts]
    assert [w for w in words if w.startswith("idle")] == ["idle 45%", "idle 90%", "idle 99%"]
    assert {"F0", "F1", "B1"} <= set(words)
    assert "bubble in theory 33%" in ax.get_title(loc="left")
    assert [t.get_text() for t in figure.legends[0].get_texts()] == ["forward", "backward", "update", "receive"]
