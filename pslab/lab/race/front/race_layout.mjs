// Where everything of a race is: lanes across, messages from left to right. Lengths are in pixels; nothing is drawn here.

import { WORDS } from "../../panel/front/words.mjs";

export const GUTTER = 94;
export const HEAD = 20;
const PS_LANE = 58;
const WORKER_LANE = 46;
const ROW = 18;
const LEAST_COLUMN = 76;
const MOST_COLUMN = 132;
const PILLS = 118;
export const BAR = 24;

/**
 * The picture up to the moment `at`, as wide as `width`.
 *
 * Of the messages, the last that fit are shown. A push leaves its worker before the middle of its column, a read comes to its worker after it.
 */
export function layout(scene, at, width) {
  const latest = scene.moments.at(-1).number;
  const live = scene.live && at === latest;
  const pills = PILLS + 44 * (scene.ps.length - 1);
  const room = width - GUTTER - pills;
  const first = Math.max(scene.moments[0].number, at - Math.floor(room / LEAST_COLUMN) + 1);
  const column = Math.min(room / (at - first + 1), MOST_COLUMN);
  const x = (number) => GUTTER + (number - first + 0.5) * column;
  const now = GUTTER + (at - first + 1) * column + 4;
  const lanes = lanesOf(scene);
  const y = Object.fromEntries(lanes.map((lane) => [lane.name, lane.y]));
  const leaves = (number) => x(number) - 0.3 * column;
  const comes = (number) => x(number) + 0.3 * column;
  const shown = ([number]) => number >= first && number <= at;
  const moment = scene.moments.find(({ number }) => number === at);
  const bead = (number) => x(number) + (scene.gathers && number > scene.moments[0].number ? 0.12 * column : 0);
  const drop = (number) => x(number) - (scene.gathers ? 0.12 * column : 0);
  return {
    width, first, at, column, lanes, live,
    height: lanes.at(-1).y + WORKER_LANE / 2 + 2 * ROW + 8,
    ends: now,
    columns: scene.moments.filter((m) => m.number >= first && m.number <= at).map((m) => ({ ...m, x: x(m.number) })),
    rows: { loss: lanes.at(-1).y + WORKER_LANE / 2 + ROW * 0.7, norm: lanes.at(-1).y + WORKER_LANE / 2 + ROW * 1.7 },
    beads: scene.versions.filter(shown).map(([number, ps, version]) => ({ number, ps, version, x: bead(number), y: y[ps] })),
    before: scene.ps.map((ps) => ({ ps, y: y[ps], version: versionAt(scene, ps, first - 1) })),
    pushes: scene.pushes.filter(shown).map(([number, ps, worker, what, stale]) => ({ number, ps, worker, what, stale, x0: leaves(number), y0: y[`worker:${worker}`] - BAR / 2, x1: drop(number), y1: y[ps] + (what === "applied" ? 11 : 6) })),
    reads: scene.reads.filter(shown).map(([number, ps, worker, version]) => ({ number, ps, worker, version, x0: bead(number), y0: y[ps] + (scene.versions.some(([moment, name]) => moment === number && name === ps) ? 11 : 1), x1: comes(number), y1: y[`worker:${worker}`] - BAR / 2 })),
    spans: scene.spans.filter(([, , begin, end]) => begin <= at && (end === null || end >= first)).map(([worker, what, begin, end, versions]) => {
      const open = end === null || end > at;
      const read = scene.spans.some(([other, next, from]) => other === worker && next === "computes" && from === end);
      const left = begin < first ? GUTTER : what === "computes" ? comes(begin) : leaves(begin);
      const right = open ? now - 8 : what !== "computes" && read ? comes(end) : leaves(end);
      return { worker, what, versions, open, cut: begin < first, x: left, y: y[`worker:${worker}`] - BAR / 2, width: Math.max(right - left, 1), height: BAR };
    }),
    gathered: Object.entries(moment.gathered).map(([ps, workers]) => ({ ps, workers, required: scene.required, x: now, y: y[ps] })),
    waiting: moment.waiting.map((message) => {
      const mine = moment.waiting.filter((other) => other.worker === message.worker);
      const wide = (pills - 14) / mine.length;
      return { ...message, live, alone: mine.length === 1, x: now + mine.indexOf(message) * wide, y: y[`worker:${message.worker}`] - BAR / 2, width: wide - 4, height: BAR };
    }),
    moment,
  };
}

/** The lanes from above: the ps, then the workers; `y` is the middle of each. */
export function lanesOf(scene) {
  let top = HEAD;
  const lane = (name, kind, height) => {
    top += height;
    return { name, kind, y: top - height / 2, height };
  };
  return [...scene.ps.map((name) => lane(name, "ps", PS_LANE)), ...Array.from({ length: scene.workers }, (_, k) => lane(`worker:${k}`, "worker", WORKER_LANE))];
}

/** The version of a ps after a moment; null where nothing is known of it. */
export function versionAt(scene, ps, number) {
  const known = scene.versions.filter(([moment, name]) => name === ps && moment <= number);
  return known.length ? known.at(-1)[2] : null;
}

/** The words of a worker's bar: in full, and in few letters. */
export function spanWords({ what, versions }) {
  if (what === "computes") {
    const at = versions.map((version) => `v${version}`).join(" · ");
    return [WORDS.race.computes(at), at, at.replaceAll(" ", "")];
  }
  return WORDS.race.spans[what];
}

/** What a message that waits is called in the menu. */
export function messageWords({ ps, worker, what, version, stale }, scene) {
  if (what === "read") return WORDS.race.asks(worker, ps);
  const words = WORDS.race.brings(worker, ps, version, stale);
  return scene.drops && stale > 0 ? WORDS.race.late(words) : words;
}
