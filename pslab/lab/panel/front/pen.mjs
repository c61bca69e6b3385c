// Drawing on a canvas, in the theme's colours.

import { namedMarks } from "./marks.mjs";

const FONT = 11;

/** The colours of the notebook's theme, as they are now. */
export function themeOf(element) {
  const style = getComputedStyle(element);
  const color = (name, otherwise) => style.getPropertyValue(name).trim() || otherwise;
  const light = (element.ownerDocument.body.dataset.jpThemeLight ?? "true") !== "false";
  return {
    light,
    ink: color("--jp-content-font-color1", "#222"),
    soft: color("--jp-content-font-color2", "#666"),
    grid: color("--jp-border-color2", "#ddd"),
    paper: color("--jp-layout-color1", "#fff"),
    font: `${FONT}px ${color("--jp-ui-font-family", "sans-serif")}`,
  };
}

/** A colour that can be told from the paper: on dark paper, dark ones are lightened. */
export function onPaper(color, theme) {
  if (theme.light) return color;
  const parts = [1, 3, 5].map((at) => parseInt(color.slice(at, at + 2), 16));
  const luminance = (0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]) / 255;
  const share = luminance < 0.45 ? 0.35 : 0;
  return `rgb(${parts.map((part) => Math.round(part + share * (255 - part))).join(",")})`;
}

/** Give a canvas of a size {width, height} on the page a pixel for each of the screen's; returns how many those are to one of the page. */
export function sharpen(canvas, size) {
  const ratio = devicePixelRatio || 1;
  const [width, height] = [Math.round(size.width * ratio), Math.round(size.height * ratio)];
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  return ratio;
}

/** Draws within boxes {left, top, width, height}; places within a box are from 0 to 1, upwards and to the right. */
export class Pen {
  constructor(context, theme) {
    this.context = context;
    this.theme = theme;
    context.font = theme.font;
    context.textBaseline = "middle";
  }

  /** Words in the middle of an empty box. */
  say(box, words) {
    this._text(words, box.left + box.width / 2, box.top + box.height / 2, "center", this.theme.soft);
  }

  /** A line, broken where a value is NaN; a colour may also be that of the theme's `ink`, `soft` or `paper`. */
  line(box, curve, across, scale, { color, dash, alpha, width }) {
    const { context } = this;
    this._within(box, () => {
      Object.assign(context, { strokeStyle: this._color(color), globalAlpha: alpha, lineWidth: width, lineJoin: "round" });
      context.setLineDash(dash);
      context.beginPath();
      const points = curve.x.map((x, k) => [box.left + across.unit(x) * box.width, this._y(box, scale.unit(curve.y[k]))]);
      points.forEach((point, k) => (Number.isNaN(points[k - 1]?.[1]) ? context.moveTo(...point) : context.lineTo(...point)));
      context.stroke();
      context.fillStyle = context.strokeStyle;
      if (points.length === 1) context.fillRect(points[0][0] - 1.5, points[0][1] - 1.5, 3, 3);
    });
  }

  /** Faint dots; those below the scale lie at its foot. */
  dots(box, curve, across, scale, { color }) {
    const { context } = this;
    this._within(box, () => {
      Object.assign(context, { fillStyle: this._color(color), globalAlpha: 0.4 });
      curve.x.forEach((x, k) => {
        const at = curve.y[k] > 0 || scale.low <= 0 ? scale.unit(curve.y[k]) : 0;
        context.fillRect(box.left + across.unit(x) * box.width - 1, this._y(box, Math.max(at, 0)) - 1, 2, 2);
      });
      context.globalAlpha = 1;
    });
  }

  area(box, x, lower, upper, across, scale, { color, hatch }) {
    const { context } = this;
    const place = (k, values) => [box.left + across.unit(x[k]) * box.width, this._y(box, scale.unit(values[k]))];
    this._within(box, () => {
      context.beginPath();
      for (let k = 0; k < x.length; k++) context.lineTo(...place(k, upper));
      for (let k = x.length - 1; k >= 0; k--) context.lineTo(...place(k, lower));
      context.closePath();
      this._fill(color, hatch);
    });
  }

