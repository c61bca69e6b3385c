import assert from "node:assert/strict";
import { test } from "node:test";
import { stack, stairs } from "../../../../pslab/lab/panel/front/area_plot.mjs";
import { moved, stepped } from "../../../../pslab/lab/panel/front/controls.mjs";
import { formatBytes, formatCount, formatNumber, formatSeconds } from "../../../../pslab/lab/panel/front/format.mjs";
import { plotsOf } from "../../../../pslab/lab/panel/front/figures.mjs";
import { History, nearest } from "../../../../pslab/lab/panel/front/history.mjs";
import { marksAt } from "../../../../pslab/lab/panel/front/marks.mjs";
import { onPaper } from "../../../../pslab/lab/panel/front/pen.mjs";
import { amountScale, divergenceScale, linearScale, logScale, lossScale, zeroLogScale } from "../../../../pslab/lab/panel/front/scales.mjs";
import { inner, smoothed } from "../../../../pslab/lab/panel/front/series_plot.mjs";
import { timeWindow } from "../../../../pslab/lab/panel/front/timeline_plot.mjs";
import { linkRows } from "../../../../pslab/lab/panel/front/link_plot.mjs";
import { WORDS, speak } from "../../../../pslab/lab/panel/front/words.mjs";
import { CHINESE } from "../../../../pslab/lab/panel/front/words_zh.mjs";
import { inSight, look, moveBy, showAll, wholeOf, zoomBy } from "../../../../pslab/lab/panel/front/zoom.mjs";
import widget from "../../../../pslab/lab/panel/front/panel.mjs";
import { notedPen, stepsMessage } from "./canvas.mjs";
import { latin, shown } from "./page.mjs";

const PALETTE = { series: ["#0072B2", "#D55E00", "#009E73"], phases: { compute: "#009E73", wait: "#BBBBBB", push: "#E69F00", pull: "#56B4E9" }, flows: { pushed: "#E69F00", pulled: "#56B4E9", fed: "#CC79A7" } };
const SIZE = { width: 300, height: 200 };
const VIEW = { step: null, time: null, row: null, zoom: null, timeZoom: null, span: null };
const close = (a, b, within = 0.01) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);

function told(columns, state = {}) {
  const history = new History();
  const [content, buffers] = stepsMessage(columns);
  history.take({ ...content, state: { metrics: ["accuracy"], workers: 2, marks: [], ...state } }, buffers);
  return history;
}

test("numbers are said in few letters", () => {
  assert.deepEqual([0, 0.0186, 1, 12.34, 1310, 25000, 3.2e6, 0.0001, NaN].map(formatNumber), ["0", "0.0186", "1", "12.3", "1310", "25 k", "3.2 M", "1e−4", "–"]);
  assert.deepEqual([0, 999, 40010, 2.5e6].map(formatBytes), ["0 B", "999 B", "40 kB", "2.5 MB"]);
  assert.deepEqual([0, 2, 0.0151, 42e-6].map(formatSeconds), ["0", "2 s", "15.1 ms", "42 µs"]);
  assert.equal(formatCount(1234567), "1\u202f234\u202f567");
});

test("scales go from the bottom to the top, and their ticks lie within", () => {
  for (const scale of [linearScale(-2, 6), logScale(0.003, 40), zeroLogScale(1e-4, 0.5), lossScale([0.01, 0.5, 2]), lossScale([2.1, 2.3]), divergenceScale([0, 1e-3, 0.2]), amountScale([0, 3, 5])]) {
    close(scale.unit(scale.low), 0, 1e-9);
    close(scale.unit(scale.high), 1, 1e-9);
    const ticks = scale.ticks(6);
    assert.ok(ticks.length >= 2 && ticks.length <= 9, `${ticks}`);
    for (const tick of ticks) assert.ok(scale.unit(tick) > -0.01 && scale.unit(tick) < 1.01, `${tick}`);
    for (let k = 1; k < ticks.length; k++) assert.ok(scale.unit(ticks[k]) > scale.unit(ticks[k - 1]));
  }
});

test("losses that differ threefold are on a scale of factors, zeros of divergence at its foot", () => {
  const scale = lossScale([0.01, 1]);
  close(scale.unit(0.1), 0.5, 1e-6);
  assert.equal(divergenceScale([0, 0.01]).unit(0), 0);
  close(divergenceScale([0, 0.01]).unit(0.01), 1 / 7, 1e-9);
});

