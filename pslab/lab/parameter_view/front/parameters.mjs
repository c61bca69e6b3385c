// The parameter view in a notebook: what the kernel tells is drawn; by which directions, and how much of the paths, is asked for.

import { make, setAttribute, setText } from "../../panel/front/dom.mjs";
import { formatCount, formatNumber } from "../../panel/front/format.mjs";
import { keepKeys, live, whenThemed } from "../../panel/front/live.mjs";
import { onPaper, sharpen, themeOf } from "../../panel/front/pen.mjs";
import { WORDS } from "../../panel/front/words.mjs";
import { lossAt, surfaceOf } from "./contours.mjs";
import { PlanePainter, planeBox } from "./parameter_paint.mjs";
import { pointNear, pointTowards, projection, trailsOf } from "./trails.mjs";

const SILENCE_MS = 5000;
const NEAR = 12; // pixels
let views = 0;

/** The whole view as an element. `tell(message)` sends to the kernel. */
class ParameterPanel {
  constructor(colors, tell) {
    const words = WORDS.parameters;
    this.state = {};
    this.scene = { trails: [], surface: null, window: null, axes: ["", ""] };
    this.frames = 0;
    this.pointed = null;
    this._colors = colors;
    this._painter = new PlanePainter();
    this._choices = {
      directions: this._choice("directions", words.directions, { pca: words.pca, random: words.random }, tell),
      trail: this._choice("trail", words.trail, { whole: words.whole, latest: words.latest }, tell),
    };
    this._still = make("button", { type: "button", "data-name": "hold", "aria-pressed": "false", title: WORDS.holdHint }, WORDS.hold);
    this._still.addEventListener("click", () => this._hold(this._still.getAttribute("aria-pressed") !== "true"));
    this._status = make("div", { class: "pslab-status" });
    this._notice = make("div", { class: "pslab-notice", role: "alert" });
    this.canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": words.canvas(words.nobody) });
    this._empty = make("p", { class: "pslab-soft pslab-parameters-empty" }, words.empty);
    this._tip = make("div", { class: "pslab-tip", hidden: "", "aria-hidden": "true" });
    this._said = make("div", { class: "pslab-said", role: "status", "aria-live": "polite" });
    this._legend = make("div", { class: "pslab-parameters-legend" });
    this.element = make("div", { class: "pslab-panel pslab-parameters", role: "region", "aria-label": words.title },
      make("div", { class: "pslab-bar", role: "toolbar", "aria-label": words.title }, ...Object.values(this._choices).map((choice) => choice.element), this._still, this._status),
      make("div", { class: "pslab-parameters-place" }, this.canvas, this._empty, this._tip), this._legend, this._notice, this._said);
    this._listen();
  }

  remove() {
    clearInterval(this._watch);
    this._sizes.disconnect();
    this._theme.disconnect();
    this._removed = true;
  }

  /** Take in what the kernel tells. */
  take(changes, buffers) {
    this._heard = Date.now();
    this.element.classList.remove("pslab-silent");
    if (!Object.keys(changes).length) return;
    const { trails, surface, ...state } = changes;
    Object.assign(this.state, state);
    if (trails) this.state.trails = trailsOf(trails, buffers);
    if (surface !== undefined) this.state.surface = surface && surfaceOf(surface, buffers);
    this._show();
  }

  _show() {
    const { state } = this;
    for (const [name, choice] of Object.entries(this._choices)) choice.show(state[name]);
    this._showStatus(state);
    setText(this._notice, state.message || (state.resident ? WORDS.parameters.resident : ""));
    if (!this._held) this._follow();
  }

