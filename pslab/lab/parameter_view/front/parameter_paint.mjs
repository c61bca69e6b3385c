// Drawing the plane on a canvas: shades and lines of the loss, paths that fade, where everybody is now.

import { formatNumber } from "../../panel/front/format.mjs";
import { onPaper } from "../../panel/front/pen.mjs";
import { linearScale } from "../../panel/front/scales.mjs";
import { contour, finer, levelsOf } from "./contours.mjs";
import { projection, shortName, stretches } from "./trails.mjs";

const EDGES = { left: 52, right: 12, top: 10, bottom: 34 };
const SHADE = 0.3;
const LABEL_APART = 70; // pixels
const DOTS = [1.5, 3.5];

/** Where the plane is drawn, on a canvas of a size. */
export function planeBox({ width, height }) {
  return { left: EDGES.left, top: EDGES.top, width: width - EDGES.left - EDGES.right, height: height - EDGES.top - EDGES.bottom };
}

/** Draws a scene {trails, surface, window, axes}. `look` has size, theme, the colours of the workers, and which point is meant. */
export class PlanePainter {
  draw(context, scene, look) {
    const { size, theme, pointed } = look;
    const box = planeBox(size);
    const place = projection(scene.window, box);
    Object.assign(context, { font: theme.font, textBaseline: "middle", lineJoin: "round", lineCap: "round", globalAlpha: 1 });
    context.save();
    context.beginPath();
    context.rect(box.left, box.top, box.width, box.height);
    context.clip();
    if (scene.surface) this._surface(context, scene.surface, place, theme);
    for (const trail of [...scene.trails].reverse()) drawTrail(context, trail, place, inkOf(trail.name, look), theme);
    const heads = scene.trails.filter(({ points }) => points.length).map(({ name, points }) => ({ name, color: inkOf(name, look), x: place.x(points.at(-1).x), y: place.y(points.at(-1).y) }));
    for (const head of heads) drawHead(context, head, theme);
    if (scene.surface) this._labels(context, place, box, heads, theme);
    nameHeads(context, heads, box, theme);
    if (pointed) drawPointed(context, scene.trails[pointed[0]].points[pointed[1]], place, theme);
    context.restore();
    drawAxes(context, scene, box, theme);
  }

