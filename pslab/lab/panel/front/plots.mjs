// The plots side by side: sizes, hovering, zooming, the keyboard.

import { icon, make, setAttribute } from "./dom.mjs";
import { plotsOf } from "./figures.mjs";
import { formatCount } from "./format.mjs";
import { nearest } from "./history.mjs";
import { whenThemed } from "./live.mjs";
import { marksAt } from "./marks.mjs";
import { Pen, onPaper, sharpen, themeOf } from "./pen.mjs";
import { DASHES } from "./series_plot.mjs";
import { WORDS } from "./words.mjs";
import { inSight, look, moveBy, showAll, zoomBy } from "./zoom.mjs";

const FACTOR = 0.6;
const NEAR = 6; // pixels
const ZOOM_ICONS = { in: "M6 2h2v4h4v2H8v4H6V8H2V6h4z", out: "M2 6h10v2H2z", whole: "M1 7l3-3v2h6V4l3 3-3 3V8H4v2z" };

/** All plots, drawn from a history when `draw` is called. A timeline that is brushed while it goes on asks to be held, by an event `pslab-hold`. */
export class Plots {
  constructor(palette, hidden) {
    const { links, ...plots } = plotsOf(palette);
    this.view = { step: null, time: null, row: null, zoom: null, timeZoom: null, span: null };
    this._figures = Object.entries(plots).filter(([name]) => !hidden.includes(name)).map(([name, plot]) => this._figure(name, plot, name === "bytes" ? links : undefined));
    this._tip = make("div", { class: "pslab-tip", hidden: "", "aria-hidden": "true" });
    this._said = make("div", { class: "pslab-said", role: "status", "aria-live": "polite" });
    this.element = make("div", { class: "pslab-plots" }, ...this._figures.map((figure) => figure.element), this._tip, this._said);
    this._sizes = new ResizeObserver(() => this.redraw());
    for (const figure of this._figures) this._sizes.observe(figure.canvas);
    this._theme = whenThemed(() => this.redraw());
  }

  remove() {
    this._sizes.disconnect();
    this._theme.disconnect();
  }

  /** Draw a history, with the next frame of the screen. */
  draw(history) {
    this._history = history;
    this.redraw();
  }

  /** Whether the picture stands still; then the timeline can be moved, too. */
  set still(still) {
    this._still = still;
    if (!still) this.view.timeZoom = null;
    else this.view.span = null;
  }

  redraw() {
    if (this._frame || !this._history) return;
    this._frame = requestAnimationFrame(() => {
      this._frame = 0;
      const theme = themeOf(this.element);
      for (const figure of this._figures) this._drawFigure(figure, theme);
    });
  }

  _drawFigure(figure, theme) {
    const { canvas, plot } = figure;
    const size = sizeOf(canvas);
    if (!size.width || !size.height) return;
    const ratio = sharpen(canvas, size);
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    plot.draw(new Pen(context, theme), size, this._history, this.view);
    setAttribute(figure.element, "data-zoomed", plot.timed ? (this.view.timeZoom ?? this.view.span) && "" : plot.still ? null : this.view.zoom && "");
    this._drawBrush(figure, context, size, theme);
    this._drawLegend(figure, theme);
  }

  _drawLegend(figure, theme) {
    const all = figure.plot.legend(this._history).slice(0, 8);
    const entries = all.map((entry) => ({ ...entry, short: all.length > 4 && !entry.area }));
    const key = JSON.stringify([entries, theme.light]);
    if (figure.key === key) return;
    figure.key = key;
    setAttribute(figure.legend, "data-many", all.length > 4 ? "" : null);
    figure.legend.replaceChildren(...entries.map((entry) => make("span", {}, sample(entry, theme), entry.label)));
  }

  _drawBrush(figure, context, size, theme) {
    if (this._brush?.figure !== figure) return;
    const [from, to] = [this._brush.from, this._brush.to].sort((a, b) => a - b);
    Object.assign(context, { fillStyle: theme.ink, globalAlpha: 0.12 });
    context.fillRect(from, 0, to - from, size.height - 18);
    context.globalAlpha = 1;
  }

