import assert from "node:assert/strict";
import { test } from "node:test";

globalThis.Path2D = class {
  constructor() { this.points = []; }
  moveTo(x, y) { this.points.push([x, y]); }
  lineTo(x, y) { this.points.push([x, y]); }
  arcTo(x, y) { this.points.push([x, y]); }
  bezierCurveTo(a, b, c, d, x, y) { this.points.push([x, y]); }
};

const { Drawing } = await import("../../../../pslab/lab/graph_view/front/graph_paint.mjs");
const { Viewport, nodeAt, towards } = await import("../../../../pslab/lab/graph_view/front/viewport.mjs");

const SIZE = { width: 400, height: 300 };
const THEME = { light: true, ink: "#000", soft: "#666", paper: "#fff", accent: "#00f", font: "11px sans" };
const PALETTE = { bands: { ps: "#56B4E9", worker: "#E69F00" }, other: "#666666", cut: "#D55E00" };
const node = (task, label, x, y, kind = "op") => ({ key: `${task} ${label}`, task, label, soft: "", kind, x, y, w: 60, folds: null, scope: "", returned: false });
const SCENE = {
  width: 800, height: 600,
  bands: [{ task: "ps:0", job: "ps", x: 10, width: 200 }, { task: "worker:0", job: "worker", x: 220, width: 300 }],
  nodes: [node("worker:0", "x", 300, 50, "fed"), node("worker:0", "MatMul", 300, 100), node("worker:0", "Relu", 400, 100), node("worker:0", "to", 300, 150, "send"), node("ps:0", "from", 100, 200, "receive")],
  edges: [
    { source: 0, target: 1, flow: "tensor", width: 1, bytes: 8, loops: [0], path: [300, 61, 300, 89] },
    { source: 1, target: 3, flow: "tensor", width: 1, bytes: 8, loops: [0], path: [300, 111, 300, 139] },
    { source: 3, target: 4, flow: "message", width: 9, bytes: 80, loops: [0], path: [300, 161, 300, 170, 100, 170, 100, 189] },
  ],
};

function noted() {
  const drawn = { strokes: [], words: [], fills: [] };
  const context = {
    setTransform() {}, clearRect() {}, setLineDash(dash) { this.dash = dash; }, beginPath() {}, rect(...box) { this.box = box; }, roundRect(...box) { this.box = box; }, moveTo() {}, lineTo() {},
    fill() { drawn.fills.push({ box: this.box, color: this.fillStyle }); },
    stroke(path) { drawn.strokes.push({ path, color: this.strokeStyle, width: this.lineWidth, alpha: this.globalAlpha, dash: this.dash }); },
    fillRect() {}, fillText(text, x, y) { drawn.words.push({ text, x, y }); }, measureText: (text) => ({ width: 6 * text.length }),
  };
  return { context, drawn };
}

function draw(drawing, look = {}, viewport = new Viewport()) {
  const { context, drawn } = noted();
  drawing.draw(context, viewport, THEME, PALETTE, { size: { width: 800, height: 600 }, ratio: 1, selected: -1, now: 0, still: false, ...look });
  return drawn;
}

test("a scene that is larger than the screen is all in view, or as large as can be read", () => {
  const viewport = new Viewport();
  viewport.fit(SCENE, SIZE);
  assert.equal(viewport.scale, 0.5);
  viewport.fit({ ...SCENE, width: 8000 }, SIZE, true);
  assert.ok(viewport.scale > 0.5);
  assert.deepEqual([viewport.x, viewport.y], [0, 0]);
});

test("what is under the pointer stays there while it is zoomed", () => {
  const viewport = new Viewport();
  viewport.pan(30, -20);
  const at = { x: 123, y: 45 };
  const before = viewport.at(at);
  viewport.zoom(1.7, at);
  const after = viewport.at(at);
  assert.ok(Math.abs(before.x - after.x) < 1e-9 && Math.abs(before.y - after.y) < 1e-9);
});

test("a node that is out of view is brought into it, and one in view does not move", () => {
  const viewport = new Viewport();
  viewport.show({ x: 1000, y: 40, w: 60 }, SIZE);
  assert.ok(1000 + viewport.x + 30 <= SIZE.width);
  const x = viewport.x;
  viewport.show({ x: 1000, y: 40, w: 60 }, SIZE);
  assert.equal(viewport.x, x);
});

test("nodes are found under a place, and by the arrow keys along the edges", () => {
  assert.equal(nodeAt(SCENE, { x: 320, y: 105 }), 1);
  assert.equal(nodeAt(SCENE, { x: 350, y: 105 }), -1);
  assert.deepEqual([towards(SCENE, 0, "ArrowDown"), towards(SCENE, 3, "ArrowUp"), towards(SCENE, 1, "ArrowRight"), towards(SCENE, 2, "ArrowLeft"), towards(SCENE, 4, "ArrowDown"), towards(SCENE, -1, "ArrowDown")], [1, 1, 2, 1, 4, 0]);
});