test("a few steps that took far longer than all others do not flatten them", () => {
  const scale = amountScale([...Array(99).fill(1), 500]);
  assert.ok(scale.unit(1) > 0.5);
});

test("a history takes all, then what has changed, and never grows", () => {
  const history = told({ step: [1, 2, 3], loss: [3, 2, NaN] });
  assert.deepEqual(history.curve("loss"), { x: [1, 2], y: [3, 2] });
  history.take(...stepsMessage({ step: [3, 4], loss: [1, 0.5] }, { anew: false, first: 2 }));
  assert.deepEqual(history.curve("loss"), { x: [1, 2, 3, 4], y: [3, 2, 1, 0.5] });
  for (let k = 0; k < 2000; k++) history.take(...stepsMessage({ step: [511], loss: [k] }, { anew: false, first: 511 }));
  assert.equal(history.columns.get("loss").length, 512);
  history.take(...stepsMessage({ step: [0], loss: [9] }));
  assert.deepEqual(history.curve("loss"), { x: [0], y: [9] });
  assert.deepEqual(history.curve("nothing"), { x: [], y: [] });
});

test("a copy stays as it is", () => {
  const history = told({ step: [1], loss: [3] });
  const copy = history.copy();
  history.take(...stepsMessage({ step: [1], loss: [7] }, { anew: false }));
  assert.deepEqual([copy.curve("loss").y, history.curve("loss").y], [[3], [7]]);
});

test("the line of the loss goes through the means", () => {
  const history = told({ step: [0, 5, 10], loss: [4, 2, 1], accuracy: [0, 0.5, 1] });
  const { pen, drawn } = notedPen();
  plotsOf(PALETTE).loss.draw(pen, SIZE, history, VIEW);
  const box = inner(SIZE, 34);
  const loss = drawn.lines.find((line) => line.color === "#0072B2" && line.points.length === 3);
  const scale = lossScale([4, 2, 1]);
  loss.points.forEach(([x, y], k) => {
    close(x, box.left + [0, 0.5, 1][k] * box.width);
    close(y, box.top + (1 - scale.unit([4, 2, 1][k])) * box.height);
  });
  const accuracy = drawn.lines.find((line) => line.color === "#D55E00" && line.points.length === 3);
  close(accuracy.points[2][1], box.top);
  assert.notDeepEqual(accuracy.dash, loss.dash);
});

test("words at the axes do not meet, nor do those of the marks", () => {
  const marks = [[0, "sync"], [2, "4 workers"], [3, "rate 0.05"], [60, "in-graph"], [99, "batch 128"]].map(([step, words]) => ({ step, words }));
  const steps = Array.from({ length: 100 }, (_, k) => k * 100);
  const history = told({ step: steps, loss: steps.map((s) => 1 / (1 + s)), accuracy: steps.map(() => 0.5) }, { marks: marks.map((m) => ({ ...m, step: m.step * 100 })) });
  const { pen, drawn } = notedPen();
  plotsOf(PALETTE).loss.draw(pen, SIZE, history, VIEW);
  const boxes = drawn.words.map(({ text, x, y, width, align }) => ({ text, left: x - width * { left: 0, center: 0.5, right: 1 }[align], width, top: y - 6 }));
  for (const a of boxes) for (const b of boxes)
    if (a !== b && Math.abs(a.top - b.top) < 11 && a.left < b.left + b.width && b.left < a.left + a.width) assert.fail(`${a.text} meets ${b.text}`);
  const named = marks.filter((mark) => drawn.words.some(({ text }) => text === mark.words)).map((mark) => mark.words);
  assert.deepEqual(named, ["rate 0.05", "batch 128"]);
  assert.deepEqual(marksAt(history.state.marks, 205, 150), ["since step 200: 4 workers", "since step 300: rate 0.05"]);
  assert.deepEqual(marksAt(history.state.marks, 5000, 10), ["since step 300: rate 0.05"]);
  assert.deepEqual(marksAt(history.state.marks, -9, 1), []);
});

test("areas are stacked", () => {
  const history = told({ step: [1, 2], compute: [1, 2], push: [3, NaN], wait: [0, 1], pull: [2, 2] });
  assert.deepEqual(stack(history, ["compute", "push", "wait", "pull"].map((column) => ({ column }))), { x: [1, 2], tops: [[1, 2], [4, 2], [4, 3], [6, 5]] });
});

