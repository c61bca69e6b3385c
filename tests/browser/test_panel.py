"""The panel in JupyterLab, on real training: every control is used, what is drawn is what was recorded, and it answers while a cell runs."""

from __future__ import annotations

import json

import numpy as np
import pytest

from tests.browser.notebook_page import NotebookPage
from tests.browser.panel_page import PanelPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

OPEN = "%load_ext pslab\n%pslab panel"
SPIN = "import os, time\nwhile not os.path.exists('enough'): time.sleep(0.01)"
IN_FORCE = """print(lab.strategy, lab.cluster.network, lab.cluster.delays)
print(lab.cluster.ps, lab.cluster.workers, lab.learning_rate, lab.batch_size)"""
TOLD = """import json
r = lab.records()
print(json.dumps({n: r[n].tolist() for n in ("global_step", "worker", "loss", "metric_accuracy", "compute", "bytes_pushed", "divergence", "observed")}))"""


def said(notebook: NotebookPage, cell: int) -> str:
    return "".join(output.text for output in notebook.run(cell)).strip()


def test_every_control_is_granted_and_what_is_drawn_was_recorded(open_notebook, write) -> None:
    notebook = open_notebook(
        write(
            OPEN,
            "print(lab.strategy, lab.cluster.network, lab.cluster.delays, lab.cluster.ps, lab.cluster.workers, lab.learning_rate, lab.batch_size)",
            TOLD,
        )
    )
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    notebook.page.keyboard.press("Control+b")
    notebook.run(0)
    panel = PanelPage(notebook.page)
    panel.press("start")
    panel.until("state.training === 'running' && state.step > 300")
    for control, option in (
        ("update", "sync"),
        ("replication", "in-graph"),
        ("replication", "between-graph"),
        ("compression", "int8"),
        ("commit", "differences"),
        ("update", "local"),
        ("update", "sync"),
        ("aggregation", "weighted"),
        ("update", "ssp"),
        ("straggler", "worker:1"),
        ("distribution", "exponential"),
        ("straggler", "nobody"),
    ):
        panel.choose(control, option)
        panel.until(f"state.controls.{control}.value === '{option}' && !Object.keys(state.pending).length")
        assert panel.shown(control) == option
    for control, words in (("delay", "20 ms"), ("bandwidth", "1 Gbit/s"), ("latency", "0.2 ms"), ("bandwidth", "no limit")):
        panel.type(control, words)
        said_so = "200 µs" if words == "0.2 ms" else words
        panel.until(f"state.controls.{control}.value === '{said_so}' && !Object.keys(state.pending).length")
        assert panel.shown(control) == said_so
    for control, number in (
        ("parameter", "2"),
        ("commit_every", "4"),
        ("workers", "3"),
        ("ps", "2"),
        ("learning_rate", "0.05"),
        ("batch_size", "32"),
    ):
        panel.type(control, number)
        panel.until(f"state.controls.{control}.value === {number} && !Object.keys(state.pending).length")
        assert panel.shown(control) == number
    assert " ".join(said(notebook, 1).split()) == "between-graph ssp, staleness 2, gradients every 4 steps, int8 latency 200 µs {} 2 3 0.05 32"

    step = panel.read("state.step")
    panel.until(f"state.step > {step} + 200")
    notebook.screenshot("panel-light", 0)
    panel.press("pause")
    panel.until("state.training === 'paused' && !Object.keys(state.pending).length")
    step = panel.read("state.step")
    panel.press("step")
    panel.until(f"state.step === {step} + 1")
    _compare(panel, json.loads(said(notebook, 2)))

    panel.press("save")
    panel.until(f"state.checkpoints.includes('step-{step + 1}')")
    panel.press("start")
    panel.until(f"state.step > {step} + 50")
    panel.element.locator(".pslab-bar select").select_option(f"step-{step + 1}")
    panel.until(f"state.step > {step} && !Object.keys(state.pending).length")
    panel.press("stop")
    panel.until("state.training === 'idle'")
    panel.press("reset")
    panel.until("state.step === 0 && history.curve('loss').x.length === 0")


def _compare(panel: PanelPage, recorded: dict[str, list[float]]) -> None:
    """Each bucket that is drawn is the mean of the records of its steps."""
    table = {name: np.array(values, float) for name, values in recorded.items()}
    steps, usual = table["global_step"], table["observed"] == 0
    width = panel.read("history.width")
    bucket = (steps - steps.min()) // width
    for column, field, relevant in (
        ("loss", "loss", steps >= 0),
        ("accuracy", "metric_accuracy", steps >= 0),
        ("compute", "compute", usual),
        ("bytes_pushed", "bytes_pushed", usual),
        ("divergence:1", "divergence", table["worker"] == 1),
    ):
        counted = relevant & ~np.isnan(table[field])
        drawn = panel.read(f"Array.from(history.columns.get('{column}').slice(0, history.count)).map((v) => (Number.isNaN(v) ? null : v))")
        there = np.unique(bucket[counted]).astype(int)
        assert [k for k, value in enumerate(drawn) if value is not None] == there.tolist(), column
        means = [table[field][counted & (bucket == k)].mean() for k in there]
        np.testing.assert_allclose([drawn[k] for k in there], means, rtol=2e-5, err_msg=column)


