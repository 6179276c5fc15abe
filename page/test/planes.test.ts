import assert from "node:assert/strict";
import { test } from "node:test";
import { Packer } from "../fixture/planes";
import { column, unpack } from "../src/planes";

test("columns come back as they went", async () => {
  const pack = new Packer();
  const cases = [
    { values: [0, 255, 7], t: "u8" }, { values: [1, 65535, 3], t: "u16" }, { values: [4294967295, 0], t: "u32" }, { values: [-1, 2147483647, -2147483648], t: "i32" },
    { values: [0.5, -1.25, Infinity], t: "f32" }, { values: [Math.PI, -1e300], t: "f64" }, { values: [5, 3, 1000, 7], t: "i32", d: true },
  ] as const;
  const cols = cases.map((c) => pack.add(c.values, c.t, "d" in c));
  const bytes = await unpack(pack.text());
  assert.equal(bytes.length, pack.length);
  cases.forEach((c, i) => assert.deepEqual([...column(bytes, cols[i])], [...c.values]));
});

test("sums of deltas go beyond 32 bits, and steps multiply", () => {
  const bytes = new Uint8Array([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff]);
  assert.deepEqual([...column(bytes, { o: 0, n: 2, t: "u32", d: true })], [4294967295, 8589934590]);
  assert.deepEqual([...column(new Uint8Array([1, 2]), { o: 0, n: 2, t: "u8", d: true, s: 10 })], [10, 30]);
});

test("what does not fit is empty", async () => {
  const bytes = new Uint8Array(4);
  for (const col of [{ o: 2, n: 1, t: "u32" }, { o: -1, n: 1, t: "u8" }, { o: 0, n: 0, t: "u8" }, { o: 0, n: 1e9, t: "u8" }] as const) assert.equal(column(bytes, col).length, 0);
  assert.equal(column(bytes, undefined).length, 0);
  assert.equal((await unpack("")).length, 0);
});
