// Lines over the global step.

import { formatCount } from "./format.mjs";
import { nearest } from "./history.mjs";
import { extent, linearScale } from "./scales.mjs";
import { WORDS } from "./words.mjs";

export const DASHES = [[], [6, 3], [7, 2, 1.5, 2], [1.5, 2.5]];
const MARGIN = { left: 46, right: 10, top: 20, bottom: 18 };
const SECOND_AXIS = 34;

/** The rectangle within the axes; above it is room for the words of marks. */
export function inner(size, right = MARGIN.right) {
  return { left: MARGIN.left, top: MARGIN.top, width: size.width - MARGIN.left - right, height: size.height - MARGIN.top - MARGIN.bottom };
}

/** The global steps that a plot spans: those that are zoomed to, else all, ghosts too. */
export function stepRange(history, zoom) {
  if (zoom) return zoom;
  const [low, high] = extent([...history.curve("step").x, ...history.ghost("step").x]);
  return high > low ? [low, high] : [low - 1, low + 1];
}

/** The moving mean of a curve, over a part of it that begins and ends with the marks at the latest. */
export function smoothed({ x, y }, marks) {
  const reach = Math.max(2, Math.round(y.length / 40));
  const parts = x.map((step) => marks.filter((mark) => mark.step <= step).length);
  const means = y.map((_, k) => {
    let [sum, count] = [0, 0];
    for (let j = Math.max(0, k - reach); j <= Math.min(y.length - 1, k + reach); j++) {
      if (parts[j] !== parts[k]) continue;
      sum += y[j];
      count += 1;
    }
    return sum / count;
  });
  return { x, y: means };
}

/**
 * A plot of one or more lines.
 *
 * Where values are `sparse`, each is a dot, and the line is their moving mean. `lines(history)` gives {column, label, color, dash, side} for each; `scales.left` and `scales.right` make a scale from all values of a side, `formats` their words.
 */
export class SeriesPlot {
  constructor({ title, unit, empty, lines, scales, formats, sparse = false }) {
    Object.assign(this, { title, unit, empty, lines, scales, formats, sparse });
  }

  legend(history) {
    return this.lines(history);
  }

  /** Where it draws, on a canvas of a size. */
  box(size, history) {
    return inner(size, this.lines(history).some((line) => line.side === "right") ? SECOND_AXIS : undefined);
  }

  draw(pen, size, history, view) {
    const lines = this.lines(history);
    const box = this.box(size, history);
    const steps = linearScale(...stepRange(history, view.zoom));
    const marks = history.state.marks ?? [];
    const seen = lines.map((line) => history.curve(line.column));
    const ghosts = lines.map((line) => history.ghost(line.column));
    const curves = this.sparse ? seen.map((curve) => smoothed(curve, marks)) : seen;
    if (!curves.some((curve) => curve.x.length)) return pen.say(box, this.empty);
    pen.stepAxis(box, steps, marks, formatCount);
    for (const side of ["left", "right"]) {
      const mine = lines.map((line, k) => k).filter((k) => lines[k].side === side);
      if (!mine.length) continue;
      const scale = this.scales[side](mine.flatMap((k) => [...within(curves[k], steps), ...within(ghosts[k], steps)]));
      pen.valueAxis(box, scale, this.formats[side], side);
      for (const k of mine) {
        const style = { color: lines[k].color, dash: DASHES[lines[k].dash] };
        if (this.sparse) pen.dots(box, seen[k], steps, scale, style);
        pen.line(box, ghosts[k], steps, scale, { ...style, alpha: 0.3, width: 3 });
        pen.line(box, curves[k], steps, scale, { ...style, alpha: 1, width: 1.75 });
      }
    }
    if (view.step !== null) pen.cursor(box, steps.unit(view.step));
    return undefined;
  }

  /** What there is at a global step, a line each. */
  tell(history, step) {
    return this.lines(history).flatMap((line) => {
      const curve = history.curve(line.column);
      const at = nearest(curve.x, step);
      const format = this.formats[line.side];
      const value = () => (this.sparse ? WORDS.observed(format(smoothed(curve, history.state.marks ?? []).y[at]), format(curve.y[at])) : format(curve.y[at]));
      const said = at < 0 ? [] : [{ label: line.label, color: line.color, dash: line.dash, value: value() }];
      const ghost = history.ghost(line.column);
      const before = nearest(ghost.x, step);
      return before < 0 ? said : [...said, { label: WORDS.frozen(line.label), color: line.color, dash: line.dash, value: format(ghost.y[before]) }];
    });
  }
}

/** The values of a curve that are in sight. */
export function within(curve, across) {
  return curve.y.filter((_, k) => across.unit(curve.x[k]) >= 0 && across.unit(curve.x[k]) <= 1);
}
