// Drawing a scene on a canvas: bands, edges, nodes, and the light of messages that go.

import { onPaper } from "../../panel/front/pen.mjs";

const HEIGHT = 22;
const READABLE = 0.38;
const DETAILED = 0.22;
const GLOW_MS = 700;
const PIXELS_PER_MS = 0.06;
const DASHES = { wait: [2, 3], state: [6, 3] };

/** A scene with the outlines of its edges, made once. */
export class Drawing {
  constructor(scene) {
    this.scene = scene;
    this.outlines = scene.edges.map((edge) => outline(edge));
    this.boxes = scene.edges.map((edge) => bounds(edge.path, edge.width));
    this.messages = scene.edges.flatMap((edge, k) => (edge.flow === "message" ? [k] : []));
    this.lit = new Map();
  }

  /** Messages of these loops have gone. */
  light(loops, now) {
    for (const loop of loops) this.lit.set(loop, now);
  }

  /** How bright an edge is, from 0 to 1. */
  glow(edge, now) {
    const latest = Math.max(...edge.loops.map((loop) => this.lit.get(loop) ?? -Infinity));
    return Math.max(0, 1 - (now - latest) / GLOW_MS);
  }

  /** Whether something is still bright. */
  glows(now) {
    return this.messages.some((k) => this.glow(this.scene.edges[k], now) > 0);
  }

  /** Draw what is in view. `look` has size, ratio, selected, now, still (whether nothing may move). */
  draw(context, viewport, theme, palette, look) {
    const { scale, x, y } = viewport;
    const { ratio, size } = look;
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.clearRect(0, 0, size.width, size.height);
    context.setTransform(ratio * scale, 0, 0, ratio * scale, ratio * x, ratio * y);
    const seen = viewport.seen(size);
    this._bands(context, theme, palette, scale);
    this._edges(context, theme, seen, scale);
    this._messages(context, theme, palette, seen, look);
    if (look.selected >= 0) this._around(context, theme, look.selected, scale);
    this._nodes(context, theme, palette, seen, scale, look.selected);
    this._heads(context, theme, viewport, look);
  }

  _bands(context, theme, palette, scale) {
    for (const band of this.scene.bands) {
      const color = palette.bands[band.job] ?? palette.other;
      context.beginPath();
      context.roundRect(band.x, 4, band.width, this.scene.height - 8, 6);
      Object.assign(context, { fillStyle: color, globalAlpha: theme.light ? 0.1 : 0.12 });
      context.fill();
      Object.assign(context, { strokeStyle: color, globalAlpha: 0.9, lineWidth: 1 / Math.max(scale, 0.5) });
      context.setLineDash([]);
      context.stroke();
    }
    context.globalAlpha = 1;
  }

  _edges(context, theme, seen, scale) {
    Object.assign(context, { strokeStyle: theme.ink, globalAlpha: 0.42, lineWidth: Math.max(1, 0.7 / scale) });
    context.setLineDash([]);
    if (scale < DETAILED) {
      context.beginPath();
      this.scene.edges.forEach(({ flow, path }, k) => {
        if (flow === "message" || !meets(this.boxes[k], seen)) return;
        context.moveTo(path[0], path[1]);
        context.lineTo(path.at(-2), path.at(-1));
      });
      context.stroke();
    } else {
      this.scene.edges.forEach((edge, k) => {
        if (edge.flow === "message" || !meets(this.boxes[k], seen)) return;
        context.setLineDash(DASHES[edge.flow] ?? []);
        context.stroke(this.outlines[k]);
      });
    }
    context.globalAlpha = 1;
  }

  _messages(context, theme, palette, seen, { now, still }) {
    for (const k of this.messages) {
      const edge = this.scene.edges[k];
      if (!meets(this.boxes[k], seen)) continue;
      const glow = this.glow(edge, now);
      Object.assign(context, { strokeStyle: onPaper(palette.cut, theme), globalAlpha: 0.5 + 0.5 * glow, lineWidth: edge.width, lineJoin: "round" });
      context.setLineDash([]);
      context.stroke(this.outlines[k]);
      if (!glow || still) continue;
      Object.assign(context, { strokeStyle: theme.light ? "#ffffff" : "#402000", globalAlpha: 0.85 * glow, lineWidth: Math.max(1, edge.width * 0.35), lineDashOffset: -now * PIXELS_PER_MS });
      context.setLineDash([8, 16]);
      context.stroke(this.outlines[k]);
    }
    context.setLineDash([]);
    context.globalAlpha = 1;
  }