  /** A bar of a band, at least as wide as can be seen. */
  bar(band, from, to, { color, hatch }) {
    if (to < 0 || from > 1) return;
    const left = band.left + Math.max(from, 0) * band.width;
    const width = Math.max(band.left + Math.min(to, 1) * band.width - left, 0.4);
    this.context.beginPath();
    this.context.rect(left, band.top, width, band.height);
    this._fill(color, width > 5 ? hatch : "");
  }

  /** Where a step begins. */
  stepEdge(band, at) {
    if (at < 0 || at > 1) return;
    this.context.fillStyle = this.theme.ink;
    this.context.fillRect(Math.round(band.left + at * band.width), band.top - 2, 1, band.height + 4);
  }

  /** A name beside a band, and below it (or in its place where there is no room) how it fares. */
  bandLabel(band, name, state, bold = false) {
    const y = band.top + band.height / 2;
    const [wrong, room] = [onPaper("#D55E00", this.theme), band.height >= 22];
    this.context.font = `${bold ? "bold " : ""}${band.height < 10 ? this.theme.font.replace(/\d+px/, "9px") : this.theme.font}`;
    if (!state || room) this._text(name, band.left - 8, state ? y - 6 : y, "right", this.theme.ink);
    if (state) this._text(room ? state : `${name.replace("worker:", "w")} ${state}`, band.left - 8, room ? y + 7 : y, "right", wrong);
    this.context.font = this.theme.font;
  }

  /** A frame around what goes on and is not over yet. */
  openBar(band, from) {
    if (from >= 1) return;
    const left = Math.max(from, 0) * band.width + band.left;
    this._stroke([[band.left + band.width, band.top + 0.5], [left, band.top + 0.5], [left, band.top + band.height - 0.5], [band.left + band.width, band.top + band.height - 0.5]], this.theme.soft, [2, 2]);
  }

  /** Words at the right end of a line, above it, or below it where there is no room. */
  lineLabel(box, at, words) {
    const y = Math.max(this._y(box, at), box.top);
    this._text(words, box.left + box.width - 2, y - 8 > box.top + 4 ? y - 8 : y + 9, "right", this.theme.ink, true);
  }

  /** Words at the right of the foot of a box. */
  note(box, words) {
    this._text(words, box.left + box.width, box.top + box.height - 6, "right", this.theme.soft, true);
  }

  /** A band of which nothing is heard. */
  hatchBand(band) {
    this.context.globalAlpha = 0.35;
    this.context.beginPath();
    this.context.rect(band.left, band.top, band.width, band.height);
    this._fill("#D55E00", "/");
    this.context.globalAlpha = 1;
  }

  /** The axis of global steps, and the marks; words for which there is no room above are left out, lines are not. */
  stepAxis(box, across, marks, format) {
    this._horizontal(box, across, across.ticks(Math.max(2, Math.floor(box.width / 46))), format);
    const seen = marks.filter((mark) => across.unit(mark.step) >= 0 && across.unit(mark.step) <= 1);
    const place = (mark) => Math.round(box.left + across.unit(mark.step) * box.width) + 0.5;
    for (const mark of seen) this._stroke([[place(mark), box.top - 4], [place(mark), box.top + box.height]], this.theme.soft, [2, 3], 0.8);
    for (const { mark, left } of namedMarks(seen, place, (words) => this.context.measureText(words).width, box.left + box.width)) {
      this._stroke([[place(mark), box.top - 15], [place(mark), box.top - 3]], this.theme.soft, [], 1);
      this._text(mark.words, left, box.top - 10, "left", this.theme.soft);
    }
  }

  amountAxis(box, across, format) {
    this._horizontal(box, across, across.ticks(Math.max(2, Math.floor(box.width / 60))), format);
  }

  timeAxis(box, across, format, latest) {
    const span = across.high - across.low;
    const behind = linearTicksBack(span, Math.max(2, Math.floor(box.width / 90)));
    this._horizontal(box, across, behind.map((back) => latest - back), format);
  }

