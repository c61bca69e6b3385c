"""How long a graph of five thousand ops takes to open, and how smoothly it is moved, in headless Chromium on this machine's processor.

python benchmarks/graph_view.py
"""

from __future__ import annotations

import json
from time import perf_counter

import pslab as tf
from pslab.graph.partition import partition, prune
from pslab.graph.placement import place
from pslab.lab.graph_view.folding import Scopes
from pslab.lab.graph_view.parts import Parts
from pslab.lab.graph_view.scene import Told, scene_of
from pslab.lab.graph_view.view import _PALETTE, FRONT_END
from pslab.train.plans import PlannedStep

CHROMIUM = "/usr/bin/chromium"
TOWERS, BLOCKS, LAYERS = 4, 12, 25
TARGET_S, TARGET_FPS = 1.0, 30
FRAMES = 90
OPEN = """async ([text, palette]) => {
    const module = await import(URL.createObjectURL(new Blob([text], { type: 'text/javascript' })));
    const line = { on: (_, hear) => { window.hear = hear; }, off() {} };
    const model = { get: (name) => (name === 'palette' ? palette : 'IPY_MODEL_line'), send() {}, widget_manager: { get_model: async () => line } };
    window.el = document.querySelector('main');
    await module.default.render({ model, el: window.el });
}"""
SHOW = """async (text) => {
    const { pslab } = window.el;
    const [begun, frames] = [performance.now(), pslab.frames];
    window.hear({ scene: JSON.parse(text) });
    while (pslab.frames === frames) await new Promise(requestAnimationFrame);
    return (performance.now() - begun) / 1000;
}"""
PAN = """async (count) => {
    const { pslab } = window.el;
    const begun = performance.now();
    for (let k = 0; k < count; k++) {
        pslab.viewport.pan(Math.sin(k / 9) * 12, Math.cos(k / 9) * 9);
        if (k % 6 === 0) window.hear({ lit: [0, 1, 2, 3] });
        pslab.redraw();
        await new Promise(requestAnimationFrame);
    }
    return (1000 * count) / (performance.now() - begun);
}"""


def planned() -> PlannedStep:
    """A step of towers of many layers, their variables on a ps."""
    graph = tf.Graph()
    with graph.as_default():
        losses = []
        with tf.device("/job:ps/task:0"):
            weights = [[tf.Variable(tf.zeros([8, 8]), name=f"block_{b}/layer_{k}/w") for k in range(LAYERS)] for b in range(BLOCKS)]
        for tower in range(TOWERS):
            with tf.device(f"/job:worker/task:{tower}"), tf.name_scope(f"tower_{tower}" if tower else None):
                signal = tf.ones([8, 8])
                for b in range(BLOCKS):
                    for k in range(LAYERS):
                        with tf.name_scope(f"block_{b}/layer_{k}/" if not tower else f"tower_{tower}/block_{b}/layer_{k}/"):
                            signal = tf.nn.relu(tf.matmul(signal, weights[b][k]) + signal) * 0.5
                losses.append(tf.reduce_sum(signal))
        with tf.device("/job:ps/task:0"):
            total = tf.add_n(losses)
    operations = prune([total.op], [])
    tasks = ("ps:0", *(f"worker:{i}" for i in range(TOWERS)), "client:0")
    placed = place(operations, master="client:0", tasks=tasks, devices=lambda task: ("CPU:0",))
    return PlannedStep(partition(operations, placed, master="client:0", fetches=[total], feeds=[]), graph, [])


def main() -> None:
    """Print seconds and frames per second, folded and unfolded."""
    from playwright.sync_api import sync_playwright

    step = planned()
    begun = perf_counter()
    parts = Parts.of([step], 8, {})
    scopes = Scopes(parts)
    read = perf_counter() - begun
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 800})
        page.set_content(f"<style>{FRONT_END.style}</style><main></main>")
        begun = perf_counter()
        page.evaluate(OPEN, [FRONT_END.text, _PALETTE])
        loaded = perf_counter() - begun
        for what, opened in (("folded", scopes.at_a_glance()), ("all of it unfolded", scopes.all)):
            begun = perf_counter()
            scene = scene_of(scopes.fold(opened), Told({}, False))
            text = json.dumps(scene)
            laid = perf_counter() - begun
            shown = page.evaluate(SHOW, text)
            rate = page.evaluate(PAN, FRAMES)
            parts_s = f"plan read {read:.2f}, laid out {laid:.2f}, module loaded {loaded:.2f}, drawn {shown:.2f}"
            print(
                f"{scene['ops']} ops, {what}: {len(scene['nodes'])} nodes; opens in {read + laid + loaded + shown:.2f} s (target {TARGET_S:g} s: {parts_s})"
            )
            print(f"  moves at {rate:.0f} frames/s (target {TARGET_FPS})")
            page.evaluate("window.el.pslab._fit(false)")
            print(f"  all in view at once: {page.evaluate(PAN, FRAMES):.0f} frames/s")
        browser.close()


if __name__ == "__main__":
    main()
