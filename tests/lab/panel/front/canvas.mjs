// A canvas that notes what is drawn on it.

import { Pen } from "../../../../pslab/lab/panel/front/pen.mjs";

const THEME = { light: true, ink: "#000", soft: "#666", grid: "#ddd", paper: "#fff", font: "11px sans" };

/** A pen, and what it has drawn: `lines` (points and colour), `words` (text and place), `bars`. */
export function notedPen() {
  const drawn = { lines: [], words: [], bars: [], areas: [] };
  let points = [];
  let bar = null;
  const context = {
    canvas: { ownerDocument: { createElement: () => ({ getContext: () => context }) } },
    save() {}, restore() {}, clip() {}, closePath() {}, setLineDash(dash) { this.dash = dash; }, moveTo() {}, createPattern: () => "hatch",
    beginPath() { points = []; bar = null; },
    rect(left, top, width, height) { bar = { left, top, width, height }; },
    lineTo(x, y) { points.push([x, y]); },
    stroke() { drawn.lines.push({ points, color: this.strokeStyle, dash: this.dash, width: this.lineWidth }); },
    fill() { (bar ? drawn.bars : drawn.areas).push({ ...(bar ?? { points }), color: this.fillStyle }); },
    fillRect(left, top, width, height) { drawn.bars.push({ left, top, width, height, color: this.fillStyle }); },
    fillText(text, x, y) { drawn.words.push({ text, x, y, width: 6 * text.length, align: this.textAlign }); },
    strokeText() {},
    measureText: (text) => ({ width: 6 * text.length }),
  };
  return { pen: new Pen(context, THEME), drawn };
}

/** A message about steps, as the kernel sends it: columns by name. */
export function stepsMessage(columns, { anew = true, first = 0, width = 1, origin = 0 } = {}) {
  const names = Object.keys(columns);
  const count = columns[names[0]].length;
  const means = Float32Array.from(names.flatMap((name) => columns[name]));
  return [{ steps: { anew, columns: names, width, origin, first, count, buffer: 0 } }, [new DataView(means.buffer)]];
}
