// Areas on top of each other, over the global step.

import { formatCount } from "./format.mjs";
import { nearest } from "./history.mjs";
import { amountScale, linearScale } from "./scales.mjs";
import { inner, stepRange, within } from "./series_plot.mjs";
import { WORDS } from "./words.mjs";

const USUAL_SHARE = 0.9; // of the steps; others may have had to wait for a core

/** What a step's time goes into: `parts` gives {column, label, color, hatch} from the bottom up. What was predicted is a line. */
export class AreaPlot {
  constructor({ title, unit, empty, parts, format }) {
    Object.assign(this, { title, unit, empty, parts, format });
  }

  legend(history) {
    return this.parts(history).map((part) => ({ ...part, area: true }));
  }

  /** Where it draws, on a canvas of a size. */
  box(size) {
    return inner(size);
  }

  draw(pen, size, history, view) {
    const parts = this.parts(history);
    const box = this.box(size);
    const { x, tops } = stack(history, parts);
    if (!x.length) return pen.say(box, this.empty);
    const steps = linearScale(...stepRange(history, view.zoom));
    const ghost = stack({ curve: (column) => history.ghost(column) }, parts);
    const predicted = stairs(history.state.forecasts ?? [], x.at(-1));
    const highest = [{ x, y: tops.at(-1) }, { x: ghost.x, y: ghost.tops.at(-1) ?? [] }].flatMap((curve) => within(curve, steps));
    const scale = amountScale(highest, Math.max(0, ...within(predicted, steps).filter(Number.isFinite)), USUAL_SHARE);
    parts.forEach((part, k) => pen.area(box, x, k ? tops[k - 1] : x.map(() => 0), tops[k], steps, scale, part));
    if (ghost.x.length) pen.line(box, { x: ghost.x, y: ghost.tops.at(-1) }, steps, scale, { color: "soft", dash: [4, 3], alpha: 0.9, width: 1.5 });
    pen.line(box, predicted, steps, scale, { color: "paper", dash: [], alpha: 0.8, width: 4 });
    pen.line(box, predicted, steps, scale, { color: "ink", dash: [], alpha: 1, width: 1.75 });
    if (Number.isFinite(predicted.y.at(-1))) pen.lineLabel(box, scale.unit(predicted.y.at(-1)), WORDS.predicted);
    pen.stepAxis(box, steps, history.state.marks ?? [], formatCount);
    pen.valueAxis(box, scale, this.format, "left");
    if (view.step !== null) pen.cursor(box, steps.unit(view.step));
    return undefined;
  }

  tell(history, step) {
    const measured = this.parts(history).flatMap((part) => {
      const curve = history.curve(part.column);
      const at = nearest(curve.x, step);
      return at < 0 ? [] : [{ label: part.label, color: part.color, area: true, hatch: part.hatch, value: this.format(curve.y[at]) }];
    });
    const forecast = history.state.forecasts?.findLast((other) => other.step <= step);
    const said = Boolean(forecast?.bottleneck);
    const words = said && WORDS.forecast(this.format(forecast.seconds), WORDS.bottleneck[forecast.bottleneck]);
    return said ? [...measured, { label: WORDS.predicted, color: "ink", dash: 0, value: words }] : measured;
  }
}

/** What was predicted, from where it was on until the next prediction, or `last`; NaN where nothing was. */
export function stairs(forecasts, last) {
  const ends = forecasts.map((_, k) => forecasts[k + 1]?.step ?? Math.max(last, forecasts[k].step));
  return { x: forecasts.flatMap(({ step }, k) => [step, ends[k]]), y: forecasts.flatMap(({ seconds }) => [seconds ?? NaN, seconds ?? NaN]) };
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
