import assert from "node:assert/strict";
import { test } from "node:test";
import { latin, shown } from "../../panel/front/page.mjs";
import { BAR, GUTTER, lanesOf, layout, messageWords, spanWords, versionAt } from "../../../../pslab/lab/race/front/race_layout.mjs";
import widget from "../../../../pslab/lab/race/front/race_view.mjs";
import { speak } from "../../../../pslab/lab/panel/front/words.mjs";

const close = (a, b, within = 0.01) => assert.ok(Math.abs(a - b) <= within, `${a} is not ${b}`);
const moment = (number, more = {}) => ({ number, words: "", step: number, loss: 1, norm: 2, waiting: [], held: [], gathered: {}, ...more });
const commit = (worker, version, stale, ps = "ps:0") => ({ ps, worker, what: "commit", version, stale });

/** Worker 1 commits twice, then worker 0; both wait with their next commits. */
function asyncScene(more = {}) {
  return {
    strategy: "async", live: true, ps: ["ps:0"], workers: 2, required: 1, gathers: false, drops: false,
    moments: [moment(0), moment(1), moment(2, { waiting: [commit(0, 0, 2), commit(1, 2, 0)] }), moment(3, { waiting: [commit(1, 2, 1), commit(0, 3, 0)] })],
    versions: [[0, "ps:0", 0], [1, "ps:0", 1], [2, "ps:0", 2], [3, "ps:0", 3]],
    pushes: [[1, "ps:0", 1, "applied", 0], [2, "ps:0", 1, "applied", 0], [3, "ps:0", 0, "applied", 2]],
    reads: [[0, "ps:0", 0, 0], [0, "ps:0", 1, 0], [1, "ps:0", 1, 1], [2, "ps:0", 1, 2], [3, "ps:0", 0, 3]],
    spans: [[0, "computes", 0, 3, [0]], [0, "computes", 3, null, [3]], [1, "computes", 0, 1, [0]], [1, "computes", 1, 2, [1]], [1, "computes", 2, null, [2]]],
    ...more,
  };
}

test("lanes are the ps and then the workers, one below the other", () => {
  const lanes = lanesOf(asyncScene({ ps: ["ps:0", "ps:1"] }));
  assert.deepEqual(lanes.map(({ name }) => name), ["ps:0", "ps:1", "worker:0", "worker:1"]);
  for (let k = 1; k < lanes.length; k++) close(lanes[k].y - lanes[k - 1].y, (lanes[k].height + lanes[k - 1].height) / 2);
});

test("a push goes from the end of its worker's bar to the version that came of it, and the read from there to the next bar", () => {
  const plan = layout(asyncScene(), 3, 1000);
  const [worker, server] = ["worker:0", "ps:0"].map((name) => plan.lanes.find((lane) => lane.name === name).y);
  const push = plan.pushes.find(({ worker: k }) => k === 0);
  const [before, after] = plan.spans.filter(({ worker: k }) => k === 0);
  const bead = plan.beads.find(({ version }) => version === 3);
  const read = plan.reads.at(-1);
  close(push.x0, before.x + before.width);
  close(push.y0, worker - BAR / 2);
  close(push.x1, bead.x);
  close(bead.y, server);
  assert.ok(push.y1 > server && push.y1 < worker);
  close(read.x0, bead.x);
  close(read.x1, after.x);
  assert.equal(push.stale, 2);
});

test("only what has happened up to a moment is there, and what waited then", () => {
  const plan = layout(asyncScene(), 2, 1000);
  assert.deepEqual(plan.beads.map(({ version }) => version), [0, 1, 2]);
  assert.equal(plan.pushes.length, 2);
  assert.deepEqual(plan.waiting.map(({ worker, stale, live }) => [worker, stale, live]), [[0, 2, false], [1, 0, false]]);
  const long = plan.spans.find(({ worker }) => worker === 0);
  assert.ok(long.open && long.x + long.width <= plan.ends);
  assert.ok(layout(asyncScene(), 3, 1000).waiting.every(({ live }) => live));
  assert.ok(layout(asyncScene({ live: false }), 3, 1000).waiting.every(({ live }) => !live));
});

test("of many messages the last that fit are there, and bars that began before are cut", () => {
  const moments = Array.from({ length: 101 }, (_, k) => moment(k));
  const versions = moments.map(({ number }) => [number, "ps:0", number]);
  const scene = asyncScene({ moments, versions, pushes: moments.slice(1).map(({ number }) => [number, "ps:0", 1, "applied", 0]), reads: [], spans: [[0, "computes", 0, null, [0]], [1, "computes", 99, 100, [99]]] });
  const plan = layout(scene, 100, 700);
  assert.equal(plan.columns.at(-1).number, 100);
  assert.ok(plan.columns.length >= 5 && plan.columns.length < 10);
  assert.ok(plan.columns[0].x > GUTTER && plan.ends < 700);
  assert.deepEqual([plan.spans[0].cut, plan.spans[0].x], [true, GUTTER]);
  assert.equal(plan.before[0].version, plan.first - 1);
  assert.equal(versionAt(scene, "ps:0", -1), null);
});