test("what was frozen is drawn behind, and told", () => {
  const history = told({ step: [0, 1], loss: [2, 1], accuracy: [0, 1] }, { ghost: { step: [0, 1, 2], loss: [4, null, 3], accuracy: [0, 0, 0] } });
  const { pen, drawn } = notedPen();
  const { loss } = plotsOf(PALETTE);
  loss.draw(pen, SIZE, history, VIEW);
  assert.equal(drawn.lines.filter((line) => line.color === "#0072B2" && line.width === 3).length, 1);
  assert.deepEqual(loss.tell(history, 2).map((entry) => `${entry.label} ${entry.value}`), ["loss 1", "loss, frozen 3", "accuracy 1", "accuracy, frozen 0"]);
});

test("bars of the timeline are as long as what they stand for, and end where the step ends", () => {
  const fields = ["end", "wall", "compute", "push", "wait", "pull", "worker", "step"];
  const rows = Float32Array.from([1, 1, 0.5, 0.125, 0.25, 0.125, 0, 7, 1, 1, 0.25, 0, 0, 0.25, 1, 8]);
  const history = told({ step: [1], loss: [1] }, { tasks: [{ name: "worker:1", state: "lost" }] });
  history.take({ timeline: { origin: 0, fields, buffer: 0 } }, [new DataView(rows.buffer)]);
  const { timeline } = plotsOf(PALETTE);
  const { pen, drawn } = notedPen();
  timeline.draw(pen, { width: 486, height: 200 }, history, VIEW);
  const bar = (color, k) => drawn.bars.filter((b) => b.color === color)[k];
  close(bar("#009E73", 0).width, 200);
  close(bar("#E69F00", 0).width, 50);
  close(bar("#BBBBBB", 0).width, 100);
  close(bar("#56B4E9", 0).left + bar("#56B4E9", 0).width, 474);
  close(bar("#009E73", 1).left, 74 + 200);
  assert.ok(drawn.words.some(({ text }) => text === "lost"));
  assert.deepEqual(timeline.tell(history, 0.9).map(({ label }) => label), ["worker:0, its step 7", "worker:1, its step 8"]);
  assert.deepEqual(timeWindow(history.steps()), [0, 1]);
});

test("a straggler and its delay are named, one that is lost is hatched, and what goes on is framed", () => {
  const fields = ["end", "wall", "compute", "push", "wait", "pull", "worker", "step"];
  const rows = Float32Array.from([1, 1, 0.5, 0, 0.5, 0, 0, 7, 0.5, 0.5, 0.5, 0, 0, 0, 1, 8]);
  const tasks = [{ name: "worker:0", state: "running", delay: "50 ms on average, exponential" }, { name: "worker:1", state: "running", delay: "" }];
  const history = told({ step: [1], loss: [1] }, { tasks, training: "running" });
  history.take({ timeline: { origin: 0, fields, buffer: 0 } }, [new DataView(rows.buffer)]);
  const { timeline } = plotsOf(PALETTE);
  const { pen, drawn } = notedPen();
  timeline.draw(pen, { width: 486, height: 200 }, history, VIEW);
  assert.ok(drawn.words.some(({ text }) => text === "+50 ms"));
  const frames = drawn.lines.filter(({ points }) => points.length === 4);
  assert.equal(frames.length, 1, "worker:0 has just ended its step");
  const at = (time) => 74 + (time - inSight(timeline, history, VIEW)[0]) / (1 - inSight(timeline, history, VIEW)[0]) * 400;
  close(frames[0].points[1][0], at(0.5));
  assert.deepEqual(timeline.tell(history, 0.25, 1).map(({ label }) => label), ["worker:1, its step 8"]);
});

test("a prediction holds from its change to the next, and is drawn and told", () => {
  const forecasts = [{ step: 0, seconds: 2, bottleneck: "network" }, { step: 5, seconds: 4, bottleneck: "cores" }];
  assert.deepEqual(stairs(forecasts, 9), { x: [0, 5, 5, 9], y: [2, 2, 4, 4] });
  assert.deepEqual(stairs([{ step: 3, seconds: null, bottleneck: "" }], 5), { x: [3, 5], y: [NaN, NaN] });
  const history = told({ step: [0, 5, 9], compute: [1, 1, 1] }, { forecasts });
  const { time } = plotsOf(PALETTE);
  const { pen, drawn } = notedPen();
  time.draw(pen, SIZE, history, VIEW);
  const line = drawn.lines.find(({ color, points }) => color === "#000" && points.length === 4);
  const box = inner(SIZE);
  const scale = amountScale([1, 1, 1], 4);
  close(line.points[3][1], box.top + (1 - scale.unit(4)) * box.height);
  assert.ok(drawn.words.some(({ text }) => text === "predicted"));
  assert.equal(time.tell(history, 4).at(-1).value, "2 s; bottleneck: the network");
});

