// A race as an SVG picture.

import { setAttribute } from "../../panel/front/dom.mjs";
import { formatNumber, lettersOf } from "../../panel/front/format.mjs";
import { onPaper } from "../../panel/front/pen.mjs";
import { WORDS } from "../../panel/front/words.mjs";
import { GUTTER, HEAD, layout, messageWords, spanWords } from "./race_layout.mjs";

const WRONG = "#D55E00";
let pictures = 0;

/** Draws scenes; `choose(message)` is called where somebody chooses one that waits. */
export class RaceDiagram {
  constructor(colors, choose) {
    this._colors = colors;
    this._choose = choose;
    this._hatch = `pslab-race-hatch-${++pictures}`;
    this.element = shape("svg", { class: "pslab-race-diagram", role: "group" });
  }

  /** Draw a scene up to the moment `at`. */
  draw(scene, at, width, theme) {
    const plan = layout(scene, at, width);
    this._theme = theme;
    this._color = (worker) => onPaper(this._colors[worker % this._colors.length], theme);
    setAttribute(this.element, "viewBox", `0 0 ${plan.width} ${plan.height}`);
    setAttribute(this.element, "width", plan.width);
    setAttribute(this.element, "height", plan.height);
    setAttribute(this.element, "aria-label", WORDS.race.picture(at, plan.moment.words));
    const focused = this.element.contains(document.activeElement) ? document.activeElement.dataset.message : null;
    this.element.replaceChildren(
      this._hatchPattern(), ...this._grid(plan), ...plan.spans.map((span) => this._span(span)), ...plan.reads.map((read) => this._read(read)),
      ...plan.pushes.map((push) => this._push(push)), ...this._versions(plan), ...plan.gathered.map((tray) => this._tray(tray)),
      ...plan.waiting.map((message) => this._message(message, scene)));
    if (focused) [...this.element.querySelectorAll("[data-message]")].find((pill) => pill.dataset.message === focused)?.focus();
    return plan;
  }

  _hatchPattern() {
    const line = shape("path", { d: "M-1 1 1 -1M0 6 6 0M5 7 7 5", stroke: this._theme.soft, "stroke-width": 1, opacity: 0.55 });
    return shape("defs", {}, shape("pattern", { id: this._hatch, width: 6, height: 6, patternUnits: "userSpaceOnUse" }, line));
  }

  _grid(plan) {
    const { ink, soft, grid } = this._theme;
    const drawn = [text(WORDS.race.column, GUTTER - 18, HEAD / 2 + 1, soft, "end")];
    for (const { number, x, loss, norm } of plan.columns) {
      const now = number === plan.at;
      if (now) drawn.push(shape("rect", { x: x - plan.column / 2 + 2, y: 0, width: plan.column - 4, height: plan.height, rx: 4, fill: ink, opacity: 0.05 }));
      drawn.push(text(number ? `${number}` : WORDS.race.start, x, HEAD / 2 + 1, now ? ink : soft, "middle", now ? "bold" : null));
      for (const [row, value] of [["loss", loss], ["norm", norm]]) if (value !== null) drawn.push(text(measured(value), x, plan.rows[row], now ? ink : soft, "middle"));
    }
    drawn.push(text(WORDS.race.loss, GUTTER - 18, plan.rows.loss, soft, "end"), text("‖θ‖", GUTTER - 18, plan.rows.norm, soft, "end"));
    for (const { name, kind, y } of plan.lanes) {
      const server = kind === "ps";
      drawn.push(shape("line", { x1: GUTTER, y1: y, x2: plan.ends, y2: y, stroke: server ? soft : grid, "stroke-width": server ? 2 : 1 }));
      if (!server) drawn.push(shape("rect", { x: 4, y: y - 4, width: 8, height: 8, rx: 2, fill: this._color(Number(name.split(":")[1])) }));
      drawn.push(text(name, GUTTER - 18, y, ink, "end", server ? "bold" : null));
    }
    return drawn;
  }

  _span(span) {
    const color = this._color(span.worker);
    const computes = span.what === "computes";
    const box = { x: span.x, y: span.y, width: span.width, height: span.height, rx: 4 };
    const bar = shape("rect", { ...box, fill: computes ? color : `url(#${this._hatch})`, "fill-opacity": computes ? 0.2 : 1, stroke: computes ? color : this._theme.soft, "stroke-width": 1, "stroke-dasharray": computes ? null : "3 3" });
    const [words, ...shorter] = spanWords(span);
    const fits = [words, ...shorter].find((some) => 6.2 * lettersOf(some) + 10 <= span.width) ?? "";
    return shape("g", { class: "pslab-race-span", "data-what": span.what, "data-worker": span.worker }, shape("title", {}, computes ? WORDS.race.computing(span.worker, shorter[0]) : WORDS.race.doing(span.worker, words)), shape("rect", { ...box, fill: this._theme.paper }), bar, haloed(text(fits, span.x + 7, span.y + span.height / 2, this._theme.ink), this._theme, computes ? 0 : 3));
  }

  _read({ worker, version, ps, x0, y0, x1, y1 }) {
    const color = this._color(worker);
    return shape("g", { class: "pslab-race-read", opacity: 0.75 }, shape("title", {}, WORDS.race.reads(worker, version, ps)), ...arrow(x0, y0, x1, y1, color, this._theme, "2 3"));
  }

