// A bar for each link and direction: how many bytes a worker's step takes over it.

import { formatBytes, formatNumber } from "./format.mjs";
import { extent, linearScale } from "./scales.mjs";
import { WORDS } from "./words.mjs";

const LINK_MARGIN = { left: 92, right: 14, top: 6, bottom: 18 };
const LEAST_ROW = 11;

/** Links of a pair of tasks share a row; those with the most bytes come first where there is no room for all. */
export class LinkPlot {
  constructor({ title, unit, empty, flows }) {
    Object.assign(this, { title, unit, empty, flows, still: true });
  }

  legend() {
    return ["pushed", "pulled"].map((flow) => ({ label: WORDS.series[flow], color: this.flows[flow], area: true, hatch: "" }));
  }

  /** Where it draws, on a canvas of a size. */
  box(size) {
    return { left: LINK_MARGIN.left, top: LINK_MARGIN.top, width: size.width - LINK_MARGIN.left - LINK_MARGIN.right, height: size.height - LINK_MARGIN.top - LINK_MARGIN.bottom };
  }

  draw(pen, size, history, view) {
    const box = this.box(size);
    const { rows, shown, height, left } = this._layout(size, history);
    if (!rows.length) return pen.say(box, this.empty);
    const across = linearScale(0, extent(rows.flatMap(({ pushed, pulled }) => [pushed, pulled]))[1] * 1.05 || 1);
    pen.amountAxis(box, across, formatBytes);
    shown.forEach((row, k) => {
      const band = { left: box.left, top: box.top + k * height + 0.1 * height, width: box.width, height: 0.8 * height };
      pen.bandLabel(band, row.name, "", view.row === k);
      ["pushed", "pulled"].forEach((flow, half) => {
        const bar = { ...band, top: band.top + half * band.height / 2, height: band.height / 2 - 0.5 };
        if (row[flow] > 0) pen.bar(bar, 0, across.unit(row[flow]), { color: this.flows[flow], hatch: "" });
      });
    });
    if (left.length) pen.note(box, WORDS.further(left.length, formatBytes(left.reduce((sum, row) => sum + row.pushed + row.pulled, 0))));
    return undefined;
  }

  /** The row at a height of the canvas, of those that are shown. */
  rowAt(size, history, y) {
    const { shown, height } = this._layout(size, history);
    return Math.min(Math.max(Math.floor((y - this.box(size).top) / height), 0), shown.length - 1);
  }

  /** What went over the links of a row that is shown. */
  tell(history, row, size) {
    return (this._layout(size, history).shown[row]?.links ?? []).map(([source, destination, bytes, messages, total]) => ({
      label: `${source} → ${destination}`, color: this.flows[flowOf(destination)], area: true, value: WORDS.link(formatBytes(bytes), formatNumber(messages), formatBytes(total)),
    }));
  }

  _layout(size, history) {
    const rows = linkRows(history.state.links ?? []);
    const { height } = this.box(size);
    const room = Math.max(2, Math.floor(height / LEAST_ROW));
    const most = [...rows].sort((a, b) => b.pushed + b.pulled - a.pushed - a.pulled);
    const left = rows.length > room ? most.slice(room - 1) : [];
    return { rows, left, shown: rows.filter((row) => !left.includes(row)), height: Math.min(height / Math.min(rows.length || 1, room), 34) };
  }
}

/** The links by pairs of tasks, in the order of their names: {name, pushed, pulled, links}. What goes to a ps is pushed, all else pulled. */
export function linkRows(links) {
  const rows = new Map();
  for (const link of links) {
    const [source, destination, bytes] = link;
    const ends = flowOf(destination) === "pushed" ? [source, destination] : [destination, source];
    const name = ends.join(" – ").replaceAll("worker:", "w");
    if (!rows.has(name)) rows.set(name, { name, pushed: 0, pulled: 0, links: [] });
    const row = rows.get(name);
    row[flowOf(destination)] += bytes;
    row.links.push(link);
  }
  return [...rows.values()].sort((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }));
}

function flowOf(destination) {
  return destination.startsWith("ps:") ? "pushed" : "pulled";
}