  /** Shades and lines are worked out once for a surface. */
  _surface(context, surface, place, theme) {
    if (this._of !== surface || this._ink !== theme.ink) {
      const fine = finer(surface);
      const { levels, unit } = levelsOf(Array.from(surface.values));
      Object.assign(this, { _of: surface, _ink: theme.ink, _lines: levels.map((level) => ({ level, pieces: contour(fine, level) })), _shades: shades(context, fine, unit, theme) });
    }
    const [left, top] = [place.x(surface.left), place.y(surface.top)];
    context.imageSmoothingEnabled = true;
    context.drawImage(this._shades, left, top, place.x(surface.right) - left, place.y(surface.bottom) - top);
    Object.assign(context, { strokeStyle: theme.soft, lineWidth: 0.75, globalAlpha: 0.55 });
    context.setLineDash([]);
    for (const { pieces } of this._lines) {
      context.beginPath();
      for (const [x0, y0, x1, y1] of pieces) {
        context.moveTo(place.x(x0), place.y(y0));
        context.lineTo(place.x(x1), place.y(y1));
      }
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  /** The loss beside every second line, where there is room. */
  _labels(context, place, box, heads, theme) {
    const taken = heads.map(({ x, y }) => [x, y]);
    const room = ([x, y]) => Math.min(...taken.map(([a, b]) => Math.hypot(x - a, y - b)), Infinity);
    const inside = ([x, y]) => x > box.left + 22 && x < box.left + box.width - 22 && y > box.top + 10 && y < box.top + box.height - 10;
    this._lines.forEach(({ level, pieces }, k) => {
      if (k % 2) return;
      const middles = pieces.map(([x0, y0, x1, y1]) => [place.x((x0 + x1) / 2), place.y((y0 + y1) / 2)]).filter(inside);
      const best = middles.reduce((found, middle) => (!found || room(middle) > room(found) ? middle : found), null);
      if (!best || room(best) < LABEL_APART) return;
      taken.push(best);
      haloedWords(context, formatNumber(level), best[0], best[1], "center", theme.soft, theme);
    });
  }
}

function inkOf(name, { theme, colors }) {
  return name === "ps" ? theme.ink : onPaper(colors[Number(name.split(":")[1]) % colors.length], theme);
}

/** A small picture of the loss in the colour of the ink: the more ink, the more loss. */
function shades(context, { grid, values }, unit, theme) {
  const canvas = context.canvas.ownerDocument.createElement("canvas");
  Object.assign(canvas, { width: grid, height: grid });
  const small = canvas.getContext("2d");
  small.fillStyle = theme.ink;
  for (let row = 0; row < grid; row++) {
    for (let column = 0; column < grid; column++) {
      const loss = values[row * grid + column];
      small.globalAlpha = SHADE * (Number.isFinite(loss) ? Math.min(Math.max(unit(loss), 0), 1) : 1);
      small.fillRect(column, grid - 1 - row, 1, 1);
    }
  }
  return canvas;
}

function drawTrail(context, trail, place, color, theme) {
  const server = trail.name === "ps";
  Object.assign(context, { strokeStyle: color, fillStyle: color });
  for (const { from, to, fresh, pulled } of stretches(trail)) {
    context.globalAlpha = pulled ? 0.75 * fresh : fresh;
    context.lineWidth = server ? 2.5 : pulled ? 1 : 1.75;
    context.setLineDash(pulled ? DOTS : []);
    context.beginPath();
    context.moveTo(place.x(from.x), place.y(from.y));
    context.lineTo(place.x(to.x), place.y(to.y));
    context.stroke();
    if (from.commit) drawCommit(context, place.x(from.x), place.y(from.y));
    else dot(context, place.x(from.x), place.y(from.y), server ? 2 : 1.6);
  }
  context.setLineDash([]);
  context.globalAlpha = 1;
  const first = trail.points[0];
  if (!first || trail.points.length < 2) return;
  Object.assign(context, { fillStyle: theme.paper, lineWidth: 1.5, globalAlpha: 0.8 });
  dot(context, place.x(first.x), place.y(first.y), 3.5);
  context.stroke();
  context.globalAlpha = 1;
}

function drawCommit(context, x, y, r = 4) {
  context.beginPath();
  context.moveTo(x, y - r);
  for (const [dx, dy] of [[r, 0], [0, r], [-r, 0]]) context.lineTo(x + dx, y + dy);
  context.closePath();
  context.fill();
}

function dot(context, x, y, r) {
  context.beginPath();
  context.arc(x, y, r, 0, 2 * Math.PI);
  context.fill();
}

function drawHead(context, { name, color, x, y }, theme) {
  Object.assign(context, { fillStyle: theme.paper, globalAlpha: 1 });
  if (name === "ps") context.fillRect(x - 6.5, y - 6.5, 13, 13);
  else dot(context, x, y, 6.5);
  context.fillStyle = color;
  if (name === "ps") context.fillRect(x - 5, y - 5, 10, 10);
  else dot(context, x, y, 5);
}

/** Names beside where everybody is, each at the first of some places that is free. */
function nameHeads(context, heads, box, theme) {
  const taken = heads.map(({ x, y }) => ({ left: x - 7, right: x + 7, top: y - 7, bottom: y + 7 }));
  for (const { name, color, x, y } of [...heads].reverse()) {
    const words = shortName(name);
    const width = context.measureText(words).width;
    const places = [[10, 0], [-10 - width, 0], [-width / 2, -15], [-width / 2, 15], [10, -13], [10, 13], [-10 - width, -13], [-10 - width, 13]];
    const spots = places.map(([dx, dy]) => ({ left: x + dx - 2, right: x + dx + width + 2, top: y + dy - 6, bottom: y + dy + 6 }));
    const free = spots.find((spot) => !taken.some((other) => meet(spot, other)) && spot.left > box.left && spot.right < box.left + box.width && spot.top > box.top && spot.bottom < box.top + box.height);
    if (!free) continue;
    taken.push(free);
    haloedWords(context, words, free.left + 2, free.top + 6, "left", color, theme);
  }
}

function meet(one, other) {
  return one.left < other.right && other.left < one.right && one.top < other.bottom && other.top < one.bottom;
}

function drawPointed(context, point, place, theme) {
  Object.assign(context, { strokeStyle: theme.ink, lineWidth: 1.5, globalAlpha: 1 });
  context.beginPath();
  context.arc(place.x(point.x), place.y(point.y), 9, 0, 2 * Math.PI);
  context.stroke();
}

function haloedWords(context, words, x, y, align, color, theme) {
  Object.assign(context, { textAlign: align, strokeStyle: theme.paper, lineWidth: 3, globalAlpha: 1 });
  context.setLineDash([]);
  context.strokeText(words, x, y);
  context.fillStyle = color;
  context.fillText(words, x, y);
}

function drawAxes(context, { window: [left, right, bottom, top], axes }, box, theme) {
  Object.assign(context, { strokeStyle: theme.grid, fillStyle: theme.soft, lineWidth: 1, globalAlpha: 1 });
  context.setLineDash([]);
  context.strokeRect(box.left + 0.5, box.top + 0.5, box.width - 1, box.height - 1);
  const [across, up] = [linearScale(left, right), linearScale(bottom, top)];
  context.textAlign = "center";
  for (const tick of across.ticks(Math.max(2, Math.floor(box.width / 90)))) context.fillText(formatNumber(tick), box.left + across.unit(tick) * box.width, box.top + box.height + 10);
  context.fillText(axes[0], box.left + box.width / 2, box.top + box.height + 25);
  context.textAlign = "right";
  for (const tick of up.ticks(Math.max(2, Math.floor(box.height / 60)))) context.fillText(formatNumber(tick), box.left - 6, box.top + (1 - up.unit(tick)) * box.height);
  context.save();
  context.translate(9, box.top + box.height / 2);
  context.rotate(-Math.PI / 2);
  context.textAlign = "center";
  context.fillText(axes[1], 0, 0);
  context.restore();
}