  _push({ worker, ps, what, stale, x0, y0, x1, y1 }) {
    const color = this._color(worker);
    const dropped = what === "dropped";
    const parts = arrow(x0, y0, x1, dropped ? y1 + 8 : y1, color, this._theme, null);
    if (what === "gathered") parts.push(shape("circle", { cx: x1, cy: y1 - 6, r: 5.5, fill: color, stroke: this._theme.ink }));
    if (dropped) parts.push(shape("path", { d: `M${x1 - 5} ${y1 - 5}l10 10m0 -10l-10 10`, stroke: onPaper(WRONG, this._theme), "stroke-width": 2.5, fill: "none" }));
    const words = dropped ? WORDS.race.dropped(stale) : WORDS.race.stale(stale);
    parts.push(haloed(text(words, x1 - 9 - 0.06 * (x1 - x0), y1 + (what === "applied" ? 13 : 18), stale ? onPaper(WRONG, this._theme) : this._theme.soft, "end", stale ? "bold" : null), this._theme));
    return shape("g", { class: "pslab-race-push", "data-what": what, "data-worker": worker, "data-stale": stale }, shape("title", {}, `worker:${worker} → ${ps}: ${words}`), ...parts);
  }

  _versions(plan) {
    const { ink, paper } = this._theme;
    const bead = (x, y, words, faint) => shape("g", { class: "pslab-race-version", opacity: faint ? 0.5 : 1 }, shape("rect", { x: x - 15, y: y - 11, width: 30, height: 22, rx: 11, fill: paper, stroke: ink, "stroke-width": 1.5 }), text(words, x, y + 0.5, ink, "middle", "bold"));
    const before = plan.before.filter(({ version }) => version !== null).map(({ version, y }) => bead(GUTTER + 2, y, `v${version}`, true));
    return [...before, ...plan.beads.map(({ version, x, y }) => bead(x, y, `v${version}`))];
  }

  /** What has been gathered for an update, of how many. */
  _tray({ workers, required, x, y, ps }) {
    const { ink, soft } = this._theme;
    const slots = Array.from({ length: Math.max(required, workers.length) }, (_, k) => shape("circle", { cx: x + 8 + 15 * k, cy: y, r: 5.5, fill: k < workers.length ? this._color(workers[k]) : "none", stroke: k < workers.length ? ink : soft, "stroke-dasharray": k < workers.length ? null : "2 2" }));
    return shape("g", { class: "pslab-race-tray" }, shape("title", {}, WORDS.race.gathers(ps, workers.length, required)), ...slots, text(WORDS.race.gathered(workers.length, required), x + 2, y + 17, ink));
  }

  _message(message, scene) {
    const color = this._color(message.worker);
    const words = message.alone ? `${WORDS.race.verbs[message.what]} → ${message.ps}` : message.ps;
    const pill = shape("g", { class: "pslab-race-message", "data-message": `${message.what} ${message.worker} ${message.ps}`, opacity: message.live ? 1 : 0.5 },
      shape("title", {}, messageWords(message, scene)),
      shape("rect", { x: message.x, y: message.y, width: message.width, height: message.height, rx: message.height / 2, fill: message.live ? color : "none", stroke: color, "stroke-width": 1.5 }),
      text(words, message.x + message.width / 2, message.y + message.height / 2 + 0.5, message.live ? this._theme.paper : this._theme.ink, "middle", "bold"));
    if (!message.live) return pill;
    for (const [name, value] of Object.entries({ role: "button", tabindex: 0, "aria-label": WORDS.race.choose(messageWords(message, scene)) })) pill.setAttribute(name, value);
    pill.addEventListener("click", () => this._choose(message));
    pill.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      this._choose(message);
    });
    return pill;
  }
}

/** Five digits: of one message less is not seen. */
function measured(value) {
  return Math.abs(value) >= 1e-3 && Math.abs(value) < 1e5 ? String(Number(value.toPrecision(5))) : formatNumber(value);
}

function arrow(x0, y0, x1, y1, color, theme, dash) {
  const length = Math.hypot(x1 - x0, y1 - y0) || 1;
  const [ux, uy] = [(x1 - x0) / length, (y1 - y0) / length];
  const [bx, by] = [x1 - 8 * ux, y1 - 8 * uy];
  const line = { x1: x0, y1: y0, x2: bx, y2: by };
  return [
    shape("line", { ...line, stroke: theme.paper, "stroke-width": 4.5, opacity: 0.85 }),
    shape("line", { ...line, stroke: color, "stroke-width": 1.75, "stroke-dasharray": dash }),
    shape("path", { d: `M${x1} ${y1}L${bx - 4 * uy} ${by + 4 * ux}L${bx + 4 * uy} ${by - 4 * ux}Z`, fill: color }),
  ];
}

function shape(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== null) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function text(words, x, y, fill, anchor = "start", weight = null) {
  return shape("text", { x, y, fill, "text-anchor": anchor, "dominant-baseline": "central", "font-weight": weight }, words);
}

/** Words that can be read where lines pass behind them. */
function haloed(element, theme, width = 3.5) {
  for (const [name, value] of Object.entries({ stroke: theme.paper, "stroke-width": width, "paint-order": "stroke", "stroke-linejoin": "round" })) element.setAttribute(name, value);
  return element;
}
