import assert from "node:assert/strict";
import { test } from "node:test";
import { comparable, worthwhile } from "../src/histogram";

test("bins that are compared have the same edges", () => {
  const fine = { edges: [1, 2, 4, 8, 16, 32, 64], counts: [1, 2, 3, 4, 5, 6] };
  const wide = { edges: [1, 4, 16, 64], counts: [3, 7, 11] };
  assert.deepEqual(comparable([fine, wide]), [{ edges: [1, 4, 16, 64], counts: [3, 7, 11] }, wide]);
  assert.deepEqual(comparable([fine, { edges: [4, 16, 64, 256], counts: [1, 1, 1] }])[0], { edges: [1, 2, 4, 16, 64], counts: [1, 2, 7, 11] });
  const other = { edges: [1.5, 3, 5], counts: [1, 1] };
  assert.deepEqual(comparable([fine, other]), [fine, other]);
  assert.deepEqual(comparable([fine]), [fine]);
});

test("a bin from 0, and bins far below the rest, leave room", () => {
  assert.deepEqual(worthwhile({ edges: [0, 1e-6, 1, 2, 4], counts: [5, 0, 60, 40] }), { edges: [0.004, 1, 2, 4], counts: [0, 60, 40] });
  assert.deepEqual(worthwhile({ edges: [0, 2, 4], counts: [1, 1] }), { edges: [0.004, 2, 4], counts: [1, 1] });
  assert.deepEqual(worthwhile({ edges: [3, 4, 5], counts: [1, 9] }), { edges: [3, 4, 5], counts: [1, 9] });
});
