// The last steps of each worker as bars over time, and what their time went into.

import { formatCount, formatSeconds } from "./format.mjs";
import { linearScale } from "./scales.mjs";
import { WORDS } from "./words.mjs";

const TIMELINE_MARGIN = { left: 74, right: 12, top: 6, bottom: 18 };
const USUAL = 24; // steps of each worker that are shown where nothing else is asked for
const ORDER = ["compute", "push", "wait", "pull"];

/** A band per worker. Within a step, the order is that of its causes: compute, push, wait, pull; lengths are measured, what is left over comes first. */
export class TimelinePlot {
  constructor({ title, unit, empty, phases }) {
    Object.assign(this, { title, unit, empty, phases, timed: true });
  }

  legend() {
    return ORDER.map((name) => ({ label: WORDS.series[name], color: this.phases[name].color, hatch: this.phases[name].hatch, area: true }));
  }

  /** Where it draws, on a canvas of a size. */
  box(size) {
    return { left: TIMELINE_MARGIN.left, top: TIMELINE_MARGIN.top, width: size.width - TIMELINE_MARGIN.left - TIMELINE_MARGIN.right, height: size.height - TIMELINE_MARGIN.top - TIMELINE_MARGIN.bottom };
  }

  draw(pen, size, history, view) {
    const box = this.box(size);
    const steps = history.steps();
    const workers = history.state.workers ?? 0;
    if (!steps.length || !workers) return pen.say(box, this.empty);
    const times = linearScale(...timeWindow(steps, view));
    const height = box.height / workers;
    const latest = steps.reduce((last, step) => Math.max(last, step.end), -Infinity);
    pen.timeAxis(box, times, (time) => (time >= latest - 1e-9 ? WORDS.now : `−${formatSeconds(latest - time)}`), latest);
    for (let worker = 0; worker < workers; worker++) {
      const band = { left: box.left, width: box.width, height: Math.min(0.76 * height, 34) };
      band.top = box.top + (worker + 0.5) * height - band.height / 2;
      const task = (history.state.tasks ?? []).find((other) => other.name === `worker:${worker}`);
      const lost = task !== undefined && task.state !== "running";
      const mine = steps.filter((step) => step.worker === worker);
      pen.bandLabel(band, `worker:${worker}`, lost ? WORDS.doings[task.state] ?? task.state : task?.delay ? `+${task.delay.split(/ on| or/)[0]}` : "");
      if (lost) pen.hatchBand(band);
      else if (mine.length && history.state.training === "running") pen.openBar(band, times.unit(mine.at(-1).end));
      for (const step of mine) this._drawStep(pen, band, times, step);
    }
    if (view.time !== null) pen.cursor(box, times.unit(view.time));
    return undefined;
  }

  _drawStep(pen, band, times, step) {
    let at = step.end - ORDER.reduce((sum, name) => sum + (step[name] || 0), 0);
    for (const name of ORDER) {
      const length = step[name] || 0;
      if (length > 0) pen.bar(band, times.unit(at), times.unit(at + length), this.phases[name]);
      at += length;
    }
    pen.stepEdge(band, times.unit(step.end - step.wall));
  }

  /** The worker at a height of the canvas. */
  workerAt(size, history, y) {
    const box = this.box(size);
    return Math.floor(((y - box.top) / box.height) * (history.state.workers ?? 0));
  }

  /** What each worker, or one of them, did at a time. */
  tell(history, time, worker = null) {
    const told = [];
    for (const step of history.steps()) {
      if (worker !== null && step.worker !== worker) continue;
      if (time < step.end - step.wall || time > step.end) continue;
      const parts = ORDER.filter((name) => step[name] > 0).map((name) => `${WORDS.series[name]} ${formatSeconds(step[name])}`);
      told.push({ label: WORDS.itsStep(step.worker, formatCount(step.step)), value: `${formatSeconds(step.wall)}: ${parts.join(", ")}` });
    }
    return told;
  }
}

/** The time to be shown: what is zoomed to, else as far back as is asked for, else as half of the workers reach with their last steps. */
export function timeWindow(steps, { timeZoom = null, span = null } = {}) {
  if (timeZoom) return timeZoom;
  const begins = new Map();
  for (const step of steps) begins.set(step.worker, [...(begins.get(step.worker) ?? []), step.end - step.wall]);
  const end = steps.reduce((last, step) => Math.max(last, step.end), -Infinity);
  const sorted = [...begins.values()].map((mine) => mine.at(-Math.min(USUAL, mine.length))).sort((a, b) => a - b);
  const begin = span ? end - span : sorted[Math.floor(sorted.length / 2)];
  return end > begin ? [begin, end] : [end - 1, end];
}
