import assert from "node:assert/strict";
import { test } from "node:test";
import { makeRun } from "../fixture/run";
import { failureName } from "../src/format";
import { firstShown, model } from "../src/model";
import { pareto } from "../src/pareto";
import { lanes } from "../src/request/lanes";
import { everything, Rows } from "../src/request/rows";
import { eventsOf } from "../src/request/trace";
import { underwayText } from "../src/section/verdict";
import { yaml } from "../src/yaml";

test("requests that overlap lie in different lanes", () => {
  const laid = lanes([0, 1, 2, 5, 6], [5, 2, 9, 7, 8]);
  assert.deepEqual([...laid.of], [0, 1, 1, 0, 2]);
  assert.equal(laid.count, 3);
});

test("a turn goes by its session's number and its own", async () => {
  const run = makeRun({ loads: [4], perStage: 20 });
  const rows = new Rows(await model(run.doc, run.planes));
  assert.equal(rows.name(7), "7");
  rows.session[7] = 4;
  rows.turn[7] = 2;
  assert.equal(rows.name(7), "5, turn 3");
});

test("requests are selected and sorted", async () => {
  const run = makeRun({ loads: [4, 8], perStage: 200, failures: 0.1 });
  const m = await model(run.doc, run.planes);
  const rows = new Rows(m);
  assert.equal(rows.n, 400);
  const all = rows.select(everything());
  const failed = rows.select({ ...everything(), outcome: "failed" });
  const ok = rows.select({ ...everything(), outcome: "ok" });
  assert.equal(all.length, 400);
  assert.equal(failed.length + ok.length, 400);
  assert.ok(failed.length > 10);
  const kinds = rows.kinds();
  assert.deepEqual(kinds.map(([name]) => name).sort(), ["HTTP 429", "HTTP 500", "timeout"]);
  for (const [name, n] of kinds) {
    const some = rows.select({ ...everything(), outcome: "=" + name });
    assert.equal(some.length, n);
    assert.ok(some.every((i) => failureName(rows.failure(i).class, rows.failure(i).status) === name));
  }
  assert.ok(rows.select({ ...everything(), stage: 1, warmup: false }).every((i) => rows.value("stage", i) === 1 && rows.phase[i] === 0));
  const slow = rows.select({ ...everything(), latency: 1200 });
  assert.ok(slow.length > 0 && slow.every((i) => rows.value("latency", i) >= 1.2e6));
  const sorted = rows.sort([...ok], "latency", true);
  assert.ok(sorted.every((i, k) => k === 0 || rows.value("latency", i) <= rows.value("latency", sorted[k - 1] as number)));
  const inside = rows.select({ ...everything(), span: [1, 2] });
  assert.ok(inside.length > 0 && inside.length < 400);
});

test("the events of a request, where the page has them", async () => {
  const run = makeRun({ loads: [4], perStage: 50, traces: 10 });
  const m = await model(run.doc, run.planes);
  const of = m.col(run.doc.traces?.of);
  const [first, last] = [of[0] as number, of[of.length - 1] as number];
  const rows = new Rows(m);
  for (const row of [first, last]) {
    const e = eventsOf(m, row);
    assert.ok(e && e.at.length > 3);
    assert.equal(e.tokens.reduce((a, b) => a + b, 0), rows.value("out", row));
  }
  assert.equal(eventsOf(m, first + 1), null);
});

test("the stage to begin with", async () => {
  const run = makeRun({ loads: [4, 8, 16], perStage: 20 });
  const first = async (best?: number) => firstShown(await model({ ...run.doc, ...(best === undefined ? {} : { best }) }, run.planes));
  assert.deepEqual([await first(1), await first(-1), await first(), await first(7)], [1, 0, 0, 0]);
  (run.doc.result.stages ?? []).slice(0, 2).forEach((s) => { s.counts.ok = 0; });
  assert.deepEqual([await first(1), await first(-1)], [1, 2]);
});

test("the Pareto front", () => {
  assert.deepEqual(pareto([1, 2, 3, 2], [9, 8, 1, 3]), [0, 1, 2]);
  assert.deepEqual(pareto([], []), []);
  const about = (v: number[], by: number) => v.map((y) => ({ lo: y - by, hi: y + by }));
  // The second is less than the first by noise in x, and no better in y: the third is as good in x, and clearly better.
  const [x, y] = [[10, 9.9, 9.8, 5], [5, 5.1, 8, 9]];
  assert.deepEqual(pareto(x, y), [3, 2, 1, 0]);
  assert.deepEqual(pareto(x, y, about(x, 0.2), about(y, 0.2)), [3, 2]);
});

test("how far a live run is", () => {
  assert.equal(underwayText({ stage: 2, stages: 3, phase: "measuring", share: 0.429, left_s: 41.6, whole: true }), "Stage 2 of 3, measuring: 42 % of the run, about 42 s left");
  assert.equal(underwayText({ stage: 1, stages: 1, phase: "warming up" }), "Warming up");
  assert.equal(underwayText({ stage: 1, stages: 1, phase: "measuring", share: 0.999, left_s: 0.1, whole: true }), "Measuring: 99 %, nearly done");
});

test("YAML", () => {
  assert.equal(yaml({ a: [1, { b: "x", c: [] }], d: { e: "5s", f: "no", g: "a: b" }, h: {} }), 'a:\n  - 1\n  - b: x\n    c: []\nd:\n  e: 5s\n  f: "no"\n  g: "a: b"\nh: {}\n');
});