  /** Let the picture be what the kernel has told. */
  _follow() {
    const { trails = [], surface = null, window = null, shares } = this.state;
    const words = WORDS.parameters;
    const axes = [words.first, words.second].map((which, k) => (shares ? words.axis(which, percent(shares[k])) : which));
    this.scene = { trails, surface, window, axes };
    if (this.pointed && !trails[this.pointed[0]]?.points[this.pointed[1]]) this.pointed = null;
    this._empty.hidden = Boolean(window);
    setAttribute(this.canvas, "aria-label", words.canvas(trails.map(({ name }) => name).join(", ") || words.nobody));
    this._showLegend();
    this.redraw();
  }

  _showStatus({ training, step, mode, spread }) {
    const apart = spread && spread[0] !== null ? [WORDS.parameters.apart(formatNumber(spread[0]), formatNumber(spread[1]))] : [];
    const parts = [WORDS.step(formatCount(step ?? 0)), mode, ...apart];
    this._status.replaceChildren(make("span", { class: "pslab-state", "data-state": training }, WORDS.states[training] ?? training), ...parts.map((part) => make("span", {}, part)));
  }

  _showLegend() {
    const { trails, surface } = this.scene;
    const theme = themeOf(this.element);
    const words = WORDS.parameters;
    const key = JSON.stringify([trails.map(({ name }) => name), surface?.step, theme.light, trails.some(({ points }) => points.some((point) => point.commit))]);
    if (this._legendKey === key) return;
    this._legendKey = key;
    const color = (name) => (name === "ps" ? theme.ink : onPaper(this._colors[Number(name.split(":")[1]) % this._colors.length], theme));
    const line = (name) => `<line x1="0" y1="6" x2="14" y2="6" stroke="${color(name)}" stroke-width="${name === "ps" ? 2.5 : 1.75}"/>${name === "ps" ? `<rect x="13" y="1.5" width="9" height="9" fill="${color(name)}"/>` : `<circle cx="17" cy="6" r="4.5" fill="${color(name)}"/>`}`;
    const pulls = `<path d="M4 2.4 7.6 6 4 9.6 .4 6z" fill="${theme.soft}"/><line x1="9" y1="6" x2="24" y2="6" stroke="${theme.soft}" stroke-width="1.25" stroke-linecap="round" stroke-dasharray="1.5 3.5"/>`;
    const begun = `<circle cx="12" cy="6" r="3.5" fill="${theme.paper}" stroke="${theme.soft}" stroke-width="1.5"/>`;
    const commits = trails.some(({ points }) => points.some((point) => point.commit));
    this._legend.replaceChildren(
      ...trails.map(({ name }) => entry(line(name), name)),
      ...(trails.length ? [entry(begun, words.oldest)] : []),
      ...(commits ? [entry(pulls, words.pulled)] : []),
      ...(surface ? [make("span", {}, words.surface(formatCount(surface.step)))] : []));
  }

  redraw() {
    if (this._frame || this._removed) return;
    this._frame = requestAnimationFrame(() => {
      this._frame = 0;
      this._draw();
    });
  }

  _draw() {
    const { canvas } = this;
    const size = { width: canvas.clientWidth, height: canvas.clientHeight };
    if (!size.width || !size.height) return;
    const ratio = sharpen(canvas, size);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    if (!this.scene.window) return;
    this._painter.draw(context, this.scene, { size, theme: themeOf(this.element), colors: this._colors, pointed: this.pointed });
    this.frames += 1;
  }

  _place() {
    return projection(this.scene.window, planeBox({ width: this.canvas.clientWidth, height: this.canvas.clientHeight }));
  }

  _point(event) {
    if (!this.scene.window) return;
    const place = this._place();
    const at = { x: event.offsetX, y: event.offsetY };
    this.pointed = pointNear(this.scene.trails, place, at, NEAR);
    this._tell(at, place.at(at.x, at.y));
    this.redraw();
  }