  valueAxis(box, scale, format, side) {
    const ticks = scale.ticks(Math.max(2, Math.floor(box.height / 30)));
    const x = side === "left" ? box.left - 6 : box.left + box.width + 5;
    for (const tick of ticks) {
      const y = this._y(box, scale.unit(tick));
      if (y < box.top - 0.5 || y > box.top + box.height + 0.5) continue;
      if (side === "left") this._stroke([[box.left, Math.round(y) + 0.5], [box.left + box.width, Math.round(y) + 0.5]], this.theme.grid, [], 0.7);
      this._text(format(tick), x, y, side === "left" ? "right" : "left", this.theme.soft);
    }
  }

  /** A line at the place that is pointed at. */
  cursor(box, at) {
    if (at < 0 || at > 1) return;
    const x = Math.round(box.left + at * box.width) + 0.5;
    this._stroke([[x, box.top], [x, box.top + box.height]], this.theme.ink, []);
  }

  _horizontal(box, across, ticks, format) {
    const y = box.top + box.height;
    this._stroke([[box.left, y + 0.5], [box.left + box.width, y + 0.5]], this.theme.grid, []);
    let free = -Infinity;
    for (const tick of [...ticks].sort((a, b) => a - b)) {
      const at = across.unit(tick);
      if (at < -0.001 || at > 1.001) continue;
      const words = format(tick);
      const half = this.context.measureText(words).width / 2;
      const x = Math.min(Math.max(box.left + at * box.width, box.left + half - 8), box.left + box.width - half + 8);
      if (x - half < free) continue;
      this._text(words, x, y + 11, "center", this.theme.soft);
      free = x + half + 8;
    }
  }

  _color(color) {
    return color in this.theme ? this.theme[color] : onPaper(color, this.theme);
  }

  _fill(color, hatch) {
    const { context } = this;
    context.fillStyle = onPaper(color, this.theme);
    context.fill();
    if (!hatch) return;
    context.save();
    context.globalAlpha *= 0.55;
    context.fillStyle = context.createPattern(hatchTile(context.canvas.ownerDocument, hatch, this.theme.paper), "repeat");
    context.fill();
    context.restore();
  }

  _text(words, x, y, align, color, haloed = false) {
    const { context } = this;
    context.textAlign = align;
    if (haloed) {
      Object.assign(context, { strokeStyle: this.theme.paper, lineWidth: 3 });
      context.setLineDash([]);
      context.strokeText(words, x, y);
    }
    context.fillStyle = color;
    context.fillText(words, x, y);
  }

  _stroke(points, color, dash, width = 1) {
    const { context } = this;
    Object.assign(context, { strokeStyle: color, lineWidth: width, globalAlpha: 1 });
    context.setLineDash(dash);
    context.beginPath();
    for (const point of points) context.lineTo(...point);
    context.stroke();
    context.setLineDash([]);
  }

  _within(box, draw) {
    const { context } = this;
    context.save();
    context.beginPath();
    context.rect(box.left, box.top - 2, box.width, box.height + 4);
    context.clip();
    draw();
    context.restore();
  }

  _y(box, at) {
    return box.top + (1 - at) * box.height;
  }
}

function linearTicksBack(span, most) {
  const raw = span / most;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((candidate) => candidate >= raw * 0.999);
  return Array.from({ length: Math.floor(span / step + 1e-9) + 1 }, (_, k) => k * step);
}

const tiles = new Map();

function hatchTile(document, hatch, color) {
  const key = hatch + color;
  if (!tiles.has(key)) {
    const tile = Object.assign(document.createElement("canvas"), { width: 6, height: 6 });
    const context = tile.getContext("2d");
    Object.assign(context, { strokeStyle: color, fillStyle: color, lineWidth: 1.2 });
    const strokes = { "/": [[-1, 1, 1, -1], [-1, 7, 7, -1], [5, 7, 7, 5]], "\\": [[-1, 5, 1, 7], [-1, -1, 7, 7], [5, -1, 7, 1]], ".": [] }[hatch];
    for (const [x0, y0, x1, y1] of strokes) {
      context.beginPath();
      context.moveTo(x0, y0);
      context.lineTo(x1, y1);
      context.stroke();
    }
    if (hatch === ".") context.fillRect(2, 2, 1.6, 1.6);
    tiles.set(key, tile);
  }
  return tiles.get(key);
}
