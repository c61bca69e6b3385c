import assert from "node:assert/strict";
import { test } from "node:test";
import { FINER, contour, finer, levelsOf, lossAt, surfaceOf } from "../../../../pslab/lab/parameter_view/front/contours.mjs";
import { PlanePainter, planeBox } from "../../../../pslab/lab/parameter_view/front/parameter_paint.mjs";
import { freshness, pointNear, pointTowards, projection, stretches, trailsOf } from "../../../../pslab/lab/parameter_view/front/trails.mjs";

const close = (a, b, within = 1e-6) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);
const view = (numbers) => new DataView(Float32Array.from(numbers).buffer);
const WINDOW = [-1, 1, -1, 1];
const GRID = 15;
const at = (k) => -1 + (2 * (k % GRID)) / (GRID - 1);
const BOWL = surfaceOf({ window: WINDOW, step: 7, grid: GRID, buffer: 1 }, [null, view(Array.from({ length: GRID * GRID }, (_, k) => 0.1 + at(k) ** 2 + at(Math.floor(k / GRID)) ** 2))]);
const point = (x, y, step, commit = false) => ({ x, y, step, loss: NaN, commit });
const TRAILS = [
  { name: "worker:0", points: [point(0.8, 0.8, 1), point(0.4, 0.9, 4, true), point(0.5, 0.5, 4), point(0, 0.3, 8, true)] },
  { name: "worker:1", points: [point(0.8, 0.8, 1), point(0.9, 0.4, 4, true), point(0.5, 0.5, 4), point(0.3, 0, 8, true)] },
  { name: "ps", points: [point(0.8, 0.8, 0), point(0.5, 0.5, 4)] },
];
const SIZE = { width: 500, height: 400 };
const LOOK = { size: SIZE, theme: { light: true, ink: "#000", soft: "#666", grid: "#ddd", paper: "#fff", font: "11px sans" }, colors: ["#0072B2", "#D55E00"], pointed: null };
const SCENE = { trails: TRAILS, surface: BOWL, window: WINDOW, axes: ["first", "second"] };

function draw(scene = SCENE, look = LOOK, painter = new PlanePainter()) {
  const drawn = { lines: [], words: [], heads: [], squares: [], shades: [], canvases: 0 };
  let path = [];
  const context = {
    canvas: { ownerDocument: { createElement: () => { drawn.canvases += 1; return { getContext: () => ({ fillRect(x, y) { drawn.shades.push({ x, y, alpha: this.globalAlpha }); } }) }; } } },
    save() {}, restore() {}, clip() {}, closePath() {}, translate() {}, rotate() {}, rect() {}, strokeRect() {}, strokeText() {},
    setLineDash(dash) { this.dash = dash; },
    beginPath() { path = []; this.round = null; },
    moveTo(x, y) { path.push([x, y]); }, lineTo(x, y) { path.push([x, y]); },
    arc(x, y, r) { this.round = { x, y, r }; },
    stroke() { if (path.length) drawn.lines.push({ points: path, color: this.strokeStyle, dash: this.dash, alpha: this.globalAlpha, width: this.lineWidth }); },
    fill() { if (this.round) drawn.heads.push({ ...this.round, color: this.fillStyle }); },
    fillRect(left, top, width) { drawn.squares.push({ left, top, width, color: this.fillStyle }); },
    drawImage(image, left, top, width, height) { drawn.image = { left, top, width, height }; },
    fillText(text, x, y) { drawn.words.push({ text, x, y }); },
    measureText: (text) => ({ width: 6 * text.length }),
  };
  painter.draw(context, scene, look);
  return drawn;
}

test("paths come from columns of numbers, one after the other", () => {
  const [one, other] = trailsOf({ names: ["worker:0", "ps"], counts: [2, 1], buffer: 0 }, [view([1, 2, 3, 0.5, 0, 4, 5, 6, NaN, 1, 7, 8, 9, NaN, 0])]);
  assert.deepEqual(one.points[0], { x: 1, y: 2, step: 3, loss: 0.5, commit: false });
  assert.equal(one.points[1].commit, true);
  assert.deepEqual([other.name, other.points.length, other.points[0].step], ["ps", 1, 9]);
});

test("what is up in the plane is up on the screen, and back", () => {
  const place = projection([0, 10, -2, 2], { left: 50, top: 10, width: 100, height: 80 });
  assert.deepEqual([place.x(0), place.x(10), place.y(2), place.y(-2)], [50, 150, 10, 90]);
  assert.deepEqual(place.at(place.x(3), place.y(-1)), [3, -1]);
});

test("a line of equal loss of a bowl is a circle", () => {
  const level = 0.1 + 0.6 ** 2;
  const pieces = contour(finer(BOWL), level);
  for (const [x0, y0] of pieces) close(Math.hypot(x0, y0), 0.6, 0.005);
  const length = pieces.reduce((sum, [x0, y0, x1, y1]) => sum + Math.hypot(x1 - x0, y1 - y0), 0);
  close(length, 2 * Math.PI * 0.6, 0.02);
});

test("a finer surface keeps what was taken, and parabolas are parabolas between", () => {
  const fine = finer(BOWL);
  for (const [x, y] of [[0, 0], [1, -1], [2 / 7, -3 / 7]]) close(lossAt(fine, x, y), 0.1 + x * x + y * y, 1e-5);
  close(lossAt(fine, 0.5 / 7, 0), 0.1 + (0.5 / 7) ** 2, 1e-5);
});