  _figure(name, plot, other) {
    const canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": WORDS.canvas(plot.title, plot.unit) });
    const legend = make("div", { class: "pslab-legend" });
    const figure = { name, plot, canvas, legend, key: "" };
    const turn = other === undefined ? [] : [this._turner(figure, plot, other)];
    const caption = make("figcaption", { title: `${plot.title} ${plot.unit}` }, make("strong", {}, plot.title), ...turn, make("span", { class: "pslab-unit" }, make("span", {}, plot.unit)), legend);
    figure.element = make("figure", { class: "pslab-figure", "data-plot": name }, caption, canvas, this._zoomer(figure));
    canvas.addEventListener("pointermove", (event) => this._point(figure, event));
    canvas.addEventListener("pointerleave", () => this._leave());
    canvas.addEventListener("pointerdown", (event) => this._press(figure, event));
    canvas.addEventListener("pointerup", () => this._release(figure));
    canvas.addEventListener("dblclick", () => { showAll(this.view); this.redraw(); });
    canvas.addEventListener("wheel", (event) => this._wheel(figure, event), { passive: false });
    canvas.addEventListener("keydown", (event) => this._key(figure, event));
    canvas.addEventListener("blur", () => this._leave());
    return figure;
  }

  /** What turns a figure from one plot to another, and back. */
  _turner(figure, plot, other) {
    const button = make("button", { type: "button", class: "pslab-turn", "aria-pressed": "false" }, WORDS.perLink);
    button.addEventListener("click", () => {
      figure.plot = figure.plot === plot ? other : plot;
      setAttribute(button, "aria-pressed", String(figure.plot === other));
      this._leave();
    });
    return button;
  }

  _zoomer(figure) {
    const button = (path, words, act) => {
      const element = make("button", { type: "button", tabindex: "-1", title: words, "aria-label": words }, icon(path));
      element.addEventListener("click", () => { act(); this.redraw(); });
      return element;
    };
    const by = (factor) => () => zoomBy(figure.plot, this._history, this.view, this._still, factor, null);
    return make("div", { class: "pslab-zoom" }, button(ZOOM_ICONS.out, WORDS.zoomOut, by(1 / FACTOR)), button(ZOOM_ICONS.whole, WORDS.whole, () => showAll(this.view)), button(ZOOM_ICONS.in, WORDS.zoomIn, by(FACTOR)));
  }

  /** The value on the horizontal axis at a place of the canvas. */
  _at(figure, x) {
    const box = figure.plot.box(sizeOf(figure.canvas), this._history);
    const [low, high] = inSight(figure.plot, this._history, this.view);
    return low + ((x - box.left) / box.width) * (high - low);
  }

  _press(figure, event) {
    if (figure.plot.still) return;
    this._brush = { figure, from: event.offsetX, to: event.offsetX };
    figure.canvas.setPointerCapture(event.pointerId);
  }

  _point(figure, event) {
    if (!this._history) return;
    if (figure.plot.still) {
      this._showRow(figure, figure.plot.rowAt(sizeOf(figure.canvas), this._history, event.offsetY), event.offsetX);
      return;
    }
    if (this._brush) this._brush.to = event.offsetX;
    if (this._brush && figure.plot.timed && !this._still && Math.abs(this._brush.to - this._brush.from) > NEAR) this.element.dispatchEvent(new CustomEvent("pslab-hold", { bubbles: true }));
    this._show(figure, this._at(figure, event.offsetX), event.offsetX, figure.plot.workerAt?.(sizeOf(figure.canvas), this._history, event.offsetY));
  }

  _showRow(figure, row, x) {
    this.view.row = row;
    this._tell(figure, [], figure.plot.tell(this._history, row, sizeOf(figure.canvas)), x);
    this.redraw();
  }

  _show(figure, value, x, worker = null) {
    if (figure.plot.timed) {
      Object.assign(this.view, { time: value, step: null });
      this._tell(figure, [], figure.plot.tell(this._history, value, worker), x);
    } else {
      const { x: steps } = this._history.curve("step");
      const at = nearest(steps, value);
      Object.assign(this.view, { step: at < 0 ? null : steps[at], time: null });
      if (at >= 0) this._tell(figure, this._heading(figure, steps[at]), figure.plot.tell(this._history, steps[at]), x);
    }
    this.redraw();
  }

  /** Which step it is, and what was changed there or before it. */
  _heading(figure, step) {
    const [low, high] = inSight(figure.plot, this._history, this.view);
    const reach = (NEAR * (high - low)) / figure.plot.box(sizeOf(figure.canvas), this._history).width;
    const mean = this._history.width > 1 ? WORDS.mean(this._history.width) : "";
    return [WORDS.step(formatCount(step)) + mean, ...marksAt(this._history.state.marks ?? [], step, reach)];
  }

  _tell(figure, heading, told, x) {
    this._tip.hidden = !told.length;
    const theme = themeOf(this.element);
    const line = (entry) => make("div", {}, entry.color ? sample(entry, theme) : "", `${entry.label} `, make("b", {}, entry.value));
    this._tip.replaceChildren(...heading.map((words) => make("div", { class: "pslab-soft" }, words)), ...told.map(line));
    const [place, home] = [figure.canvas.getBoundingClientRect(), this.element.getBoundingClientRect()];
    const width = this._tip.offsetWidth;
    const left = place.left - home.left + x + 14;
    this._tip.style.left = `${left + width > home.width ? Math.max(0, left - width - 28) : left}px`;
    this._tip.style.top = `${place.top - home.top + 10}px`;
  }

