"""A race in JupyterLab, on real training: messages are let in by clicking on them, also while a cell runs, and what is drawn is what the ledger has."""

from __future__ import annotations

import json

import pytest

from tests.browser.race_page import WAIT_MS, RacePage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(400)]

OPEN = "%load_ext pslab\n%pslab cluster start --ps {} --workers 3 --threads\n%pslab mode {}\n%pslab race"
SPIN = "import os, time\nwhile not os.path.exists('enough'): time.sleep(0.01)"
LOG = "print([int(e) for e in lab.log().epochs[-1].orders[0]])"


def test_messages_are_let_in_while_a_cell_runs_and_what_is_drawn_is_in_the_log(open_notebook, write, tmp_path) -> None:
    notebook = open_notebook(write(OPEN.format(1, "--update async"), SPIN, LOG, "lab.race()"))
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    notebook.page.keyboard.press("Control+b")
    notebook.run(0)
    race = RacePage(notebook.page)
    race.press("Begin")
    race.until("scene && scene.moments[0].waiting.length === 3")
    notebook.begin(1)
    for worker in (1, 1, 2, 0, 1):
        race.let_in(worker)
    assert notebook.prompt(1) is None, "the cell has ended"
    (tmp_path / "lab" / "enough").touch()
    notebook.finish(1)
    pushes = race.drawn("push")
    assert [(int(p["worker"]), int(p["stale"])) for p in pushes] == [(1, 0), (1, 0), (2, 2), (0, 3), (1, 2)]
    assert "worker:0 → ps:0: 3 stale" in [p["title"] for p in pushes]
    notebook.screenshot("race-async-light", 0)
    order = json.loads("".join(o.text for o in notebook.run(2)))
    assert [entry for entry in order if entry >= 0] == [1, 1, 2, 0, 1]

    notebook.run(3)
    other = RacePage(notebook.page, 1)
    other.let_in(2)
    for view in (race, other):
        view.until("scene.moments.length === 7 && view.plan.at === 6")
    slider = race.element.locator("input[type=range]")
    slider.focus()
    for _ in range(3):
        notebook.page.keyboard.press("ArrowLeft")
    race.until("view.plan.at === 3")
    assert len(race.drawn("push")) == 3
    assert len(other.drawn("push")) == 6
    race.element.locator(".pslab-race-words:has-text('3. What worker:2 computed at version 0 of ps:0, 2 stale, is applied as version 3.')").wait_for()
    notebook.screenshot("race-past", 0)


def test_sync_with_a_backup_drops_what_is_stale_and_refuses_with_the_reason(open_notebook, write) -> None:
    notebook = open_notebook(write(OPEN.format(1, "--update sync --backup 1")))
    notebook.page.emulate_media(color_scheme="dark")
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    notebook.page.keyboard.press("Control+b")
    notebook.run(0)
    notebook.theme("JupyterLab Dark")
    race = RacePage(notebook.page)
    race.press("Begin")
    race.until("scene && scene.moments[0].waiting.length === 3")
    race.let_in(0)
    race.until("scene.moments.at(-1).gathered['ps:0'].length === 1")
    assert "1 of 2 gathered" in race.element.locator(".pslab-race-tray").text_content()
    notebook.screenshot("race-sync-gathered-dark", 0)
    race.let_in(2)
    race.until("scene.versions.length === 2")
    race.element.locator(".pslab-race-menu button:has-text('worker:1 → ps:0: computed at v0, 1 stale, to be dropped')").click()
    race.until("scene.moments.at(-1).number === 3")
    assert race.drawn("push")[-1]["title"] == "worker:1 → ps:0: 1 stale: dropped"
    race.let_in(1)
    notebook.screenshot("race-sync-dark", 0)
    race.press("Train on")
    race.until("!scene.live && state.training === 'running'")
    race.press("Pause")
    race.until("state.training === 'paused'")
    race.press("Begin anew")
    race.until("scene.live && scene.moments.length === 1 && scene.moments[0].waiting.length === 3")
    pill = race.element.locator("[data-message='commit 2 ps:0'][role=button]")
    pill.focus()
    notebook.page.keyboard.press("Enter")
    race.until("scene.pushes.length === 1 && scene.pushes[0][2] === 2")
    lane = "view.element.querySelector('svg rect[rx=\"2\"]').getAttribute('fill')"
    race.until(f"{lane} === 'rgb(89,163,205)'")
    notebook.theme("JupyterLab Light")
    race.until(f"{lane} === '#0072B2'")


def test_a_mode_without_messages_is_refused_with_the_reason(open_notebook, write) -> None:
    notebook = open_notebook(write(OPEN.format(1, "--replication in-graph --update sync")))
    notebook.run(0)
    race = RacePage(notebook.page)
    race.press("Begin")
    race.element.locator(".pslab-notice:has-text('one step of all towers')").wait_for(timeout=WAIT_MS)


def test_ssp_shows_who_is_held(open_notebook, write) -> None:
    notebook = open_notebook(write(OPEN.format(2, "--update ssp --staleness 1")))
    notebook.page.set_viewport_size({"width": 1280, "height": 720})
    notebook.page.keyboard.press("Control+b")
    notebook.run(0)
    race = RacePage(notebook.page)
    race.press("Begin")
    race.until("scene && scene.moments[0].waiting.length === 6")
    for worker, ps in ((0, 0), (0, 1), (0, 1), (0, 0)):
        race.let_in(worker, ps=ps)
    race.until("scene.moments.at(-1).held.join() === '0'")
    race.let_in(1, ps=1)
    assert [s["what"] for s in race.drawn("span") if s["worker"] == "0"] == ["computes", "commits", "computes", "commits", "held"]
    notebook.screenshot("race-ssp-light", 0)


def test_a_fresh_kernel_shows_the_last_picture(open_notebook, write) -> None:
    notebook = open_notebook(write(OPEN.format(1, "--update async")))
    notebook.run(0)
    race = RacePage(notebook.page)
    race.press("Begin")
    race.until("scene && scene.moments[0].waiting.length === 3")
    race.let_in(1)
    picture = notebook.page.locator(".pslab-snapshot img[alt*='after message 1']")
    picture.wait_for(state="attached", timeout=60_000)
    assert not picture.is_visible()
    notebook.save()
    notebook.restart_kernel()
    notebook.page.reload()
    picture.wait_for(timeout=60_000)
    notebook.page.wait_for_function("!document.body.innerText.includes('Loading widget')")
    assert "Error displaying widget" not in notebook.page.inner_text(".jp-Notebook")


def test_it_speaks_chinese(open_notebook, write) -> None:
    notebook = open_notebook(write("import pslab\npslab.set_language('zh')\n" + OPEN.format(1, "--update async")))
    notebook.run(0)
    race = RacePage(notebook.page)
    race.press("开始")
    race.until("scene && scene.moments[0].waiting.length === 3")
    race.let_in(1)
    race.element.locator(".pslab-race-words:has-text('worker:1 基于 ps:0 的版本 0 算出的结果（陈旧度 0）已应用，成为版本 1。全局步 1。')").wait_for()
    notebook.screenshot("race-chinese", 0)