  /** What is told of the point that is meant, and of the surface there. */
  _tell(at, [x, y]) {
    const words = WORDS.parameters;
    const lines = [];
    if (this.pointed) {
      const { name, points } = this.scene.trails[this.pointed[0]];
      const point = points[this.pointed[1]];
      lines.push(`${name}, ${WORDS.step(formatCount(point.step))}`);
      if (point.commit) lines.push(words.commit);
      if (Number.isFinite(point.loss)) lines.push(words.batchLoss(formatNumber(point.loss)));
      [x, y] = [point.x, point.y];
    }
    const loss = this.scene.surface ? lossAt(this.scene.surface, x, y) : NaN;
    if (Number.isFinite(loss)) lines.push(words.lossHere(formatNumber(loss)));
    this._tip.hidden = !lines.length;
    this._tip.replaceChildren(...lines.map((line, k) => make("div", {}, k || !this.pointed ? line : make("b", {}, line))));
    const width = this._tip.offsetWidth;
    this._tip.style.left = `${at.x + 14 + width > this.canvas.clientWidth ? Math.max(0, at.x - width - 14) : at.x + 14}px`;
    this._tip.style.top = `${Math.min(at.y + 10, this.canvas.clientHeight - this._tip.offsetHeight)}px`;
    return lines;
  }

  _leave() {
    this._tip.hidden = true;
    this.pointed = null;
    this.redraw();
  }

  _key(event) {
    if (event.key === "Escape") this._leave();
    if (!event.key.startsWith("Arrow") || !this.scene.window) return;
    event.preventDefault();
    this.pointed = pointTowards(this.scene.trails, this.pointed, event.key);
    if (!this.pointed) return;
    const place = this._place();
    const point = this.scene.trails[this.pointed[0]].points[this.pointed[1]];
    setText(this._said, this._tell({ x: place.x(point.x), y: place.y(point.y) }, [point.x, point.y]).join(", "));
    this.redraw();
  }

  _hold(on) {
    this._held = on;
    setAttribute(this._still, "aria-pressed", String(on));
    if (!on) this._follow();
  }

  _choice(name, label, options, tell) {
    const id = `pslab-parameters-${++views}`;
    const inputs = Object.keys(options).map((value) => make("input", { type: "radio", name: id, value, id: `${id}-${value}` }));
    for (const input of inputs) input.addEventListener("change", () => tell({ ask: name, value: input.value }));
    const group = make("div", { class: "pslab-segments", role: "radiogroup", "aria-label": label, "data-name": name }, ...inputs.flatMap((input) => [input, make("label", { for: input.id }, options[input.value])]));
    const show = (value) => inputs.forEach((input) => { if (input.checked !== (input.value === value)) input.checked = input.value === value; });
    return { element: make("div", { class: "pslab-parameters-choice" }, make("span", { class: "pslab-soft", "aria-hidden": "true" }, label), group), show };
  }

  _listen() {
    const { canvas } = this;
    canvas.addEventListener("pointermove", (event) => this._point(event));
    canvas.addEventListener("pointerleave", () => this._leave());
    canvas.addEventListener("blur", () => this._leave());
    canvas.addEventListener("keydown", (event) => this._key(event));
    keepKeys(this.element);
    this._sizes = new ResizeObserver(() => this.redraw());
    this._sizes.observe(canvas);
    this._theme = whenThemed(() => { this._showLegend(); this.redraw(); });
    this._watch = setInterval(() => this._showSilence(), 1000);
  }

  _showSilence() {
    if (!this._heard || Date.now() - this._heard <= SILENCE_MS) return;
    this.element.classList.add("pslab-silent");
    setText(this._notice, WORDS.parameters.silence);
  }
}

function entry(drawing, words) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ width: 25, height: 12, "aria-hidden": "true" })) svg.setAttribute(name, value);
  svg.innerHTML = drawing;
  return make("span", {}, svg, words);
}

function percent(share) {
  return `${share >= 0.1 ? Math.round(100 * share) : formatNumber(Number((100 * share).toPrecision(2)))} %`;
}

const render = live((model, tell) => new ParameterPanel(model.get("colors"), tell));

export default { render };
