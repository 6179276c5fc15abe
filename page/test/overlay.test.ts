import assert from "node:assert/strict";
import { test } from "node:test";
import { reachOf } from "../src/comparison/bar";
import type { Row } from "../src/comparison/document";
import { along, meanCurve, meanSteps, shares } from "../src/comparison/overlay";
import type { Curve } from "../src/document";

test("the mean of curves is that of their values at each quantile", () => {
  const a: Curve = [[0, 10], [0.5, 20], [1, 40]];
  const b: Curve = [[0, 20], [1, 60]];
  assert.deepEqual(meanCurve([a, b]), [[0, 15], [0.5, 30], [1, 50]]);
  assert.deepEqual(meanCurve([a]), a);
  assert.deepEqual(meanCurve([]), []);
  assert.equal(along(a, 0.75), 30);
  assert.equal(along(b, 2), 60);
});

test("histograms of unlike bins and numbers of samples become shares in common bins", () => {
  const { edges, of } = shares([[{ edges: [1, 2, 4], counts: [10, 30] }], [{ edges: [4, 16], counts: [5] }, { edges: [1, 4], counts: [15] }], []]);
  assert.equal(edges.length, of[0]!.length + 1);
  for (const side of of.slice(0, 2)) assert.ok(Math.abs(side.reduce((x, y) => x + y, 0) - 1) < 1e-9, String(side));
  assert.ok(Math.abs(edges[0]! - 1) < 1e-9 && Math.abs(edges[edges.length - 1]! - 16) < 1e-6);
  const below4 = (side: number[]) => side.filter((_, i) => edges[i + 1]! <= 4.0001).reduce((x, y) => x + y, 0);
  assert.ok(Math.abs(below4(of[1]!) - 0.75) < 0.26); // bins are as wide as the widest
  assert.deepEqual(shares([[], []]), { edges: [], of: [[], []] });
});

test("steps of several runs become their mean in the widest bins", () => {
  const mean = meanSteps([{ t: [0, 1, 2, 3, 4], v: [1, 3, 5, NaN] }, { t: [0, 2, 4, 6], v: [10, 20, 30] }]);
  assert.deepEqual(mean, { t: [0, 2, 4, 6], v: [6, 12.5, 30] });
  assert.deepEqual(meanSteps([]), { t: [], v: [] });
});

test("a table's scale holds what is usual", () => {
  const row = (relative: number): Row => ({ metric: "m", name: "m", stat: "avg", unit: "ms", direction: "lower", verdict: "worse", difference: { value: 1, relative } });
  assert.equal(reachOf([]), 0.1);
  assert.equal(reachOf([row(0.03), row(-0.04)]), 0.05);
  assert.equal(reachOf([row(0.03), row(-0.04), row(0.04), row(25)]), 0.2);
  assert.equal(reachOf([row(50), row(60)]), 2);
});
