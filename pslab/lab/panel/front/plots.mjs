// The plots side by side: sizes, hovering, zooming, the keyboard.

import { AreaPlot } from "./area_plot.mjs";
import { make, setAttribute } from "./dom.mjs";
import { formatBytes, formatCount, formatNumber, formatSeconds } from "./format.mjs";
import { nearest } from "./history.mjs";
import { Pen, onPaper, themeOf } from "./pen.mjs";
import { amountScale, divergenceScale, linearScale, lossScale } from "./scales.mjs";
import { DASHES, SeriesPlot, inner, stepRange } from "./series_plot.mjs";
import { TimelinePlot, timeWindow } from "./timeline_plot.mjs";

const HATCHES = { compute: "", push: "\\", wait: "/", pull: "." };

/** What each plot shows, in the palette of `pslab.lab.palette`. */
export function plotsOf(palette) {
  const phases = Object.fromEntries(Object.entries(palette.phases).map(([name, color]) => [name, { color, hatch: HATCHES[name] }]));
  const metric = (history) => (history.state.metrics ?? []).slice(0, 1);
  const series = (k) => ({ color: palette.series[k % palette.series.length], dash: k % DASHES.length });
  return {
    loss: new SeriesPlot({
      title: "Loss and accuracy", unit: "of a worker's batch, over global steps", empty: "no steps yet",
      lines: (history) => [
        { column: "loss", label: "loss", ...series(0), dash: 0, side: "left" },
        ...metric(history).map((name) => ({ column: name, label: name, ...series(1), side: "right" })),
      ],
      scales: { left: lossScale, right: (values) => (values.every((v) => v >= 0 && v <= 1) ? linearScale(0, 1) : lossScale(values)) },
      formats: { left: formatNumber, right: formatNumber },
    }),
    divergence: new SeriesPlot({
      title: "Divergence", sparse: true, unit: "‖θ worker − θ ps‖ / ‖θ ps‖ before the update", empty: "no step was observed yet",
      lines: (history) => Array.from({ length: history.state.workers ?? 0 }, (_, k) => ({ column: `divergence:${k}`, label: `w${k}`, ...series(k), side: "left" })),
      scales: { left: divergenceScale },
      formats: { left: formatNumber },
    }),
    bytes: new SeriesPlot({
      title: "Bytes", unit: "per worker step, on the wire", empty: "no steps yet",
      lines: (history) => ["pushed", "pulled", "fed"].flatMap((flow, k) => {
        const column = `bytes_${flow}`;
        const used = flow !== "fed" || history.curve(column).y.some((value) => value > 0);
        return used ? [{ column, label: flow, color: palette.flows[flow], dash: [0, 1, 3][k], side: "left" }] : [];
      }),
      scales: { left: amountScale },
      formats: { left: formatBytes },
    }),
    time: new AreaPlot({
      title: "Time", unit: "per worker step", empty: "no steps yet",
      parts: () => ["compute", "push", "wait", "pull"].map((name) => ({ column: name, label: name, ...phases[name] })),
      format: formatSeconds,
    }),
    timeline: new TimelinePlot({ title: "Timeline", unit: "the last steps of each worker", empty: "no steps yet", phases }),
  };
}

