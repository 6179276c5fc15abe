import assert from "node:assert/strict";
import { test } from "node:test";
import { axis, domainOf, quantileAt, quantileName, tail } from "../src/chart/axis";
import { csv } from "../src/chart/export";
import { nearest, reduce } from "../src/chart/reduce";
import { View } from "../src/chart/view";

test("a path keeps the least and the greatest of each column", () => {
  const n = 100_000;
  const x = Float64Array.from({ length: n }, (_, i) => i);
  const y = Float64Array.from({ length: n }, (_, i) => (i === 31_234 ? 1000 : i === 77_777 ? -1000 : Math.sin(i)));
  const p = reduce(x, y, 0, n, 800);
  assert.ok(p.x.length <= 3 * 802, String(p.x.length));
  assert.equal(Math.max(...p.y), 1000);
  assert.equal(Math.min(...p.y), -1000);
  assert.ok(p.x.every((v, i) => i === 0 || v > (p.x[i - 1] as number)));
});

test("few points stay all, and one beyond each edge", () => {
  assert.deepEqual(reduce([0, 1, 2, 3, 4], [5, 6, 7, 8, 9], 1.5, 2.5, 100).x, [1, 2, 3]);
  assert.deepEqual([nearest([], 1), nearest([1, 2, 4], 2.9), nearest([1, 2, 4], 3.1), nearest([1, 2], 9)], [-1, 1, 2, 1]);
});

test("a view zooms within its whole, and stays zoomed when that grows", () => {
  const v = new View();
  v.extend([0, 100]);
  v.zoom(20, 40);
  v.extend([0, 200]);
  assert.deepEqual(v.span, [20, 40]);
  v.pan(-10);
  assert.deepEqual(v.span, [0, 20]);
  v.scale(100);
  assert.equal(v.zoomed, false);
  v.zoom(30, 30);
  assert.ok(v.span[1] > v.span[0]);
});

test("axes", () => {
  assert.deepEqual(axis({ label: "", unit: "ms", kind: "linear", from: 0 }, [0, 180], [100, 0], 4).ticks.map((t) => t.text), ["0", "50", "100", "150", "200"]);
  assert.deepEqual(axis({ label: "", unit: "ms", kind: "log" }, [5, 5000], [0, 500], 5).ticks.map((t) => t.text), ["10 ms", "30 ms", "100 ms", "300 ms", "1 s", "3 s"]);
  assert.deepEqual(axis({ label: "", unit: "ms", kind: "log" }, [41, 41.4], [0, 500], 5).ticks.map((t) => t.text), ["41 ms", "41.1 ms", "41.2 ms", "41.3 ms", "41.4 ms"]);
  assert.deepEqual(axis({ label: "", unit: "s", kind: "time" }, [0, 130], [0, 900], 10).ticks.slice(0, 3).map((t) => t.text), ["0:00", "0:15", "0:30"]);
  assert.deepEqual(axis({ label: "", unit: "", kind: "quantile" }, [0, 3], [0, 500], 5).ticks.map((t) => t.text), ["min", "p50", "p75", "p90", "p95", "p99", "p99.9"]);
  assert.equal(quantileName(quantileAt(tail(0.999))), "p99.9");
  assert.deepEqual([domainOf({ label: "", unit: "", kind: "linear", from: 0 }, Infinity, -Infinity), domainOf({ label: "", unit: "", kind: "linear" }, 0, 0)], [[0, 1], [0, 1]]);
});

test("CSV quotes, and starts no formula", () => {
  assert.equal(csv({ head: ["a", 'b "c"'], rows: [["=1+1", 2], ["x,y", NaN]] }), "a,\"b \"\"c\"\"\"\r\n'=1+1,2\r\n\"x,y\",\r\n");
});

test("axes of what has no size end", () => {
  for (const kind of ["linear", "log", "quantile", "time"] as const) {
    for (const domain of [[0, 0], [0, 5], [-1, 3], [NaN, NaN], [-Infinity, Infinity], [5, 5], [1e-300, 1e300]] as [number, number][]) {
      assert.ok(axis({ label: "", unit: "ms", kind }, domain, [0, 500], 5).ticks.length < 2000, `${kind} ${domain.join(" ")}`);
    }
  }
});
