// What the kernel has told: the state, the curves and the timeline. It never grows: there are at most as many buckets as the kernel keeps.

const ROOM = 512;

/** A picture of a training. Curves are over buckets of the global step; where a bucket says nothing of a column it is NaN. */
export class History {
  constructor() {
    this.state = {};
    this.columns = new Map();
    this.count = 0;
    this.width = 1;
    this.timeline = { origin: 0, fields: [], rows: new Float32Array(0) };
    this._curves = new Map();
  }

  /** Take a message in: `content` and its buffers, as `pslab.lab.panel.feed.Message` has them. */
  take(content, buffers) {
    Object.assign(this.state, content.state);
    if (content.steps) this._takeSteps(content.steps, floats(buffers[content.steps.buffer]));
    if (content.timeline) {
      const { origin, fields, buffer } = content.timeline;
      this.timeline = { origin, fields, rows: floats(buffers[buffer]) };
    }
  }

  /** A copy that stays as it is. */
  copy() {
    const other = new History();
    Object.assign(other, this, { state: { ...this.state }, columns: new Map([...this.columns].map(([name, values]) => [name, values.slice()])) });
    other._curves = new Map();
    return other;
  }

  /** Where a column is known: global steps `x` and means `y`. */
  curve(name) {
    if (!this._curves.has(name)) this._curves.set(name, known(this._column("step"), this._column(name), this.count));
    return this._curves.get(name);
  }

  /** The same of the curves that were frozen; empty without any. */
  ghost(name) {
    const { ghost } = this.state;
    if (!ghost?.[name]) return { x: [], y: [] };
    const [steps, values] = [ghost.step, ghost[name]].map((list) => Float32Array.from(list, (value) => value ?? NaN));
    return known(steps, values, steps.length);
  }

  /** The steps of the timeline as objects by field. */
  steps() {
    const { fields, rows } = this.timeline;
    const steps = [];
    for (let at = 0; at < rows.length; at += fields.length) steps.push(Object.fromEntries(fields.map((field, k) => [field, rows[at + k]])));
    return steps;
  }

  _takeSteps(steps, means) {
    if (steps.anew) {
      this.columns = new Map(steps.columns.map((name) => [name, new Float32Array(ROOM).fill(NaN)]));
      this.count = 0;
    }
    steps.columns.forEach((name, k) => this._column(name).set(means.subarray(k * steps.count, (k + 1) * steps.count), steps.first));
    this.count = Math.max(this.count, steps.first + steps.count);
    this.width = steps.width;
    this._curves.clear();
  }

  _column(name) {
    return this.columns.get(name) ?? new Float32Array(ROOM).fill(NaN);
  }
}

/** The place in sorted `x` that is nearest to a value; −1 where there is none. */
export function nearest(x, value) {
  let best = -1;
  for (let k = 0; k < x.length; k++) if (best < 0 || Math.abs(x[k] - value) < Math.abs(x[best] - value)) best = k;
  return best;
}

function known(steps, values, count) {
  const [x, y] = [[], []];
  for (let k = 0; k < count; k++) {
    if (Number.isNaN(values[k]) || Number.isNaN(steps[k])) continue;
    x.push(steps[k]);
    y.push(values[k]);
  }
  return { x, y };
}

function floats(view) {
  return new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}