test("divergence is a moving mean that does not reach over a mark, zeros among what was seen", () => {
  const curve = { x: [0, 1, 2, 3, 4, 5], y: [0, 2, 1, 9, 7, 8] };
  assert.deepEqual(smoothed(curve, [{ step: 3 }]).y, [1, 1, 1, 8, 8, 8]);
  const history = told({ step: [0, 1, 2, 3], "divergence:0": [0.5, 0, 0.5, 0] });
  const { pen, drawn } = notedPen();
  plotsOf(PALETTE).divergence.draw(pen, SIZE, history, VIEW);
  const dots = drawn.bars.filter(({ width }) => width === 2);
  assert.equal(dots.length, 4);
  close(dots[1].top + 1, inner(SIZE).top + inner(SIZE).height, 0.5);
});

test("each link is a row, with what went both ways; of many, those with the most are shown", () => {
  const links = [["ps:0", "worker:1", 300, 1, 3000], ["worker:1", "ps:0", 200, 1, 2000], ["worker:10", "ps:0", 5, 1, 50], ["worker:2", "ps:0", 1, 1, 10]];
  assert.deepEqual(linkRows(links).map(({ name, pushed, pulled }) => [name, pushed, pulled]), [["w1 – ps:0", 200, 300], ["w2 – ps:0", 1, 0], ["w10 – ps:0", 5, 0]]);
  const plot = plotsOf(PALETTE).links;
  const history = told({ step: [1] }, { links });
  const { pen, drawn } = notedPen();
  plot.draw(pen, SIZE, history, VIEW);
  const [pushed, pulled] = ["#E69F00", "#56B4E9"].map((color) => drawn.bars.find((bar) => bar.color === color));
  close(pulled.width / pushed.width, 1.5);
  assert.equal(plot.rowAt(SIZE, history, 0), 0);
  assert.match(plot.tell(history, 0, SIZE)[1].value, /200 B in 1 messages a step; 2 kB in all/);
  const small = notedPen();
  plot.draw(small.pen, { width: 300, height: 50 }, history, VIEW);
  assert.ok(small.drawn.words.some(({ text }) => text === "and 2 more: 6 B"));
});

test("one zooms around a place, moves within what there is, and back", () => {
  const history = told({ step: [0, 100], loss: [1, 2] });
  const { loss } = plotsOf(PALETTE);
  const view = { ...VIEW };
  zoomBy(loss, history, view, false, 0.5, 20);
  assert.deepEqual(view.zoom, [10, 60]);
  moveBy(loss, history, view, 2);
  assert.deepEqual(view.zoom, [50, 100]);
  zoomBy(loss, history, view, false, 8, 60);
  assert.equal(view.zoom, null);
  look(loss, history, view, [-5, 30]);
  assert.deepEqual(view.zoom, [0, 30]);
  showAll(view);
  assert.deepEqual(inSight(loss, history, view), [0, 100]);
});

test("a timeline that goes on keeps its end while it is zoomed", () => {
  const fields = ["end", "wall", "compute", "push", "wait", "pull", "worker", "step"];
  const rows = Float32Array.from(Array.from({ length: 40 }, (_, k) => [k + 1, 1, 1, 0, 0, 0, 0, k]).flat());
  const history = told({ step: [1] });
  history.take({ timeline: { origin: 0, fields, buffer: 0 } }, [new DataView(rows.buffer)]);
  const { timeline } = plotsOf(PALETTE);
  const view = { ...VIEW };
  assert.deepEqual(wholeOf(timeline, history), [0, 40]);
  assert.deepEqual(inSight(timeline, history, view), [16, 40]);
  zoomBy(timeline, history, view, false, 0.5, null);
  assert.deepEqual(inSight(timeline, history, view), [28, 40]);
  zoomBy(timeline, history, view, false, 100, null);
  assert.deepEqual(inSight(timeline, history, view), [0, 40]);
  zoomBy(timeline, history, view, true, 0.5, 10);
  assert.deepEqual(inSight(timeline, history, view), [5, 25]);
});

test("what is typed in words moves along its ladder, and each of several numbers by itself", () => {
  const face = { ladder: ["1 ms", "2 ms", "no limit"], value: "2 ms" };
  assert.equal(moved("1 ms", 1, face), "2 ms");
  assert.equal(moved("3 ms", 1, face), "no limit");
  assert.equal(moved("no limit", 1, face), "no limit");
  assert.equal(moved("64, 32", -1, { ladder: [], factor: 2, least: 1, most: null }), "32, 16");
});

