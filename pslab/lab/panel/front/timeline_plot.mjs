// The last steps of each worker as bars over time, and what their time went into.

import { formatCount, formatSeconds } from "./format.mjs";
import { linearScale } from "./scales.mjs";

const TIMELINE_MARGIN = { left: 74, right: 12, top: 6, bottom: 18 };
const ORDER = ["compute", "push", "wait", "pull"];

/** A band per worker. Within a step, the order is that of its causes: compute, push, wait, pull; lengths are measured, what is left over comes first. */
export class TimelinePlot {
  constructor({ title, unit, empty, phases }) {
    Object.assign(this, { title, unit, empty, phases, timed: true });
  }

  legend() {
    return ORDER.map((name) => ({ label: name, color: this.phases[name].color, hatch: this.phases[name].hatch, area: true }));
  }

  draw(pen, size, history, view) {
    const box = { left: TIMELINE_MARGIN.left, top: TIMELINE_MARGIN.top, width: size.width - TIMELINE_MARGIN.left - TIMELINE_MARGIN.right, height: size.height - TIMELINE_MARGIN.top - TIMELINE_MARGIN.bottom };
    const steps = history.steps();
    const workers = history.state.workers ?? 0;
    if (!steps.length || !workers) return pen.say(box, this.empty);
    const [from, to] = view.timeZoom ?? timeWindow(steps);
    const times = linearScale(from, to);
    const height = box.height / workers;
    const latest = steps.reduce((last, step) => Math.max(last, step.end), -Infinity);
    pen.timeAxis(box, times, (time) => (time >= latest - 1e-9 ? "now" : `−${formatSeconds(latest - time)}`), latest);
    for (let worker = 0; worker < workers; worker++) {
      const band = { left: box.left, top: box.top + worker * height + 0.12 * height, width: box.width, height: Math.min(0.76 * height, 34) };
      band.top = box.top + (worker + 0.5) * height - band.height / 2;
      const task = (history.state.tasks ?? []).find((other) => other.name === `worker:${worker}`);
      const lost = task !== undefined && task.state !== "running";
      pen.bandLabel(band, `worker:${worker}`, lost ? task.state : "");
      if (lost) pen.hatchBand(band);
      for (const step of steps) if (step.worker === worker) this._drawStep(pen, band, times, step);
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

  /** What each worker did at a time. */
  tell(history, time) {
    const told = [];
    for (const step of history.steps()) {
      if (time < step.end - step.wall || time > step.end) continue;
      const parts = ORDER.filter((name) => step[name] > 0).map((name) => `${name} ${formatSeconds(step[name])}`);
      told.push({ label: `worker:${step.worker}, its step ${formatCount(step.step)}`, value: `${formatSeconds(step.wall)}: ${parts.join(", ")}` });
    }
    return told;
  }
}

/** The time to be shown: as far back as half of the workers reach. */
export function timeWindow(steps) {
  const begins = new Map();
  let end = -Infinity;
  for (const step of steps) {
    begins.set(step.worker, Math.min(begins.get(step.worker) ?? Infinity, step.end - step.wall));
    end = Math.max(end, step.end);
  }
  const sorted = [...begins.values()].sort((a, b) => a - b);
  const begin = sorted[Math.floor(sorted.length / 2)];
  return end > begin ? [begin, end] : [end - 1, end];
}
