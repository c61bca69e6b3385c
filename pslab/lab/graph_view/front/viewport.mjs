// What of the graph is in view, and what is at a place of it.

const SMALLEST = 0.05;
const LARGEST = 3;
const LEGIBLE = 0.62;

/** The part of a scene that is in view. Pixels of the screen are scene · scale + offset. */
export class Viewport {
  constructor() {
    Object.assign(this, { scale: 1, x: 0, y: 0 });
  }

  /** All of the scene; but no smaller than can be read, from the beginning, if `legible`. */
  fit(scene, size, legible = false) {
    const all = Math.min(size.width / scene.width, size.height / scene.height, 1);
    this.scale = Math.max(all, legible ? LEGIBLE : SMALLEST);
    this.x = Math.max(0, (size.width - scene.width * this.scale) / 2);
    this.y = Math.max(0, (size.height - scene.height * this.scale) / 2);
  }

  /** Larger or smaller, about a place on the screen. */
  zoom(factor, at) {
    const scale = Math.min(Math.max(this.scale * factor, SMALLEST), LARGEST);
    this.x = at.x - ((at.x - this.x) * scale) / this.scale;
    this.y = at.y - ((at.y - this.y) * scale) / this.scale;
    this.scale = scale;
  }

  pan(dx, dy) {
    this.x += dx;
    this.y += dy;
  }

  /** Let a node be in view, and move no more than that takes. */
  show(node, size) {
    const margin = 24;
    const [x, y] = [node.x * this.scale + this.x, node.y * this.scale + this.y];
    const [w, h] = [(node.w / 2) * this.scale + margin, 11 * this.scale + margin];
    this.pan(Math.max(0, w - x) - Math.max(0, x + w - size.width), Math.max(0, h - y) - Math.max(0, y + h - size.height));
  }

  /** The rectangle of the scene that is seen. */
  seen(size) {
    return { left: -this.x / this.scale, top: -this.y / this.scale, right: (size.width - this.x) / this.scale, bottom: (size.height - this.y) / this.scale };
  }

  /** The place in the scene of one on the screen. */
  at(place) {
    return { x: (place.x - this.x) / this.scale, y: (place.y - this.y) / this.scale };
  }
}

/** The number of the node at a place of the scene; −1 where there is none. */
export function nodeAt(scene, { x, y }, height = 22) {
  return scene.nodes.findIndex((node) => Math.abs(x - node.x) <= node.w / 2 && Math.abs(y - node.y) <= height / 2);
}

/** The node that an arrow key leads to: down and up along the edges, left and right to the nearest beside it; the same where there is none. */
export function towards(scene, from, key) {
  if (from < 0) return scene.nodes.length ? 0 : -1;
  const here = scene.nodes[from];
  const nearest = (numbers) => numbers.reduce((best, k) => (best < 0 || distance(here, scene.nodes[k]) < distance(here, scene.nodes[best]) ? k : best), -1);
  const found = {
    ArrowDown: () => nearest(scene.edges.filter((edge) => edge.source === from).map((edge) => edge.target)),
    ArrowUp: () => nearest(scene.edges.filter((edge) => edge.target === from).map((edge) => edge.source)),
    ArrowLeft: () => nearest(beside(scene, here, -1)),
    ArrowRight: () => nearest(beside(scene, here, 1)),
  }[key]();
  return found < 0 ? from : found;
}

function beside(scene, here, sign) {
  return scene.nodes.flatMap((node, k) => (sign * (node.x - here.x) > 1 && Math.abs(node.y - here.y) < 60 ? [k] : []));
}

function distance(one, other) {
  return Math.hypot(one.x - other.x, 3 * (one.y - other.y));
}