  /** The edges of a node, over others. */
  _around(context, theme, selected, scale) {
    this.scene.edges.forEach((edge, k) => {
      if (edge.source !== selected && edge.target !== selected) return;
      Object.assign(context, { strokeStyle: theme.accent, lineWidth: Math.max(edge.flow === "message" ? 2 : 1.8, 1 / scale) });
      context.setLineDash(DASHES[edge.flow] ?? []);
      context.stroke(this.outlines[k]);
    });
    context.setLineDash([]);
  }

  _nodes(context, theme, palette, seen, scale, selected) {
    const words = scale >= READABLE;
    context.font = theme.font;
    Object.assign(context, { textBaseline: "middle", textAlign: "left" });
    this.scene.nodes.forEach((node, k) => {
      if (!meets([node.x - node.w / 2, node.y - HEIGHT, node.x + node.w / 2, node.y + HEIGHT], seen)) return;
      const message = node.kind === "send" || node.kind === "receive";
      const job = node.task.split(":")[0];
      context.beginPath();
      if (scale < DETAILED) context.rect(node.x - node.w / 2, node.y - HEIGHT / 2, node.w, HEIGHT);
      else context.roundRect(node.x - node.w / 2, node.y - HEIGHT / 2, node.w, HEIGHT, node.kind === "state" ? 2 : HEIGHT / 2);
      context.fillStyle = theme.paper;
      context.fill();
      if (!message && node.kind !== "fed") {
        Object.assign(context, { fillStyle: palette.bands[job] ?? palette.other, globalAlpha: theme.light ? 0.45 : 0.4 });
        context.fill();
        context.globalAlpha = 1;
      }
      context.setLineDash(node.kind === "fed" ? [4, 2] : []);
      Object.assign(context, { strokeStyle: k === selected ? theme.accent : message ? onPaper(palette.cut, theme) : theme.ink, lineWidth: k === selected ? 3 : node.returned || node.folds ? 1.8 : 0.8 });
      if (scale >= DETAILED || k === selected) context.stroke();
      context.setLineDash([]);
      if (words) write(context, node, theme);
    });
  }

  /** The names of the tasks stay in view. */
  _heads(context, theme, viewport, { ratio, size }) {
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.font = `bold ${theme.font}`;
    Object.assign(context, { textAlign: "left", textBaseline: "middle" });
    for (const band of this.scene.bands) {
      const left = Math.max(band.x * viewport.scale + viewport.x + 8, 6);
      const right = (band.x + band.width) * viewport.scale + viewport.x;
      const width = context.measureText(band.task).width;
      if (left + width > right || left > size.width) continue;
      const place = 17 * viewport.scale + viewport.y;
      const y = Math.max(place, 11);
      Object.assign(context, { fillStyle: theme.paper, globalAlpha: 0.8 });
      if (y > place) context.fillRect(left - 3, y - 8, width + 6, 16); // over what has been scrolled up to it
      Object.assign(context, { fillStyle: theme.ink, globalAlpha: 1 });
      context.fillText(band.task, left, y);
    }
  }
}

function write(context, node, theme) {
  const soft = node.soft ? context.measureText(node.soft).width : 0;
  const width = soft + context.measureText(node.label).width;
  const left = node.x - width / 2;
  if (soft) {
    context.fillStyle = theme.soft;
    context.fillText(node.soft, left, node.y + 0.5);
  }
  context.fillStyle = theme.ink;
  context.fillText(node.label, left + soft, node.y + 0.5);
}

function outline({ path, flow }) {
  const line = new Path2D();
  line.moveTo(path[0], path[1]);
  for (let k = 2; k < path.length; k += 2) {
    const [x0, y0, x1, y1] = path.slice(k - 2, k + 2);
    if (flow !== "message") line.bezierCurveTo(x0, (y0 + y1) / 2, x1, (y0 + y1) / 2, x1, y1);
    else if (k + 2 < path.length) line.arcTo(x1, y1, path[k + 2], path[k + 3], Math.min(5, (Math.abs(x1 - x0) + Math.abs(y1 - y0)) / 2, (Math.abs(path[k + 2] - x1) + Math.abs(path[k + 3] - y1)) / 2));
    else line.lineTo(x1, y1);
  }
  return line;
}

function bounds(path, width) {
  const [xs, ys] = [path.filter((_, k) => k % 2 === 0), path.filter((_, k) => k % 2 === 1)];
  return [Math.min(...xs) - width, Math.min(...ys) - width, Math.max(...xs) + width, Math.max(...ys) + width];
}

function meets([left, top, right, bottom], seen) {
  return right >= seen.left && left <= seen.right && bottom >= seen.top && top <= seen.bottom;
}