test("everything lies within the picture, and nothing that waits meets another", () => {
  for (const width of [560, 1000, 1700]) {
    const two = [commit(0, 0, 0), commit(0, 0, 0, "ps:1"), commit(1, 0, 0)];
    const scene = asyncScene({ ps: ["ps:0", "ps:1"], moments: [moment(0), moment(1), moment(2), moment(3, { waiting: two })] });
    const plan = layout(scene, 3, width);
    for (const pill of plan.waiting) assert.ok(pill.x >= plan.ends && pill.x + pill.width <= width, `${pill.x} ${width}`);
    const [a, b] = plan.waiting;
    assert.ok(a.x + a.width <= b.x);
    assert.ok(plan.rows.norm < plan.height);
  }
});

test("what waits for others is told apart from what computes, and ends where it reads", () => {
  const spans = [[0, "computes", 0, 1, [0]], [0, "held", 1, 3, []], [0, "computes", 3, null, [3]]];
  const [computes, held, again] = layout(asyncScene({ spans }), 3, 1000).spans;
  close(held.x, computes.x + computes.width);
  close(held.x + held.width, again.x);
  assert.deepEqual(spanWords(held), ["held: waits for slower ones", "held"]);
  assert.deepEqual(spanWords({ what: "computes", versions: [3, 2] }), ["at v3 · v2", "v3 · v2", "v3·v2"]);
});

test("one wait ends where another begins", () => {
  const spans = [[0, "commits", 1, 2, []], [0, "held", 2, null, []]];
  const [first, second] = layout(asyncScene({ spans }), 3, 1000).spans;
  close(first.x + first.width, second.x);
});

test("what is gathered comes before the update that is made of it", () => {
  const scene = asyncScene({
    gathers: true, drops: true, required: 2, moments: [moment(0), moment(1, { gathered: { "ps:0": [1] } }), moment(2), moment(3)], versions: [[0, "ps:0", 0], [2, "ps:0", 1]],
    pushes: [[1, "ps:0", 1, "gathered", 0], [2, "ps:0", 0, "gathered", 0]],
  });
  assert.deepEqual(layout(scene, 1, 1000).gathered.map(({ workers, required }) => [workers, required]), [[[1], 2]]);
  const plan = layout(scene, 2, 1000);
  assert.ok(plan.pushes[1].x1 < plan.beads[1].x);
  assert.deepEqual(plan.gathered, []);
  assert.equal(messageWords(commit(1, 0, 1), scene), "worker:1 → ps:0: computed at v0, 1 stale, to be dropped");
  assert.equal(messageWords({ ps: "ps:0", worker: 1, what: "read", version: null, stale: null }, scene), "worker:1 reads at ps:0");
});

/** Each thing that can be drawn of a race at least once. */
function everything() {
  const read = { ps: "ps:0", worker: 0, what: "read", version: null, stale: null };
  return asyncScene({
    gathers: true, drops: true, required: 2,
    moments: [moment(0, { waiting: [commit(0, 0, 0)] }), moment(1), moment(2), moment(3, { gathered: { "ps:0": [1] }, held: [1], waiting: [commit(0, 0, 2), commit(1, 2, 0), read] })],
    pushes: [[1, "ps:0", 1, "applied", 0], [2, "ps:0", 1, "gathered", 0], [3, "ps:0", 0, "dropped", 2]],
    spans: [[0, "computes", 0, 2, [0]], [0, "commits", 2, 3, []], [1, "held", 0, 1, []], [1, "waits", 1, 2, []], [1, "asks", 2, 3, []]],
  });
}

test("in Chinese nothing is said in English, at any moment", async () => {
  const colors = ["#0072B2", "#D55E00"];
  for (const training of ["idle", "running", "paused", "done", "failed", "out of data"])
    for (const scene of [null, everything(), { ...everything(), live: false }]) {
      const page = await shown(widget, { language: "zh", colors }, [{ scene, strategy: "0", training, pending: {}, refusal: null }]);
      assert.deepEqual(latin(page.read()), [], training);
      if (scene) {
        page.view._lookAt(0);
        assert.deepEqual(latin(page.read()), [], `${training}, at the start`);
      }
      page.view._heard = 1;
      page.view._showSilence();
      assert.deepEqual(latin(page.read(), "race"), [], "silence");
      page.remove();
    }
  const page = await shown(widget, { language: "zh", colors }, [{ scene: everything(), strategy: "0", training: "paused", pending: {}, refusal: null }]);
  for (const words of ["下一条消息", "陈旧度 2：丢弃", "已收集 1/2", "放行：", "worker:0 → ps:0：基于 v0 计算，陈旧度 2，将被丢弃", "worker:1 等待较慢的 worker", "测试损失"]) assert.ok(page.read().includes(words), words);
  page.remove();
  speak("en");
});

test("in English, too, all of it is said", async () => {
  const page = await shown(widget, { language: "en", colors: ["#0072B2"] }, [{ scene: everything(), strategy: "async", training: "paused", pending: {}, refusal: null }]);
  for (const words of ["Next message", "2 stale: dropped", "1 of 2 gathered", "Let in:", "worker:1 waits for slower ones", "worker:0 computes at v0"]) assert.ok(page.read().includes(words), words);
  page.remove();
});
