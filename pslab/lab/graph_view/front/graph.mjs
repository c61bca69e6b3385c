// The graph view: what the kernel tells is drawn; what is clicked is told of, or folds.

import { make, setAttribute, setText } from "../../panel/front/dom.mjs";
import { formatBytes, formatCount, formatNumber } from "../../panel/front/format.mjs";
import { keepKeys, live, whenThemed } from "../../panel/front/live.mjs";
import { sharpen, themeOf } from "../../panel/front/pen.mjs";
import { WORDS } from "../../panel/front/words.mjs";
import { Drawing } from "./graph_paint.mjs";
import { Viewport, nodeAt, towards } from "./viewport.mjs";

const FAR_PX = 4;

/** The whole view as an element. `tell(message)` sends to the kernel. */
class GraphView {
  constructor(palette, tell) {
    this.viewport = new Viewport();
    this.selected = -1;
    this.frames = 0;
    this.state = {};
    this._palette = palette;
    this._legible = true;
    this._tell = tell;
    this._motion = matchMedia("(prefers-reduced-motion: reduce)");
    this._status = make("div", { class: "pslab-status" });
    this._notice = make("div", { class: "pslab-notice", role: "alert" });
    this.canvas = make("canvas", { tabindex: "0", role: "application", "aria-label": WORDS.graph.name });
    this._legend = make("div", { class: "pslab-graph-legend" });
    this._facts = make("aside", { class: "pslab-facts", "aria-label": WORDS.graph.selected });
    this._said = make("div", { class: "pslab-said", role: "status", "aria-live": "polite" });
    this.element = make("div", { class: "pslab-panel pslab-graph", role: "region", "aria-label": WORDS.graph.view },
      make("div", { class: "pslab-bar", role: "toolbar", "aria-label": WORDS.graph.name },
        this._button("fold-all", WORDS.graph.foldAll, () => tell({ ask: "fold" })),
        this._button("open-all", WORDS.graph.unfoldAll, () => tell({ ask: "unfold" })),
        this._button("zoom-out", "−", () => this._zoom(1 / 1.3), WORDS.graph.smaller),
        this._button("zoom-in", "+", () => this._zoom(1.3), WORDS.graph.larger),
        this._button("fit", WORDS.graph.fit, () => this._fit(false), WORDS.graph.fitHint),
        this._status),
      make("div", { class: "pslab-graph-body" }, make("div", { class: "pslab-graph-place" }, this.canvas, this._legend), this._facts),
      this._notice, this._said);
    this._listen();
    this._tellFacts();
  }

  remove() {
    this._sizes.disconnect();
    this._theme.disconnect();
    this._removed = true;
  }

  /** Take in what the kernel tells. */
  take(content) {
    if (content.state) this._showState(Object.assign(this.state, content.state));
    if (content.scene) this._show(content.scene);
    if (content.lit && this.drawing) {
      this.drawing.light(content.lit, performance.now());
      this.redraw();
    }
  }

  _show(scene) {
    const before = this.drawing;
    const key = before?.scene.nodes[this.selected]?.key;
    const anchor = this._anchor && before ? before.scene.nodes.find((node) => node.key === this._anchor.key) : null;
    this.drawing = new Drawing(scene);
    if (before) this.drawing.lit = before.lit;
    this.selected = key === undefined ? -1 : scene.nodes.findIndex((node) => node.key === key);
    this.canvas.style.height = `${Math.round(Math.min(Math.max(scene.height, 300), 640))}px`;
    if (anchor) this._stay(scene, anchor);
    if (!this._moved || !before || before.scene.bands.map((band) => band.task).join() !== scene.bands.map((band) => band.task).join() || before.scene.mode !== scene.mode) this._fit(this._legible);
    setAttribute(this.canvas, "aria-label", WORDS.graph.about(scene.mode, scene.ops, scene.bands.length, scene.nodes.length));
    this._showLegend(scene);
    this._tellFacts();
    this.redraw();
  }

  /** After a scope was opened or folded, what was clicked stays where it was, if the picture was moved by hand; else all of it is shown again. */
  _stay(scene, anchor) {
    const there = scene.nodes.find((node) => node.task === anchor.task && (node.key === anchor.key || node.scope === this._anchor.scope || node.folds === this._anchor.scope));
    this._anchor = null;
    if (!there) return;
    if (this._moved) this.viewport.pan((anchor.x - there.x) * this.viewport.scale, (anchor.y - there.y) * this.viewport.scale);
    this._select(scene.nodes.indexOf(there));
  }

  _showState(state) {
    const parts = [state.mode, WORDS.step(formatCount(state.step ?? 0)), ...(state.rate ? [WORDS.rate(formatNumber(state.rate))] : [])];
    this._status.replaceChildren(make("span", { class: "pslab-state", "data-state": state.training }, WORDS.states[state.training] ?? state.training), ...parts.map((part) => make("span", {}, part)));
    setText(this._notice, state.message ?? "");
  }

  _showLegend(scene) {
    const bytes = scene.edges.filter((edge) => edge.flow === "message").reduce((sum, edge) => sum + edge.bytes, 0);
    const { size, measured, reckoned, legend } = WORDS.graph;
    const weighed = scene.measured ? measured : reckoned;
    const words = [size(formatCount(scene.ops), formatCount(scene.nodes.length)), weighed(formatCount(scene.messages), formatBytes(bytes), formatBytes(scene.most))];
    const samples = Object.entries(legend).map(([name, text]) => make("span", {}, make("i", { class: `pslab-sample pslab-sample-${name}` }), text));
    this._legend.replaceChildren(...words.map((word) => make("span", {}, word)), ...samples);
  }

