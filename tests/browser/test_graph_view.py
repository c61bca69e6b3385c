"""The graph view in JupyterLab, on real training: scopes fold, ops tell what they are, messages light up, a change of mode is followed."""

from __future__ import annotations

import pytest

from tests.browser.graph_page import GraphPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

OPEN = "%load_ext pslab\n%pslab cluster start\n%pslab graph --live"
SPIN = "import os, time\nwhile not os.path.exists('enough'): time.sleep(0.01)"
FILTER = "picture => getComputedStyle(picture).filter"
MODEL = """import pslab as tf
def model(x, y):
    with tf.name_scope("first"):
        w = tf.get_variable("w", [64, 10])
        logits = tf.matmul(x, w)
        scaled = logits * 0.5
    return tf.losses.sparse_softmax_cross_entropy(y, scaled), {}
lab = tf.Lab()
_ = lab.model(model)
lab.graph_view()"""


def test_it_folds_tells_lights_up_and_follows_the_mode_also_while_a_cell_runs(open_notebook, write, tmp_path) -> None:
    notebook = open_notebook(write(OPEN, "lab.train(10**9)", "%pslab mode --update sync", SPIN))
    notebook.page.set_viewport_size({"width": 1280, "height": 900})
    notebook.page.keyboard.press("Control+b")
    notebook.run(0)
    graph = GraphPage(notebook.page)
    assert graph.read("scene.bands.map((band) => band.task)") == ["ps:0", "worker:0", "worker:1"]
    assert graph.read("scene.measured") is False
    notebook.screenshot("graph-light", 0)

    few = graph.read("scene.nodes.length")
    graph.double_click("worker:0", "▸ hidden_0")
    graph.until(f"scene.nodes.length > {few}")
    assert graph.read("scene.open") == ["hidden_0"]
    for worker in (0, 1):
        assert graph.read(f"scene.nodes.some((node) => node.task === 'worker:{worker}' && node.title === 'hidden_0/Relu')")
    graph.click("worker:1", "Relu")
    facts = graph.facts()
    assert facts["type"] == "Relu"
    assert facts["device"] == "/job:worker/replica:0/task:1/device:CPU:0"
    assert facts["output"] == "[?, 128] float32"
    assert facts["gradient"] == "gradients/Relu_grad/ReluGrad"
    assert "models.py" in facts["built at"]
    notebook.screenshot("graph-selected", 0)

    canvas = graph.element.locator("canvas")
    canvas.focus()
    notebook.page.keyboard.press("ArrowUp")
    assert "hidden_0/Add" in graph.element.locator(".pslab-said").inner_text()
    notebook.page.keyboard.press("Backspace")
    graph.until(f"scene.nodes.length === {few}")

    notebook.run(1)
    graph.until(
        "view.state.step > 100 && scene.measured && view.drawing.messages.every((k) => view.drawing.glow(scene.edges[k], performance.now()) > 0)"
    )
    graph.click("worker:0", "ps:0")
    assert "measured" in graph.facts()["bytes"]
    notebook.screenshot("graph-running", 0)
    notebook.run(2)
    graph.until("scene.mode === 'between-graph sync' && scene.nodes.some((node) => node.label.startsWith('QuorumTake'))")
    notebook.screenshot("graph-sync", 0)

    notebook.begin(3)
    step = graph.read("view.state.step")
    graph.press("open-all")
    graph.until(f"!scene.closed.length && view.state.step > {step}")
    graph.press("fold-all")
    graph.until("!scene.open.length")
    assert notebook.prompt(3) is None, "the cell has ended"
    (tmp_path / "lab" / "enough").touch()
    notebook.finish(3)


def test_in_the_dark_and_on_a_narrow_screen_and_the_source_of_a_model_of_ones_own(open_notebook, write) -> None:
    notebook = open_notebook(write(MODEL))
    notebook.page.set_viewport_size({"width": 1024, "height": 800})
    notebook.run(0)
    notebook.theme("JupyterLab Dark")
    graph = GraphPage(notebook.page)
    graph.press("open-all")
    graph.until("!scene.closed.length")
    graph.press("fit")
    graph.click("worker:0", "MatMul")
    facts = graph.facts()
    assert facts["source"] == "logits = tf.matmul(x, w)"
    assert facts["output"] == "[?, 10] float32"
    notebook.screenshot("graph-dark", 0)


def test_a_fresh_kernel_shows_the_last_picture_and_no_broken_widget(open_notebook, write) -> None:
    notebook = open_notebook(write(OPEN))
    notebook.run(0)
    GraphPage(notebook.page)
    picture = notebook.page.locator(".pslab-snapshot img")
    picture.wait_for(state="attached", timeout=60_000)
    assert not picture.is_visible()
    notebook.save()
    notebook.restart_kernel()
    notebook.page.reload()
    picture.wait_for(timeout=60_000)
    notebook.page.wait_for_function("!document.body.innerText.includes('Loading widget')")
    assert "Error displaying widget" not in notebook.page.inner_text(".jp-Notebook")
    assert picture.evaluate(FILTER) == "none"
    notebook.theme("JupyterLab Dark")
    assert "invert" in picture.evaluate(FILTER)
    notebook.screenshot("graph-fresh-kernel", 0)


def test_it_speaks_chinese(open_notebook, write) -> None:
    notebook = open_notebook(write("import pslab\npslab.set_language('zh')\n" + OPEN))
    notebook.run(0)
    graph = GraphPage(notebook.page)
    assert graph.element.locator("button[data-name=open-all]").inner_text() == "全部展开"
    graph.press("open-all")
    graph.until("scene.closed.length === 0")
    graph.press("fit")
    graph.click("worker:0", "Relu")
    assert graph.facts()["类型"] == "Relu"
    notebook.screenshot("graph-chinese", 0)