/** All plots, drawn from a history when `draw` is called. */
export class Plots {
  constructor(palette, hidden) {
    this.plots = Object.fromEntries(Object.entries(plotsOf(palette)).filter(([name]) => !hidden.includes(name)));
    this.view = { step: null, time: null, zoom: null, timeZoom: null };
    this._figures = Object.entries(this.plots).map(([name, plot]) => this._figure(name, plot));
    this._tip = make("div", { class: "pslab-tip", hidden: "", "aria-hidden": "true" });
    this._said = make("div", { class: "pslab-said", role: "status", "aria-live": "polite" });
    this.element = make("div", { class: "pslab-plots" }, ...this._figures.map((figure) => figure.element), this._tip, this._said);
    this._sizes = new ResizeObserver(() => this.redraw());
    for (const figure of this._figures) this._sizes.observe(figure.canvas);
    this._theme = new MutationObserver(() => this.redraw());
    this._theme.observe(document.body, { attributes: true, attributeFilter: ["data-jp-theme-light", "data-jp-theme-name"] });
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

  /** Whether the picture stands still; only then the timeline can be zoomed into. */
  set still(still) {
    this._still = still;
    if (!still) this.view.timeZoom = null;
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
    const size = { width: canvas.clientWidth, height: canvas.clientHeight };
    if (!size.width || !size.height) return;
    const ratio = devicePixelRatio || 1;
    const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
    const context = canvas.getContext("2d");
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    plot.draw(new Pen(context, theme), size, this._history, this.view);
    this._drawBrush(figure, context, size, theme);
    this._drawLegend(figure, theme);
  }

  _drawLegend(figure, theme) {
    const entries = figure.plot.legend(this._history).slice(0, 8);
    const key = JSON.stringify([entries, theme.light]);
    if (figure.key === key) return;
    figure.key = key;
    figure.legend.replaceChildren(...entries.map((entry) => make("span", {}, sample(entry, theme), entry.label)));
  }

  _drawBrush(figure, context, size, theme) {
    if (this._brush?.figure !== figure) return;
    const [from, to] = [this._brush.from, this._brush.to].sort((a, b) => a - b);
    Object.assign(context, { fillStyle: theme.ink, globalAlpha: 0.12 });
    context.fillRect(from, 0, to - from, size.height - 18);
    context.globalAlpha = 1;
  }

  _figure(name, plot) {
    const canvas = make("canvas", { tabindex: "0", role: "img", "aria-label": `${plot.title}, ${plot.unit}. Arrow keys read values, Escape ends.` });
    const legend = make("div", { class: "pslab-legend" });
    const element = make("figure", { class: "pslab-figure", "data-plot": name }, make("figcaption", { title: `${plot.title} ${plot.unit}` }, make("strong", {}, plot.title), make("span", { class: "pslab-unit" }, make("span", {}, plot.unit)), legend), canvas);
    const figure = { name, plot, canvas, legend, element, key: "" };
    canvas.addEventListener("pointermove", (event) => this._point(figure, event));
    canvas.addEventListener("pointerleave", () => this._leave());
    canvas.addEventListener("pointerdown", (event) => { this._brush = { figure, from: event.offsetX, to: event.offsetX }; canvas.setPointerCapture(event.pointerId); });
    canvas.addEventListener("pointerup", () => this._zoom(figure));
    canvas.addEventListener("dblclick", () => { Object.assign(this.view, { zoom: null, timeZoom: null }); this.redraw(); });
    canvas.addEventListener("keydown", (event) => this._key(figure, event));
    canvas.addEventListener("blur", () => this._leave());
    return figure;
  }

  /** The value on the horizontal axis at a place of the canvas. */
  _at(figure, x) {
    const size = { width: figure.canvas.clientWidth, height: figure.canvas.clientHeight };
    const right = figure.plot.timed ? 12 : figure.name === "loss" && (this._history.state.metrics ?? []).length ? 34 : undefined;
    const box = inner(size, right);
    if (figure.plot.timed) Object.assign(box, { left: 74, width: size.width - 74 - 12 });
    const [low, high] = figure.plot.timed ? this.view.timeZoom ?? timeWindow(this._history.steps()) : stepRange(this._history, this.view.zoom);
    return low + ((x - box.left) / box.width) * (high - low);
  }

  _point(figure, event) {
    if (!this._history) return;
    if (this._brush) this._brush.to = event.offsetX;
    this._show(figure, this._at(figure, event.offsetX), event.offsetX);
  }

  _show(figure, value, x) {
    const { x: steps } = this._history.curve("step");
    const at = nearest(steps, value);
    Object.assign(this.view, figure.plot.timed ? { time: value, step: null } : { step: at < 0 ? null : steps[at], time: null });
    const told = figure.plot.timed ? figure.plot.tell(this._history, value) : at < 0 ? [] : figure.plot.tell(this._history, steps[at]);
    const heading = figure.plot.timed ? "" : at < 0 ? "" : `step ${formatCount(steps[at])}${this._history.width > 1 ? `, mean of ${this._history.width}` : ""}`;
    this._tell(figure, heading, told, x);
    this.redraw();
  }

  _tell(figure, heading, told, x) {
    this._tip.hidden = !told.length;
    const theme = themeOf(this.element);
    this._tip.replaceChildren(...(heading ? [make("div", { class: "pslab-soft" }, heading)] : []), ...told.map((entry) => make("div", {}, entry.color ? sample(entry, theme) : "", `${entry.label} `, make("b", {}, entry.value))));
    const [place, home] = [figure.canvas.getBoundingClientRect(), this.element.getBoundingClientRect()];
    const width = this._tip.offsetWidth;
    const left = place.left - home.left + x + 14;
    this._tip.style.left = `${left + width > home.width ? Math.max(0, left - width - 28) : left}px`;
    this._tip.style.top = `${place.top - home.top + 10}px`;
    return `${heading}: ${told.map((entry) => `${entry.label} ${entry.value}`).join(", ")}`;
  }

  _leave() {
    this._tip.hidden = true;
    Object.assign(this.view, { step: null, time: null });
    this.redraw();
  }

  _zoom(figure) {
    const brush = this._brush;
    this._brush = undefined;
    if (!brush || Math.abs(brush.to - brush.from) < 8 || (figure.plot.timed && !this._still)) return this.redraw();
    const range = [brush.from, brush.to].sort((a, b) => a - b).map((x) => this._at(figure, x));
    Object.assign(this.view, figure.plot.timed ? { timeZoom: range } : { zoom: range });
    return this.redraw();
  }

  _key(figure, event) {
    const direction = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (event.key === "Escape") {
      Object.assign(this.view, { zoom: null, timeZoom: null });
      this._leave();
    }
    if (!direction || !this._history) return;
    event.preventDefault();
    const values = figure.plot.timed ? this._history.steps().map((step) => step.end - step.wall / 2).sort((a, b) => a - b) : this._history.curve("step").x;
    if (!values.length) return;
    const now = figure.plot.timed ? this.view.time : this.view.step;
    const at = now === null ? values.length - 1 : Math.min(Math.max(nearest(values, now) + direction, 0), values.length - 1);
    this._show(figure, values[at], figure.canvas.clientWidth / 2);
    setAttribute(this._tip, "data-plot", figure.name);
    this._said.textContent = this._tip.innerText.replace(/\n/g, ", ");
  }
}

/** A short sample of a line or an area. */
function sample(entry, theme) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  for (const [name, value] of Object.entries({ width: entry.area ? 10 : 18, height: 10, "aria-hidden": "true" })) svg.setAttribute(name, value);
  const color = onPaper(entry.color, theme);
  svg.innerHTML = entry.area
    ? `<rect y="0.5" width="10" height="9" fill="${color}"/>${{ "/": '<path d="M1 9 8 1M5 9 11 2" ', "\\": '<path d="M1 1 8 9M5 1 11 8" ', ".": '<path d="M2 3h1M6 3h1M10 3h1M2 7h1M6 7h1M10 7h1" ' }[entry.hatch]?.concat(`stroke="${theme.paper}" opacity="0.7"/>`) ?? ""}`
    : `<line x1="0" y1="5" x2="18" y2="5" stroke="${color}" stroke-width="2" stroke-dasharray="${DASHES[entry.dash].join(" ")}"/>`;
  return svg;
}