def test_a_change_that_is_refused_goes_back_with_the_reason(open_notebook, write) -> None:
    notebook = open_notebook(write(OPEN))
    notebook.run(0)
    panel = PanelPage(notebook.page)
    panel.choose("replication", "in-graph")
    panel.until("state.controls.replication.value === 'in-graph'")
    panel.choose("commit", "elastic")
    panel.until("state.refusal")
    panel.element.locator(".pslab-notice:has-text('Commit stays as it is: in-graph replication commits the gradients of every step')").wait_for()
    assert panel.shown("commit") == "gradients"
    panel.choose("replication", "between-graph")
    panel.until("!state.refusal && state.controls.replication.value === 'between-graph'")
    assert panel.element.locator(".pslab-notice").inner_text() == ""


def test_a_straggler_by_its_menu_links_and_predictions_are_seen_and_the_timeline_is_brushed(open_notebook, write) -> None:
    notebook = open_notebook(
        write(OPEN, "import json\nprint(json.dumps([list(row) for row in lab.traffic()[['from', 'to', 'bytes']].to_numpy().tolist()]))")
    )
    notebook.run(0)
    panel = PanelPage(notebook.page)
    panel.press("start")
    panel.until("state.training === 'running' && state.step > 100")
    panel.choose("update", "sync")
    panel.until("state.controls.update.value === 'sync'")
    chip = panel.element.locator("[data-task='worker:1']")
    chip.locator("button").first.focus()
    notebook.page.keyboard.press("Enter")
    notebook.page.keyboard.press("Enter")
    panel.until("state.controls.straggler.value === 'worker:1' && state.tasks.some((task) => task.delay === '50 ms')")
    panel.until("state.marks.some((mark) => mark.words === 'worker:1 slower by 50 ms')")
    panel.until("state.forecasts.some((forecast) => forecast.step >= state.marks.at(-1).step && forecast.seconds > 0.02)")

    panel.element.locator(".pslab-turn").click()
    panel.until("state.links.length === 4")
    canvas = panel.element.locator("[data-plot=bytes] canvas")
    canvas.focus()
    notebook.page.keyboard.press("ArrowDown")
    assert "worker:0 → ps:0" in panel.element.locator(".pslab-said").inner_text()

    place = panel.element.locator("[data-plot=timeline] canvas")
    place.scroll_into_view_if_needed()
    box = place.bounding_box()
    mouse, y = notebook.page.mouse, box["y"] + box["height"] / 2
    mouse.move(box["x"] + 0.5 * box["width"], y)
    mouse.down()
    mouse.move(box["x"] + 0.75 * box["width"], y, steps=4)
    mouse.up()
    zoomed = "document.querySelector('.pslab-panel').parentElement.pslab.plots.view.timeZoom"
    first, last = notebook.page.evaluate(zoomed)
    hold = panel.element.locator("button:text-is('Hold picture')")
    assert hold.get_attribute("aria-pressed") == "true"
    place.focus()
    notebook.page.keyboard.press("+")
    closer = notebook.page.evaluate(zoomed)
    assert first <= closer[0] < closer[1] <= last
    assert closer[1] - closer[0] < 0.7 * (last - first)
    notebook.page.keyboard.press("Escape")
    assert notebook.page.evaluate(zoomed) is None
    hold.click()

    panel.press("pause")
    panel.until("state.training === 'paused'")
    counted = {(one, other): count for one, other, count in json.loads(said(notebook, 1))}
    seen = {(one, other): total for one, other, _, _, total in panel.read("state.links")}
    assert seen.keys() == counted.keys()
    assert all(0 < seen[link] <= counted[link] for link in seen)


@pytest.mark.parametrize("width", [1024, 1280, 1900, 2560])
def test_nothing_is_cut_off_or_runs_over(open_notebook, write, width) -> None:
    notebook = open_notebook(write(OPEN.replace("\n", "\nlab.cluster.start(ps=1, workers=8)\n")))
    notebook.page.set_viewport_size({"width": width, "height": 800})
    notebook.run(0)
    panel = PanelPage(notebook.page)
    panel.press("start")
    panel.until("state.training === 'running' && state.step > 100 && state.rate > 0")
    assert panel.out_of_place() == []
    status = panel.element.locator(".pslab-status").inner_text()
    assert "loss" in status
    assert "accuracy" in status
    assert "updates/s" in status