  _leave() {
    this._tip.hidden = true;
    Object.assign(this.view, { step: null, time: null, row: null });
    this.redraw();
  }

  _release(figure) {
    const brush = this._brush;
    this._brush = undefined;
    if (brush && Math.abs(brush.to - brush.from) >= NEAR + 2) look(figure.plot, this._history, this.view, [brush.from, brush.to].sort((a, b) => a - b).map((x) => this._at(figure, x)));
    this.redraw();
  }

  /** The wheel is the page's, unless the plot was clicked at, or Control is held. */
  _wheel(figure, event) {
    const mine = event.ctrlKey || event.metaKey || document.activeElement === figure.canvas;
    if (!mine || figure.plot.still || !this._history) return;
    event.preventDefault();
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) this._move(figure, Math.sign(event.deltaX || event.deltaY) * 0.1);
    else zoomBy(figure.plot, this._history, this.view, this._still, event.deltaY > 0 ? 1 / FACTOR ** 0.5 : FACTOR ** 0.5, this._at(figure, event.offsetX));
    this.redraw();
  }

  _move(figure, share) {
    if (figure.plot.timed && !this._still) this.element.dispatchEvent(new CustomEvent("pslab-hold", { bubbles: true }));
    moveBy(figure.plot, this._history, this.view, share);
  }

  _key(figure, event) {
    const direction = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
    const factor = { "+": FACTOR, "=": FACTOR, "-": 1 / FACTOR }[event.key];
    if (event.key === "Escape" || event.key === "0") {
      showAll(this.view);
      this._leave();
    }
    if ((!direction && !factor) || !this._history || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    if (figure.plot.still) {
      const rows = (this._history.state.links ?? []).length;
      if (direction && rows) this._read(figure, () => this._showRow(figure, Math.min(Math.max((this.view.row ?? -1) + direction, 0), figure.plot.rowAt(sizeOf(figure.canvas), this._history, Infinity)), figure.canvas.clientWidth / 2));
      return;
    }
    if (factor) zoomBy(figure.plot, this._history, this.view, this._still, factor, this.view.time ?? this.view.step);
    else if (event.shiftKey) this._move(figure, 0.2 * direction);
    else this._readOn(figure, direction);
    this.redraw();
  }

  /** Go to the next place where there is something to read. */
  _readOn(figure, direction) {
    const [low, high] = inSight(figure.plot, this._history, this.view);
    const all = figure.plot.timed ? this._history.steps().map((step) => step.end - step.wall / 2).sort((a, b) => a - b) : this._history.curve("step").x;
    const values = all.filter((value) => value >= low && value <= high);
    if (!values.length) return;
    const now = figure.plot.timed ? this.view.time : this.view.step;
    const at = now === null ? values.length - 1 : Math.min(Math.max(nearest(values, now) + direction, 0), values.length - 1);
    this._read(figure, () => this._show(figure, values[at], figure.canvas.clientWidth / 2));
  }

  /** Show something, and let a screen reader say it. */
  _read(figure, show) {
    show();
    setAttribute(this._tip, "data-plot", figure.name);
    this._said.textContent = this._tip.innerText.replace(/\n/g, ", ");
  }
}

function sizeOf(canvas) {
  return { width: canvas.clientWidth, height: canvas.clientHeight };
}

/** A short sample of a line or an area. */
function sample(entry, theme) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ width: entry.area ? 9 : entry.short ? 12 : 18, height: 10, "aria-hidden": "true" })) svg.setAttribute(name, value);
  const color = theme[entry.color] ?? onPaper(entry.color, theme);
  svg.innerHTML = entry.area
    ? `<rect y="0.5" width="9" height="9" fill="${color}"/>${{ "/": '<path d="M1 9 8 1M5 9 11 2" ', "\\": '<path d="M1 1 8 9M5 1 11 8" ', ".": '<path d="M2 3h1M6 3h1M10 3h1M2 7h1M6 7h1M10 7h1" ' }[entry.hatch]?.concat(`stroke="${theme.paper}" opacity="0.7"/>`) ?? ""}`
    : `<line x1="0" y1="5" x2="100%" y2="5" stroke="${color}" stroke-width="2" stroke-dasharray="${DASHES[entry.dash].join(" ")}"/>`;
  return svg;
}
