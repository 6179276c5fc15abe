import assert from "node:assert/strict";
import { test } from "node:test";
import { count, figureOf, fixed, group, inScale, plural, plusMinus, scaleFor, seconds, share, value, visible, words } from "../src/format";

test("values look as on the console", () => {
  for (const [v, unit, want] of [
    [51.2, "ms", "51.2 ms"], [12345, "ms", "12.35 s"], [0.0505, "ms", "50.5 µs"], [0, "ms", "0 ms"], [1234.5, "ms", "1,234 ms"],
    [0.85, "share", "85 %"], [0.5, "", "0.5"], [1e6, "tokens/sec", "1,000,000 tokens/sec"],
  ] as const) assert.equal(value(v, unit), want);
});

test("ties are rounded to even, as Go does", () => {
  for (const [v, d, want] of [[0.5, 0, "0"], [1.5, 0, "2"], [2.5, 0, "2"], [52.125, 2, "52.12"], [52.375, 2, "52.38"], [-2.5, 0, "-2"], [-3.5, 0, "-4"], [9.5, 0, "10"], [99.5, 0, "100"], [0.125, 2, "0.12"], [1.005, 2, "1.00"], [1e22, 0, "1e+22"]] as const) {
    assert.equal(fixed(v, d), want, `${v} with ${d}`);
  }
});

test("a row has one scale", () => {
  const s = scaleFor("ms", 52.22);
  assert.deepEqual([40.96, 122.88, 1280].map((v) => inScale(s, v)), ["40.96", "122.88", "1,280.00"]);
  assert.equal(inScale(s, NaN), "-");
});

test("a figure says what is known of it", () => {
  const s = scaleFor("ms", 3060), m = { thin: ["p99.9"], at_least: ["avg", "p99.9"] };
  assert.deepEqual(["avg", "p50", "p99.9"].map((name) => figureOf(s, m, name, 3060)), ["≥ 3,060", "3,060", "~≥ 3,060"]);
});

test("shares of nearly all and nearly none stay visible", () => {
  assert.deepEqual([0, 1, 0.00001, 0.999999, 0.0042, 0.995, 0.5].map(share), ["0 %", "100 %", "< 0.01 %", "> 99.99 %", "0.42 %", "99.5 %", "50 %"]);
});

test("times and counts", () => {
  assert.deepEqual([0.85, 30.12, 125, 3780, -2].map(seconds), ["850 ms", "30.1 s", "2 min 5 s", "1 h 3 min", "-2 s"]);
  assert.deepEqual([count(1234567), plural(1, "request"), plural(2000, "request"), group("-1234.5678")], ["1,234,567", "1 request", "2,000 requests", "-1,234.5678"]);
});

test("names become words, and control characters visible", () => {
  assert.deepEqual(["client_cpu", "ttft_drift", "dispatch_delay_p99"].map(words), ["Client CPU", "TTFT drift", "Dispatch delay p99"]);
  assert.equal(visible("a\u202eb\u0007c\nd"), "a\\u202eb\\u0007c\nd");
});

test("how far a figure can be off", () => {
  for (const [share, want] of [[0, "±0 %"], [0.00001, "±<0.01 %"], [0.0043, "±0.43 %"], [0.00996, "±1.0 %"], [0.021, "±2.1 %"], [0.118, "±12 %"]] as const) {
    assert.equal(plusMinus(share), want);
  }
});
