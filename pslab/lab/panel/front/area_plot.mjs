// Areas on top of each other, over the global step.

import { formatCount } from "./format.mjs";
import { nearest } from "./history.mjs";
import { amountScale, linearScale } from "./scales.mjs";
import { inner, stepRange } from "./series_plot.mjs";

/** What a step's time goes into: `parts` gives {column, label, color, hatch} from the bottom up. */
export class AreaPlot {
  constructor({ title, unit, empty, parts, format }) {
    Object.assign(this, { title, unit, empty, parts, format });
  }

  legend(history) {
    return this.parts(history).map((part) => ({ ...part, area: true }));
  }

  draw(pen, size, history, view) {
    const parts = this.parts(history);
    const box = inner(size);
    const { x, tops } = stack(history, parts);
    if (!x.length) return pen.say(box, this.empty);
    const steps = linearScale(...stepRange(history, view.zoom));
    const ghost = stack({ curve: (column) => history.ghost(column) }, parts);
    const scale = amountScale([...tops.at(-1), ...(ghost.tops.at(-1) ?? [])]);
    parts.forEach((part, k) => pen.area(box, x, k ? tops[k - 1] : x.map(() => 0), tops[k], steps, scale, part));
    if (ghost.x.length) pen.line(box, { x: ghost.x, y: ghost.tops.at(-1) }, steps, scale, { color: pen.theme.ink, dash: [4, 3], alpha: 0.7, width: 1.5 });
    pen.stepAxis(box, steps, history.state.marks ?? [], formatCount);
    pen.valueAxis(box, scale, this.format, "left");
    if (view.step !== null) pen.cursor(box, steps.unit(view.step));
    return undefined;
  }

  tell(history, step) {
    return this.parts(history).flatMap((part) => {
      const curve = history.curve(part.column);
      const at = nearest(curve.x, step);
      return at < 0 ? [] : [{ label: part.label, color: part.color, area: true, value: this.format(curve.y[at]) }];
    });
  }
}

/** The upper edges of the areas, where the first part is known. */
export function stack(history, parts) {
  const { x } = history.curve(parts[0].column);
  let below = x.map(() => 0);
  const tops = parts.map((part) => {
    const curve = history.curve(part.column);
    let at = 0;
    below = x.map((step, k) => {
      while (at < curve.x.length && curve.x[at] < step) at++;
      return below[k] + (curve.x[at] === step ? curve.y[at] : 0);
    });
    return below;
  });
  return { x, tops };
}