test("at a saddle four crossings are two lines that do not cross", () => {
  const saddle = { grid: 2, left: 0, right: 1, bottom: 0, top: 1, values: Float32Array.from([1, 0, 0, 1]) };
  const pieces = contour(saddle, 0.4);
  assert.equal(pieces.length, 2);
  for (const [x0, y0, x1, y1] of pieces) assert.ok(Math.hypot(x1 - x0, y1 - y0) < 0.7 && Math.abs(x0 + x1 - y0 - y1) > 0.5, `${[x0, y0, x1, y1]}`);
});

test("levels are by factors where losses are, and of a plain there are none", () => {
  const { levels, unit } = levelsOf([0.01, 1]);
  close(levels[1] / levels[0], levels[5] / levels[4], 1e-9);
  close(unit(0.1), 0.5);
  const even = levelsOf([2, 3, NaN]).levels;
  close(even[1] - even[0], even[5] - even[4], 1e-9);
  assert.deepEqual(levelsOf([1, 1]).levels, []);
  assert.deepEqual(levelsOf([NaN]).levels, []);
});

test("the loss beyond the surface is not known", () => {
  assert.ok(Number.isNaN(lossAt(BOWL, 1.01, 0)));
  close(lossAt(BOWL, 1, 1), 2.1, 1e-5);
});

test("older points are fainter, and what leads on from a commit is the pull", () => {
  assert.equal(freshness(0), 1);
  for (let age = 1; age < 60; age++) assert.ok(freshness(age) <= freshness(age - 1) && freshness(age) > 0.1);
  const found = stretches(TRAILS[0]);
  assert.deepEqual(found.map(({ pulled }) => pulled), [false, true, false]);
  assert.equal(found.at(-1).fresh, 1);
});

test("the nearest point is meant, and none is far off", () => {
  const place = projection(WINDOW, planeBox(SIZE));
  assert.deepEqual(pointNear(TRAILS, place, { x: place.x(0.31), y: place.y(0) }, 12), [1, 3]);
  assert.equal(pointNear(TRAILS, place, { x: place.x(-0.7), y: place.y(-0.7) }, 12), null);
});

test("arrow keys go along a path, and to the same step of another", () => {
  assert.deepEqual(pointTowards(TRAILS, null, "ArrowLeft"), [2, 1]);
  assert.deepEqual(pointTowards(TRAILS, [0, 3], "ArrowRight"), [0, 3]);
  assert.deepEqual(pointTowards(TRAILS, [0, 3], "ArrowLeft"), [0, 2]);
  assert.deepEqual(pointTowards(TRAILS, [0, 3], "ArrowDown"), [1, 3]);
  assert.deepEqual(pointTowards(TRAILS, [1, 0], "ArrowDown"), [2, 0]);
  assert.deepEqual(pointTowards(TRAILS, [0, 1], "ArrowUp"), [2, 1]);
  assert.equal(pointTowards([], null, "ArrowUp"), null);
});

test("everybody is drawn where they are, in their colours, and the pulls are dotted", () => {
  const drawn = draw();
  const place = projection(WINDOW, planeBox(SIZE));
  const head = drawn.heads.find(({ x, y, r }) => r === 5 && Math.abs(x - place.x(0)) < 1e-9 && Math.abs(y - place.y(0.3)) < 1e-9);
  assert.equal(head.color, "#0072B2");
  assert.ok(drawn.squares.some(({ left, width, color }) => width === 10 && color === "#000" && Math.abs(left + 5 - place.x(0.5)) < 1e-9));
  const mine = drawn.lines.filter(({ color, points }) => color === "#D55E00" && points.length === 2);
  assert.deepEqual(mine.map(({ dash }) => dash.length > 0), [false, true, false]);
  assert.deepEqual(mine[0].points[0], [place.x(0.8), place.y(0.8)]);
  assert.ok(mine[0].alpha < mine[2].alpha);
  for (const words of ["w0", "w1", "ps", "first", "second"]) assert.ok(drawn.words.some(({ text }) => text === words), words);
});

test("names of those at one place do not lie on each other", () => {
  const close_by = TRAILS.map(({ name, points }) => ({ name, points: [...points, point(0, 0, 9)] }));
  const names = draw({ ...SCENE, trails: close_by }).words.filter(({ text }) => ["w0", "w1", "ps"].includes(text));
  assert.equal(names.length, 3);
  for (const one of names) for (const other of names) assert.ok(one === other || Math.abs(one.x - other.x) >= 12 || Math.abs(one.y - other.y) >= 12);
});

test("more loss has more ink, the foot of the picture is its last row, and shades are made once for a surface", () => {
  const painter = new PlanePainter();
  const drawn = draw(SCENE, LOOK, painter);
  const size = (GRID - 1) * FINER + 1;
  const inkAt = (x, y) => drawn.shades.find((shade) => shade.x === x && shade.y === y).alpha;
  assert.ok(inkAt(0, size - 1) > inkAt((size - 1) / 2, (size - 1) / 2));
  const box = planeBox(SIZE);
  assert.deepEqual(drawn.image, { left: box.left, top: box.top, width: box.width, height: box.height });
  assert.equal(draw(SCENE, LOOK, painter).canvases, 0);
  assert.equal(draw(SCENE, { ...LOOK, theme: { ...LOOK.theme, ink: "#fff" } }, painter).canvases, 1);
});

test("without a surface the paths are drawn all the same", () => {
  const drawn = draw({ ...SCENE, surface: null });
  assert.equal(drawn.canvases, 0);
  assert.ok(drawn.lines.length >= 7);
});
