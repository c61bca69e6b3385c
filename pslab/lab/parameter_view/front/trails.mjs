// The paths of the replicas and of the ps: what the kernel tells of them, where they are on the screen, and which point is meant.

import { floatsOf } from "./contours.mjs";

const COLUMNS = 5;
const OLDEST = 0.16;
const YOUNG = 24; // points that fade one after the other; older ones are all as faint

/** The paths, the ps last: {name, points} with {x, y, step, loss, commit} each; the loss is NaN where it is not known. */
export function trailsOf({ names, counts, buffer }, buffers) {
  const numbers = floatsOf(buffers[buffer]);
  let at = 0;
  return names.map((name, k) => {
    const points = Array.from({ length: counts[k] }, () => {
      const [x, y, step, loss, commit] = numbers.subarray(at, (at += COLUMNS));
      return { x, y, step, loss, commit: commit > 0 };
    });
    return { name, points };
  });
}

/** From the plane to the screen, and back: `box` is {left, top, width, height}, `window` [left, right, bottom, top]. */
export function projection([left, right, bottom, top], box) {
  return {
    x: (value) => box.left + ((value - left) / (right - left)) * box.width,
    y: (value) => box.top + ((top - value) / (top - bottom)) * box.height,
    at: (x, y) => [left + ((x - box.left) / box.width) * (right - left), top - ((y - box.top) / box.height) * (top - bottom)],
  };
}

/** How plainly a point is drawn that is so many points old. */
export function freshness(age) {
  return Math.max(OLDEST, 1 - ((1 - OLDEST) * age) / YOUNG);
}

/** The lines of a path, oldest first: {from, to, fresh, pulled}; pulled are those that lead on from a commit. */
export function stretches({ points }) {
  return points.slice(1).map((to, k) => ({ from: points[k], to, fresh: freshness(points.length - 2 - k), pulled: points[k].commit }));
}

/** Which point is nearest to a place on the screen, within `reach` pixels: [trail, point] as numbers; null where none is. The youngest comes first. */
export function pointNear(trails, place, { x, y }, reach) {
  let [best, least] = [null, reach];
  trails.forEach(({ points }, trail) => {
    for (let k = points.length - 1; k >= 0; k--) {
      const far = Math.hypot(place.x(points[k].x) - x, place.y(points[k].y) - y);
      if (far < least) [best, least] = [[trail, k], far];
    }
  });
  return best;
}

/** The point that an arrow key leads to: left and right along a path, up and down to the same step of the path before or after it. */
export function pointTowards(trails, now, key) {
  const there = trails.flatMap(({ points }, k) => (points.length ? [k] : []));
  if (!there.length) return null;
  if (!now || !trails[now[0]]?.points.length) return [there.at(-1), trails[there.at(-1)].points.length - 1];
  const [trail, at] = [now[0], Math.min(now[1], trails[now[0]].points.length - 1)];
  const along = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (along) return [trail, Math.min(Math.max(at + along, 0), trails[trail].points.length - 1)];
  const other = there[(there.indexOf(trail) + (key === "ArrowDown" ? 1 : -1) + there.length) % there.length];
  const { step } = trails[trail].points[at];
  const { points } = trails[other];
  return [other, points.reduce((best, point, k) => (Math.abs(point.step - step) <= Math.abs(points[best].step - step) ? k : best), 0)];
}

/** What a path is called in few letters. */
export function shortName(name) {
  return name.replace("worker:", "w");
}
