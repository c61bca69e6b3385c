// Numbers in few letters, with units.

const PREFIXES = [[1e9, "G"], [1e6, "M"], [1e3, "k"]];

/** Three significant digits, without trailing zeros; large numbers with a prefix. */
export function formatNumber(value) {
  if (!Number.isFinite(value)) return "–";
  const size = Math.abs(value);
  for (const [scale, prefix] of PREFIXES) if (size >= 10 * scale || (scale >= 1e6 && size >= scale)) return `${digits(value / scale)} ${prefix}`;
  if (size > 0 && size < 1e-3) return value.toExponential(1).replace(".0e", "e").replace("e-", "e−");
  return digits(value);
}

/** Bytes, in B, kB, MB or GB. */
export function formatBytes(value) {
  for (const [scale, prefix] of PREFIXES) if (Math.abs(value) >= scale) return `${digits(value / scale)} ${prefix}B`;
  return `${digits(value)} B`;
}

/** Seconds, in s, ms or µs. */
export function formatSeconds(value) {
  if (value === 0) return "0";
  if (Math.abs(value) >= 0.9995) return `${digits(value)} s`;
  return Math.abs(value) >= 0.9995e-3 ? `${digits(value * 1e3)} ms` : `${digits(value * 1e6)} µs`;
}

/** A whole number with thin spaces between thousands. */
export function formatCount(value) {
  return String(Math.round(value)).replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/** How many letters words are as wide as: a Chinese character is near two. */
export function lettersOf(words) {
  return [...words].reduce((sum, letter) => sum + (letter > "\u2e7f" ? 1.8 : 1), 0);
}

function digits(value) {
  const text = Math.abs(value) >= 100 ? value.toFixed(0) : value.toPrecision(3);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}