  redraw() {
    if (this._frame || !this.drawing || this._removed) return;
    this._frame = requestAnimationFrame((now) => {
      this._frame = 0;
      this._draw(now);
      if (this.drawing.glows(now)) this.redraw();
    });
  }

  _draw(now) {
    const { canvas } = this;
    const size = this._size();
    if (!size.width || !size.height) return;
    const ratio = sharpen(canvas, size);
    this._colors ??= { ...themeOf(this.element), accent: getComputedStyle(this.element).getPropertyValue("--jp-brand-color1").trim() || "#0072b2" };
    this.drawing.draw(canvas.getContext("2d"), this.viewport, this._colors, this._palette, { size, ratio, selected: this.selected, now, still: this._motion.matches });
    this.frames += 1;
  }

  _size() {
    return { width: this.canvas.clientWidth, height: this.canvas.clientHeight };
  }

  /** Show all of the scene, or as much as stays legible; so it is when another scene comes. */
  _fit(legible) {
    this._moved = false;
    this._legible = legible;
    const size = this._size();
    this._fitted = size.width > 0;
    if (this.drawing && size.width) this.viewport.fit(this.drawing.scene, size, legible);
    this.redraw();
  }

  _zoom(factor, at = { x: this.canvas.clientWidth / 2, y: this.canvas.clientHeight / 2 }) {
    this._moved = true;
    this.viewport.zoom(factor, at);
    this.redraw();
  }

  _select(number) {
    this.selected = number;
    this._tellFacts();
    this.redraw();
  }

  _toggle(node) {
    const scope = node?.folds ?? node?.scope;
    if (!scope) return;
    this._anchor = { key: node.key, scope };
    this._tell({ ask: node.folds ? "open" : "close", value: scope });
  }

  _tellFacts() {
    const node = this.drawing?.scene.nodes[this.selected];
    if (!node) {
      this._facts.replaceChildren(make("p", { class: "pslab-soft" }, WORDS.graph.help));
      return;
    }
    const words = node.folds ? WORDS.graph.open(node.folds) : node.scope ? WORDS.graph.fold(node.scope) : "";
    const rows = node.facts.flatMap(([name, value, code]) => [make("dt", {}, name), make("dd", {}, code ? make("code", {}, value) : value)]);
    this._facts.replaceChildren(make("h4", {}, node.title), ...(words ? [this._button("toggle", words, () => this._toggle(node))] : []), make("dl", {}, ...rows));
    setText(this._said, `${node.title}; ${node.facts.map(([name, value]) => `${name} ${value}`).join("; ")}`);
  }

  _button(name, words, act, label = words) {
    const button = make("button", { type: "button", "data-name": name, "aria-label": label, title: label }, words);
    button.addEventListener("click", act);
    return button;
  }

  _listen() {
    const { canvas } = this;
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      this._grip = { x: event.offsetX, y: event.offsetY, far: 0, moved: this._moved };
    });
    canvas.addEventListener("pointermove", (event) => this._move(event));
    canvas.addEventListener("pointerup", (event) => this._drop(event));
    canvas.addEventListener("dblclick", (event) => this._toggle(this.drawing?.scene.nodes[this._under(event)]));
    canvas.addEventListener("wheel", (event) => {
      if (document.activeElement !== canvas && !event.ctrlKey) return; // the page scrolls
      event.preventDefault();
      this._zoom(Math.exp(-event.deltaY * 0.0015), { x: event.offsetX, y: event.offsetY });
    }, { passive: false });
    keepKeys(this.element);
    canvas.addEventListener("keydown", (event) => { if (!event.ctrlKey && !event.metaKey) this._key(event); });
    this._sizes = new ResizeObserver(() => (this._fitted ? this.redraw() : this._fit(this._legible)));
    this._sizes.observe(canvas);
    this._theme = whenThemed(() => { this._colors = undefined; this.redraw(); });
  }

  _move(event) {
    const grip = this._grip;
    if (!grip) {
      this.canvas.style.cursor = this.drawing && this._under(event) >= 0 ? "pointer" : "grab";
      return;
    }
    this.viewport.pan(event.offsetX - grip.x, event.offsetY - grip.y);
    this._moved = true;
    grip.far += Math.abs(event.offsetX - grip.x) + Math.abs(event.offsetY - grip.y);
    Object.assign(grip, { x: event.offsetX, y: event.offsetY });
    this.redraw();
  }

  _drop(event) {
    const still = this._grip && this._grip.far < FAR_PX;
    if (still) this._moved = this._grip.moved;
    this._grip = null;
    if (still && this.drawing) this._select(this._under(event));
  }

  _under(event) {
    return nodeAt(this.drawing.scene, this.viewport.at({ x: event.offsetX, y: event.offsetY }));
  }

  _key(event) {
    const scene = this.drawing?.scene;
    if (!scene) return;
    const node = scene.nodes[this.selected];
    const act = {
      Enter: () => this._toggle(node),
      Backspace: () => node && this._toggle({ ...node, folds: null }),
      Escape: () => this._select(-1),
      "+": () => this._zoom(1.3),
      "=": () => this._zoom(1.3),
      "-": () => this._zoom(1 / 1.3),
      0: () => this._fit(false),
    }[event.key];
    if (!act && !event.key.startsWith("Arrow")) return;
    event.preventDefault();
    if (act) return act();
    this._moved = true;
    this._select(towards(scene, this.selected, event.key));
    this.viewport.show(scene.nodes[this.selected], this._size());
  }
}

const render = live((model, tell) => new GraphView(model.get("palette"), tell));

export default { render };
