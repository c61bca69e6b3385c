// Lines over the global step.

import { formatCount } from "./format.mjs";
import { nearest } from "./history.mjs";
import { extent, linearScale } from "./scales.mjs";

export const DASHES = [[], [6, 3], [7, 2, 1.5, 2], [1.5, 2.5]];
const MARGIN = { left: 46, right: 10, top: 8, bottom: 18 };

/** The rectangle within the axes. */
export function inner(size, right = MARGIN.right) {
  return { left: MARGIN.left, top: MARGIN.top, width: size.width - MARGIN.left - right, height: size.height - MARGIN.top - MARGIN.bottom };
}

/** The global steps that a plot spans: those that are zoomed to, else all, ghosts too. */
export function stepRange(history, zoom) {
  if (zoom) return zoom;
  const [low, high] = extent([...history.curve("step").x, ...history.ghost("step").x]);
  return high > low ? [low, high] : [low - 1, low + 1];
}

/**
 * A plot of one or more lines.
 *
 * Where values are `sparse`, each is a dot. `lines(history)` gives {column, label, color, dash, side} for each; `scales.left` and `scales.right` make a scale from all values of a side, `formats` their words.
 */
export class SeriesPlot {
  constructor({ title, unit, empty, lines, scales, formats, sparse = false }) {
    Object.assign(this, { title, unit, empty, lines, scales, formats, sparse });
  }

  legend(history) {
    return this.lines(history);
  }

  draw(pen, size, history, view) {
    const lines = this.lines(history);
    const sides = ["left", ...(lines.some((line) => line.side === "right") ? ["right"] : [])];
    const box = inner(size, sides.length > 1 ? 34 : undefined);
    const steps = linearScale(...stepRange(history, view.zoom));
    const curves = lines.map((line) => history.curve(line.column));
    const ghosts = lines.map((line) => history.ghost(line.column));
    if (!curves.some((curve) => curve.x.length)) return pen.say(box, this.empty);
    pen.stepAxis(box, steps, history.state.marks ?? [], formatCount);
    for (const side of sides) {
      const values = [...curves, ...ghosts].flatMap((curve, k) => (lines[k % lines.length].side === side ? curve.y : []));
      const scale = this.scales[side](values);
      pen.valueAxis(box, scale, this.formats[side], side);
      lines.forEach((line, k) => {
        if (line.side !== side) return;
        pen.line(box, ghosts[k], steps, scale, { color: line.color, dash: DASHES[line.dash], alpha: 0.3, width: 3 });
        pen.line(box, curves[k], steps, scale, { color: line.color, dash: DASHES[line.dash], alpha: 1, width: this.sparse ? 1 : 1.75, dotted: this.sparse });
      });
    }
    if (view.step !== null) pen.cursor(box, steps.unit(view.step));
    return undefined;
  }

  /** What there is at a global step, a line each. */
  tell(history, step) {
    return this.lines(history).flatMap((line) => {
      const curve = history.curve(line.column);
      const at = nearest(curve.x, step);
      const said = at < 0 ? [] : [{ label: line.label, color: line.color, dash: line.dash, value: this.formats[line.side](curve.y[at]) }];
      const ghost = history.ghost(line.column);
      const before = nearest(ghost.x, step);
      return before < 0 ? said : [...said, { label: `${line.label}, frozen`, color: line.color, dash: line.dash, value: this.formats[line.side](ghost.y[before]) }];
    });
  }
}
