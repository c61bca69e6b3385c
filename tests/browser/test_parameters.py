"""The parameter view in JupyterLab, on real training: local replicas drift apart and are pulled together, over the loss, in both themes."""

from __future__ import annotations

import pytest

from tests.browser.parameters_page import WAIT_MS, ParametersPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(200)]

OPEN = (
    "%load_ext pslab\n%pslab cluster start --workers 3 --threads\n%pslab mode --update sync --commit-every 8 --commit differences\n"
    "%pslab trajectories --live"
)
STEPS = "import time\nfor _ in range(8): lab.step(); time.sleep(0.3)"


@pytest.fixture
def notebook(open_notebook, write):
    return open_notebook(write(OPEN, STEPS, "lab.train(10**9)", "lab.pause()"))


def test_replicas_are_seen_to_drift_apart_and_to_be_pulled_together(notebook) -> None:
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    notebook.page.keyboard.press("Control+b")
    notebook.run(0)
    view = ParametersPage(notebook.page)
    assert view.element.locator(".pslab-parameters-empty").is_visible()
    notebook.begin(1)
    view.until("scene.trails.length === 4 && scene.trails[0].points.some((point) => point.commit)")
    assert notebook.prompt(1) is None, "it is seen while the cell runs"
    notebook.finish(1)
    view.until("scene.surface && scene.trails.at(-1).points.at(-1).step === 8 && view.frames > 3")
    assert view.read("scene.trails.map(({ name }) => name)") == ["worker:0", "worker:1", "worker:2", "ps"]
    commit, after, apart = view.read("""(() => {
        const points = scene.trails.slice(0, 3).map((trail) => trail.points);
        const apart = (k) => Math.hypot(points[0][k].x - points[1][k].x, points[0][k].y - points[1][k].y);
        const at = points[0].findIndex((point, k) => point.commit && k + 1 < points[0].length);
        return [points[0][at].step, points[0][at + 1].step, [apart(at), apart(at + 1)]];
    })()""")
    assert after > commit
    assert apart[1] < 1e-3 * apart[0]
    notebook.screenshot("parameters-light", 0)

    canvas = view.element.locator("canvas")
    canvas.focus()
    for key in ("ArrowLeft", "ArrowDown", "ArrowLeft"):
        notebook.page.keyboard.press(key)
    said = view.element.locator(".pslab-said").inner_text()
    assert "worker:0, step" in said
    assert "loss in the plane" in said
    notebook.page.keyboard.press("Escape")

    notebook.run(2)
    view.until("view.state.training === 'running' && scene.trails.at(-1).points.at(-1).step > 30")
    view.element.locator("[data-name=hold]").click()
    step, frames = view.read("scene.trails.at(-1).points.at(-1).step"), view.read("view.state.step")
    view.until(f"view.state.step > {frames} + 20")
    assert view.read("scene.trails.at(-1).points.at(-1).step") == step, "the picture stands still"
    view.element.locator("[data-name=hold]").click()
    view.choose("directions", "Random")
    notebook.theme("JupyterLab Dark")
    view.until("view.state.shares[0] < 0.1 && scene.surface")
    notebook.screenshot("parameters-random-dark", 0)
    view.choose("directions", "PCA")
    view.choose("trail", "latest")
    view.until("view.state.shares[0] > 0.1 && scene.surface && scene.trails.at(-1).points.length === 6")
    notebook.screenshot("parameters-latest-dark", 0)
    notebook.run(3)

    picture = notebook.page.locator(".pslab-snapshot img[alt*='the replicas and the ps until step']")
    picture.wait_for(state="attached", timeout=WAIT_MS)
    notebook.save()
    notebook.page.reload()
    again = ParametersPage(notebook.page)
    again.until("view.state.trail === 'latest' && scene.trails.length === 4 && scene.surface && view.frames > 0")
    notebook.restart_kernel()
    notebook.page.reload()
    picture.wait_for(timeout=60_000)
    notebook.page.wait_for_function("!document.body.innerText.includes('Loading widget')")
    assert "Error displaying widget" not in notebook.page.inner_text(".jp-Notebook")
    notebook.screenshot("parameters-fresh-kernel", 0)