test("a plot with nothing to show says so", () => {
  for (const plot of Object.values(plotsOf(PALETTE))) {
    const { pen, drawn } = notedPen();
    plot.draw(pen, SIZE, new History(), VIEW);
    assert.deepEqual(drawn.words.map(({ text }) => text), [plot.empty]);
  }
});

test("a control steps by one or by factors, within its bounds", () => {
  assert.equal(stepped(2, 1, { factor: 0, least: 1, most: 4 }), 3);
  assert.equal(stepped(1, -1, { factor: 0, least: 1, most: 4 }), 1);
  assert.equal(stepped(64, -1, { factor: 2, least: 1, most: null }), 32);
  assert.equal(stepped(0.1, 1, { factor: 2, least: 0, most: null }), 0.2);
});

test("the nearest place, and colours that can be told from dark paper", () => {
  assert.equal(nearest([1, 5, 9], 6.9), 1);
  assert.equal(nearest([], 1), -1);
  assert.equal(onPaper("#0072B2", { light: true }), "#0072B2");
  assert.equal(onPaper("#0072B2", { light: false }), "rgb(89,163,205)");
});

test("whatever is said in English is said in Chinese, with the same values", () => {
  const shape = (words) => (words instanceof Array ? words.map(shape) : typeof words === "object" ? Object.fromEntries(Object.entries(words).map(([name, inner]) => [name, shape(inner)])) : typeof words === "function" ? words.length : "text");
  const english = structuredClone(shape(WORDS));
  assert.deepEqual(shape(CHINESE), english);
  speak("zh");
  assert.equal(WORDS.buttons.start, "开始");
  speak("en");
  assert.equal(WORDS.buttons.start, "Start");
});

test("in Chinese nothing on the panel is said in English, however the training and the tasks fare", async () => {
  const face = (label, value, options = []) => ({ label, value, options, words: "", hint: "", ladder: [], least: 1, most: null, factor: 0 });
  const tasks = ["running", "starting", "silent", "lost"].map((state, k) => ({ name: `worker:${k}`, state, restarts: k, delay: k ? "" : "5 ms" }));
  const loops = { "worker:0": "waiting", "worker:1": "stopped" };
  const state = {
    message: "", step: 9, target: 9, dropped: 1, rate: 2, latest: { loss: 1, accuracy: 0.5, staleness: 2 }, metrics: ["accuracy"], workers: 2, pending: {}, refusal: null, ghost: null,
    controls: { update: face("更新规则", "1"), straggler: face("慢的", "nobody", ["nobody", "worker:0"]), parameter: face("加锁", "on", ["on", "off"]), compression: face("压缩", "none", ["none", "1"]), link: face("连接", "all links", ["all links"]) },
    groups: { 模式: ["update", "straggler", "parameter", "compression", "link"] }, tasks, loops, checkpoints: ["1"], marks: [{ step: 2, time: 0, words: "1" }],
    links: [["worker:0", "ps:0", 8, 1, 80], ["ps:0", "worker:0", 8, 1, 80]], forecasts: [{ step: 1, seconds: 1, bottleneck: "ps" }],
  };
  const columns = { step: [1, 2], loss: [2, 1], accuracy: [0, 1], staleness: [0, 1], compute: [1, 1], push: [1, 1], wait: [1, 1], pull: [1, 1], bytes_pushed: [1, 2], bytes_pulled: [1, 2], bytes_fed: [1, 2], "divergence:0": [0, 1] };
  for (const training of ["idle", "running", "paused", "done", "failed", "out of data"]) {
    const [content, buffers] = stepsMessage(columns);
    const page = await shown(widget, { language: "zh", palette: PALETTE, hide: [], lock: [] }, [{ ...content, state: { ...state, training } }, buffers]);
    assert.deepEqual(latin(page.read()), [], training);
    const said = page.read();
    for (const words of ["损失", "推送", "等待", "喂入", "无", "全部连接", "开", "启动中", "无响应", "已丢失", "准确率 0.5"]) assert.ok(said.includes(words), words);
    page.tell({ state: { pending: { straggler: "worker:0" } } });
    assert.deepEqual(latin(page.read()), [], "while something is pending");
    page.view._heard = 1;
    page.view._showSilence();
    assert.deepEqual(latin(page.read(), "panel"), [], "silence");
    page.remove();
  }
  speak("en");
});
