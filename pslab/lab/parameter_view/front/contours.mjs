// The loss over a rectangle of the plane: its levels, lines of equal loss, and what it is at a place. Nothing is drawn here.

export const FINER = 6;

/** What the kernel tells of a surface: {left, right, bottom, top, step, grid, values}, a row of `grid` values from below for each place upwards. */
export function surfaceOf({ window: [left, right, bottom, top], step, grid, buffer }, buffers) {
  return { left, right, bottom, top, step, grid, values: floatsOf(buffers[buffer]) };
}

/** The numbers in a buffer of float32. */
export function floatsOf(view) {
  return new Float32Array(view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}

/** Levels between the least and the greatest loss, by factors where one is three times the other; `unit` takes a loss to the unit interval. */
export function levelsOf(values, count = 11) {
  const known = values.filter(Number.isFinite);
  if (!known.length) return { levels: [], unit: () => 0 };
  const [low, high] = known.reduce(([least, most], value) => [Math.min(least, value), Math.max(most, value)], [Infinity, -Infinity]);
  if (!(high > low)) return { levels: [], unit: () => 0 };
  const byFactors = low > 0 && high > 3 * low;
  const [to, from] = byFactors ? [Math.log, Math.exp] : [(value) => value, (value) => value];
  const unit = (value) => (to(value) - to(low)) / (to(high) - to(low));
  return { levels: Array.from({ length: count }, (_, k) => from(to(low) + ((k + 0.5) / count) * (to(high) - to(low)))), unit };
}

/** The same surface with more places, smoothly between (Catmull and Rom). */
export function finer(surface) {
  const { grid, values } = surface;
  const size = (grid - 1) * FINER + 1;
  const rows = Array.from({ length: grid }, (_, k) => stretched((j) => values[k * grid + j], grid));
  const columns = Array.from({ length: size }, (_, j) => stretched((k) => rows[k][j], grid));
  return { ...surface, grid: size, values: Float32Array.from({ length: size * size }, (_, at) => columns[at % size][Math.floor(at / size)]) };
}

function stretched(valueAt, count) {
  return Array.from({ length: (count - 1) * FINER + 1 }, (_, at) => {
    const k = Math.min(Math.floor(at / FINER), count - 2);
    const t = at / FINER - k;
    const [b, c] = [valueAt(k), valueAt(k + 1)];
    const a = k > 0 ? valueAt(k - 1) : 2 * b - c;
    const d = k + 2 < count ? valueAt(k + 2) : 2 * c - b;
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  });
}

/** Pieces [x0, y0, x1, y1] of the line on which the loss is `level`, in the units of the plane. */
export function contour(surface, level) {
  const { grid, values, left, right, bottom, top } = surface;
  const [wide, high] = [(right - left) / (grid - 1), (top - bottom) / (grid - 1)];
  const pieces = [];
  for (let row = 0; row < grid - 1; row++) {
    for (let column = 0; column < grid - 1; column++) {
      const at = row * grid + column;
      const corners = [values[at], values[at + 1], values[at + grid + 1], values[at + grid]];
      if (!corners.every(Number.isFinite)) continue;
      const found = crossings(corners, level).map(([x, y]) => [left + (column + x) * wide, bottom + (row + y) * high]);
      for (let k = 0; k + 1 < found.length; k += 2) pieces.push([...found[k], ...found[k + 1]]);
    }
  }
  return pieces;
}

const PLACES = [[0, 0], [1, 0], [1, 1], [0, 1]];

/** Where a level crosses the edges of a unit square, in pairs that belong together. */
function crossings(corners, level) {
  const found = [];
  for (let k = 0; k < 4; k++) {
    const [one, other] = [corners[k], corners[(k + 1) % 4]];
    if (one < level === other < level) continue;
    const share = (level - one) / (other - one);
    const [[x0, y0], [x1, y1]] = [PLACES[k], PLACES[(k + 1) % 4]];
    found.push([x0 + share * (x1 - x0), y0 + share * (y1 - y0)]);
  }
  if (found.length < 4) return found;
  const middle = corners.reduce((sum, value) => sum + value, 0) / 4;
  return middle < level === corners[0] < level ? found : [found[3], found[0], found[1], found[2]]; // a saddle: the middle goes with two of the corners
}

/** The loss at a place of the plane, between those that were taken; NaN beyond them. */
export function lossAt({ grid, values, left, right, bottom, top }, x, y) {
  const [across, up] = [((x - left) / (right - left)) * (grid - 1), ((y - bottom) / (top - bottom)) * (grid - 1)];
  if (!(across >= 0 && across <= grid - 1 && up >= 0 && up <= grid - 1)) return NaN;
  const [column, row] = [Math.min(Math.floor(across), grid - 2), Math.min(Math.floor(up), grid - 2)];
  const [u, v] = [across - column, up - row];
  const at = row * grid + column;
  return (1 - v) * ((1 - u) * values[at] + u * values[at + 1]) + v * ((1 - u) * values[at + grid] + u * values[at + grid + 1]);
}
