// What part of the steps, or of the time, is in sight.

import { stepRange } from "./series_plot.mjs";
import { timeWindow } from "./timeline_plot.mjs";

const LEAST_SHARE = 1 / 4096;

/** What is in sight of a plot's horizontal axis. */
export function inSight(plot, history, view) {
  return plot.timed ? timeWindow(history.steps(), view) : stepRange(history, view.zoom);
}

/** All that there is. */
export function wholeOf(plot, history) {
  if (!plot.timed) return stepRange(history, null);
  const steps = history.steps();
  return [Math.min(...steps.map((step) => step.end - step.wall)), Math.max(...steps.map((step) => step.end))];
}

/** Make what is in sight so many times as long, around a place on the axis. A timeline that goes on keeps its end. */
export function zoomBy(plot, history, view, still, factor, around) {
  const [from, to] = inSight(plot, history, view);
  if (plot.timed && !still) {
    const [first, last] = wholeOf(plot, history);
    view.span = Math.min((to - from) * factor, last - first);
    return;
  }
  const centre = Math.min(Math.max(around ?? (from + to) / 2, from), to);
  look(plot, history, view, [centre - (centre - from) * factor, centre + (to - centre) * factor]);
}

/** Move what is in sight by a share of its length. */
export function moveBy(plot, history, view, share) {
  const [from, to] = inSight(plot, history, view);
  const [first, last] = wholeOf(plot, history);
  const by = Math.min(Math.max(share * (to - from), first - from), last - to);
  if (plot.timed || view.zoom) look(plot, history, view, [from + by, to + by]);
}

/** Bring a range in sight, as far as there is something; all of it where there is nothing beyond. */
export function look(plot, history, view, [from, to]) {
  const [first, last] = wholeOf(plot, history);
  const least = (last - first) * LEAST_SHARE;
  const range = to - from < least ? [(from + to - least) / 2, (from + to + least) / 2] : [Math.max(from, first), Math.min(to, last)];
  const all = range[0] <= first && range[1] >= last;
  Object.assign(view, plot.timed ? { timeZoom: range } : { zoom: all ? null : range });
}

/** Show all again. */
export function showAll(view) {
  Object.assign(view, { zoom: null, timeZoom: null, span: null });
}