def test_it_answers_while_a_cell_runs_and_two_panels_agree_and_a_reload_brings_the_picture_back(open_notebook, write, tmp_path) -> None:
    notebook = open_notebook(write(OPEN, SPIN, "lab.panel(hide=['commit'], lock=['reset'])"))
    notebook.run(0)
    first = PanelPage(notebook.page)
    first.press("start")
    first.until("state.training === 'running' && state.step > 100")
    notebook.begin(1)
    step = first.read("state.step")
    first.choose("update", "sync")
    first.until(f"state.controls.update.value === 'sync' && state.step > {step} + 50")
    first.press("pause")
    first.until("state.training === 'paused'")
    assert notebook.prompt(1) is None, "the cell has ended"
    (tmp_path / "lab" / "enough").touch()
    notebook.finish(1)

    notebook.run(2)
    second = PanelPage(notebook.page, 1)
    assert second.element.locator("[data-name=commit]").count() == 0
    assert second.element.locator("[data-name=reset]").is_disabled()
    second.choose("update", "ssp")
    for panel in (first, second):
        panel.until("state.controls.update.value === 'ssp'")
    curve = first.read("history.curve('loss')")
    assert second.read("history.curve('loss')") == curve
    assert [mark["words"] for mark in second.read("state.marks")] == ["sync", "ssp"]

    notebook.save()
    notebook.page.reload()
    again = PanelPage(notebook.page)
    assert again.read("history.curve('loss')") == curve
    again.press("start")
    again.until("state.training === 'running'")


def test_two_notebooks_on_one_kernel_agree(open_notebook, write, tmp_path) -> None:
    notebook = open_notebook(write(OPEN))
    (tmp_path / "lab" / "other.ipynb").write_bytes(write("lab.panel()").read_bytes())
    other = notebook.beside("other.ipynb", 1)
    notebook.run(0)
    other.run(0)
    first, second = PanelPage(notebook.page), PanelPage(other.page)
    second.press("start")
    for panel in (first, second):
        panel.until("state.training === 'running' && state.step > 100")
    first.choose("update", "sync")
    second.until("state.controls.update.value === 'sync'")
    second.type("learning_rate", "0.025")
    second.press("pause")
    for panel in (first, second):
        panel.until("state.training === 'paused' && state.controls.learning_rate.value === 0.025")
        assert "0.025" in panel.shown("learning_rate")
    assert first.read("history.curve('loss')") == second.read("history.curve('loss')")
    assert first.read("state.marks") == second.read("state.marks")


def test_a_fresh_kernel_shows_the_last_picture_and_no_broken_widget(open_notebook, write) -> None:
    notebook = open_notebook(write(OPEN))
    notebook.run(0)
    panel = PanelPage(notebook.page)
    panel.press("start")
    panel.until("state.training === 'running' && state.step > 100")
    panel.press("pause")
    picture = notebook.page.locator(".pslab-snapshot img")
    picture.wait_for(state="attached", timeout=60_000)
    assert not picture.is_visible()
    notebook.save()
    notebook.restart_kernel()
    notebook.page.reload()
    picture.wait_for(timeout=60_000)
    notebook.page.wait_for_function("!document.body.innerText.includes('Loading widget')")
    assert "Error displaying widget" not in notebook.page.inner_text(".jp-Notebook")
    notebook.screenshot("panel-fresh-kernel", 0)


def test_a_killed_worker_is_seen_to_come_back_and_a_frozen_run_stays_behind(open_notebook, write) -> None:
    notebook = open_notebook(write(OPEN))
    notebook.page.emulate_media(color_scheme="dark")
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    notebook.run(0)
    notebook.theme("JupyterLab Dark")
    panel = PanelPage(notebook.page)
    panel.press("start")
    panel.until("state.training === 'running' && state.step > 300")
    panel.element.locator("button:text-is('Freeze run')").click()
    panel.until("state.ghost && history.ghost('loss').x.length > 0")
    panel.press("reset")
    panel.until("state.step === 0")
    panel.press("start")
    panel.until("state.step > 100")
    chip = panel.element.locator("[data-task='worker:1']")
    chip.locator("button").first.click()
    chip.locator("[data-action=kill]").click()
    panel.until("state.tasks.find((task) => task.name === 'worker:1').restarts === 1")
    step = panel.read("state.step")
    panel.until(f"state.step > {step} + 200")
    canvas = panel.element.locator("[data-plot=loss] canvas")
    canvas.focus()
    notebook.page.keyboard.press("ArrowLeft")
    told = panel.element.locator(".pslab-said").inner_text()
    assert "loss" in told
    assert "loss, frozen" in told
    notebook.screenshot("panel-dark", 0)