test("bands, nodes and words are drawn where they are, messages with their width", () => {
  const drawn = draw(new Drawing(SCENE));
  for (const { label, x } of SCENE.nodes) {
    const word = drawn.words.find(({ text }) => text === label);
    assert.ok(Math.abs(word.x + 3 * label.length - x) < 1, label);
  }
  assert.deepEqual(drawn.words.filter(({ text }) => text.includes(":")).map(({ text }) => text), ["ps:0", "worker:0"]);
  const message = drawn.strokes.find(({ width, path }) => width === 9 && path);
  assert.deepEqual(message.path.points, [[300, 161], [300, 170], [100, 170], [100, 189]]);
});

test("what is out of view is not drawn, and what is too small to read has no words", () => {
  const away = new Viewport();
  away.pan(-5000, 0);
  assert.equal(draw(new Drawing(SCENE), {}, away).words.length, 0);
  const small = new Viewport();
  small.zoom(0.2, { x: 0, y: 0 });
  assert.ok(!draw(new Drawing(SCENE), {}, small).words.some(({ text }) => text === "MatMul"));
});

test("a message lights up when it goes, and fades", () => {
  const drawing = new Drawing(SCENE);
  const [edge] = SCENE.edges.slice(2);
  assert.equal(drawing.glows(1000), false);
  drawing.light([0], 1000);
  assert.equal(drawing.glow(edge, 1000), 1);
  assert.ok(drawing.glow(edge, 1400) < 0.5);
  assert.equal(drawing.glows(2000), false);
  drawing.light([1], 3000);
  assert.equal(drawing.glow(edge, 3000), 0, "another worker's");
  drawing.light([0], 4000);
  const moving = draw(drawing, { now: 4000 }).strokes.filter(({ path, dash }) => path === drawing.outlines[2] && dash.length);
  assert.equal(moving.length, 1);
  assert.equal(draw(drawing, { now: 4000, still: true }).strokes.filter(({ path, dash }) => path === drawing.outlines[2] && dash.length).length, 0, "who wants no motion");
});

test("the edges of what is selected are drawn in the accent's colour", () => {
  const drawn = draw(new Drawing(SCENE), { selected: 1 });
  assert.equal(drawn.strokes.filter(({ color, path }) => color === THEME.accent && path).length, 2);
});

test("in Chinese nothing is said in English, whatever is selected", async () => {
  const { latin, shown } = await import("../../panel/front/page.mjs");
  const { speak } = await import("../../../../pslab/lab/panel/front/words.mjs");
  const { default: widget } = await import("../../../../pslab/lab/graph_view/front/graph.mjs");
  const nodes = SCENE.nodes.map((node, k) => ({ ...node, label: `${k}`, title: `${k}`, scope: k === 1 ? "a" : "", folds: k === 2 ? "b" : null, facts: [["任务", "worker:0", false], ["源代码", "1", true]] }));
  const scene = { ...SCENE, nodes, mode: "0", ops: 3, messages: 1, most: 80, measured: false };
  const state = { training: "running", mode: "0", step: 7, rate: 2, message: "" };
  for (const training of ["idle", "running", "paused", "done", "failed", "out of data"])
    for (const measured of [false, true]) {
      const page = await shown(widget, { language: "zh", palette: PALETTE }, [{ state: { ...state, training }, scene: { ...scene, measured } }]);
      for (const selected of [-1, 0, 1, 2, 3]) {
        page.view._select(selected);
        assert.deepEqual(latin(page.read()), [], `${training} ${selected}`);
      }
      const said = page.read();
      for (const words of ["全部折叠", "第 7 步", "2 次更新/秒", "经由状态"]) assert.ok(said.includes(words), words);
      page.remove();
    }
  speak("en");
  const english = await shown(widget, { language: "en", palette: PALETTE }, [{ state, scene }]);
  assert.ok(english.read().includes("Unfold all"));
  assert.ok(english.read().includes("1 messages, 80 B by static shapes; the widest 80 B"));
  english.remove();
});

test("who wants to see all of a graph sees all of the next scene, too", async () => {
  const { shown } = await import("../../panel/front/page.mjs");
  const { default: widget } = await import("../../../../pslab/lab/graph_view/front/graph.mjs");
  const scene = { ...SCENE, width: 8000, nodes: SCENE.nodes.map((node) => ({ ...node, title: node.label, facts: [] })), mode: "0", ops: 3, messages: 1, most: 80, measured: false };
  const state = { training: "idle", mode: "0", step: 0, rate: 0, message: "" };
  const page = await shown(widget, { language: "en", palette: PALETTE }, [{ state, scene }]);
  const legible = page.view.viewport.scale;
  page.view._fit(false);
  const all = page.view.viewport.scale;
  assert.ok(all < legible);
  page.tell({ scene: { ...scene, measured: true } });
  assert.equal(page.view.viewport.scale, all);
  page.remove();
});
