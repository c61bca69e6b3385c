// Scales: from values to the unit interval, and where their ticks are.

/** From 0 (or `low`) to `high`, evenly. */
export function linearScale(low, high) {
  const span = high - low || 1;
  return { unit: (value) => (value - low) / span, ticks: (most) => linearTicks(low, low + span, most), low, high: low + span };
}

/** By factors; both ends positive. */
export function logScale(low, high) {
  const [from, to] = [Math.log10(low), Math.log10(high > low ? high : low * 10)];
  const unit = (value) => (Math.log10(value) - from) / (to - from);
  return { unit, ticks: (most) => logTicks(low, high, most), low, high };
}

/** Zero at the bottom, then by factors from `least` on, which comes after a seventh of the way. */
export function zeroLogScale(least, high) {
  const foot = 1 / 7;
  const upper = logScale(least, high);
  const unit = (value) => (value < least ? (foot * Math.max(value, 0)) / least : foot + (1 - foot) * upper.unit(value));
  return { unit, ticks: (most) => [0, ...upper.ticks(most - 1)], low: 0, high };
}

/** A scale for values that are positive: by factors where some are three times others, else evenly. */
export function lossScale(values) {
  const [low, high] = extent(values);
  if (low > 0 && high >= 3 * low) return logScale(low / 1.15, high * 1.15);
  const room = 0.08 * (high - low || Math.abs(high) || 1);
  return linearScale(low - room < 0 && low >= 0 ? 0 : low - room, high + room);
}

/** A scale for values that may be exactly zero, and else are of any size. */
export function divergenceScale(values) {
  const positive = values.filter((value) => value > 0);
  if (!positive.length) return linearScale(0, 1);
  const [low, high] = extent(positive);
  const [least, most] = [10 ** Math.floor(Math.log10(low)), high * 1.3];
  return positive.length < values.length ? zeroLogScale(least, Math.max(most, 10 * least)) : logScale(low / 1.3, most);
}

/** From zero to a little above the largest, and above `least`; those beyond a `share` of all that are far above the others run out of the picture. */
export function amountScale(values, least = 0, share = 0.97) {
  const sorted = [...values].sort((a, b) => a - b);
  const usual = sorted[Math.floor(share * (sorted.length - 1))] ?? 0;
  return linearScale(0, Math.max(Math.min(1.1 * (sorted.at(-1) ?? 0), 1.8 * usual || Infinity), 1.1 * least) || 1);
}

/** The smallest and the largest of the values; 0 and 1 where there are none. */
export function extent(values) {
  let [low, high] = [Infinity, -Infinity];
  for (const value of values) {
    if (value < low) low = value;
    if (value > high) high = value;
  }
  return low <= high ? [low, high] : [0, 1];
}

function linearTicks(low, high, most) {
  const raw = (high - low) / Math.max(most, 1);
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw * 0.999);
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

function logTicks(low, high, most) {
  const within = (factors, every) => {
    const ticks = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); power++)
      if (power % every === 0) for (const factor of factors) ticks.push(Number((factor * 10 ** power).toPrecision(3)));
    return ticks.filter((tick) => tick >= low * 0.999 && tick <= high * 1.001);
  };
  const candidates = [within([1, 1.5, 2, 3, 4, 5, 7], 1), within([1, 2, 5], 1), within([1, 3], 1), within([1], 1), within([1], 2), within([1], 3)];
  return candidates.find((ticks) => ticks.length <= most && ticks.length > 0) ?? candidates.at(-1);
}
