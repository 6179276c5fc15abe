// Levels by what a user gets and what that takes, with the front of those that no other beats.
import type { ChartSpec } from "../chart/chart";
import type { Mark } from "../chart/marks";
import { value } from "../format";
import { pareto, type Span } from "../pareto";
import { byLoad, type Level, points } from "./level";

export interface Front {
  name: string; title: string;
  label: string; // of x
  x: (l: Level) => number;
  y: (l: Level) => number;
  unit: string; // of y, in words
  axis?: string; // the same beside the axis
  lower?: boolean; // is better
}

const leastNoise = 0.01;

// noise is by which share the figures of a level can be off. Rates have no interval of their own; where as much is in flight
// as the load says, they are known as well as the latency is.
export function noise(l: Level): number {
  const m = l.stage.metrics["request_latency"];
  const at = m?.intervals?.["avg"];
  return Math.max(leastNoise, at && m.avg > 0 ? (at.hi - at.lo) / 2 / m.avg : 0);
}

export function front(all: Level[], f: Front): ChartSpec | null {
  const sorted = byLoad(all);
  const every = points(sorted, f.x, f.y, "stages", "t2");
  if (every.x.length < 2) return null;
  const there = sorted.filter((l) => Number.isFinite(f.x(l)) && Number.isFinite(f.y(l)));
  const spans = (v: ArrayLike<number>, sign: number) => Array.from(v, (y, i): Span => { const by = Math.abs(y) * noise((there[i] as Level)); return { lo: sign * y - by, hi: sign * y + by }; });
  const sign = f.lower ? -1 : 1;
  // A stage that cannot be trusted neither is on the front nor beats one that is.
  const sure = there.flatMap((l, i) => (l.good ? [i] : []));
  const pick = <T>(v: ArrayLike<T>): T[] => sure.map((i) => v[i] as T);
  const best = pareto(pick(every.x), pick(every.y).map((v) => sign * v), pick(spans(every.x, 1)), pick(spans(every.y, sign))).map((k) => sure[k] as number);
  const of = (name: string, tone: string, which: number[]): Mark => ({ name, kind: "points", tone, x: which.map((i) => every.x[i] as number), y: which.map((i) => every.y[i] as number), labels: which.map((i) => every.labels?.[i] ?? "") });
  const rest = sure.filter((i) => !best.includes(i));
  const unsure = there.flatMap((l, i) => (l.good ? [] : [i]));
  const good = of("Pareto front", "t1", best);
  return {
    name: "levels_" + f.name, title: f.title, height: 240,
    marks: [{ ...good, kind: "line", silent: true, labels: [] }, good, ...(rest.length > 0 ? [of("beaten by another, or no different", "t2", rest)] : []), ...(unsure.length > 0 ? [of("not valid", "unsure", unsure)] : [])],
    x: { label: f.label, unit: "", kind: "linear", from: 0 }, y: { label: f.axis ?? f.unit, unit: "", kind: "linear", from: 0 },
    readX: (v) => value(v, f.label), readY: (v) => value(v, f.unit),
    table: () => ({ head: ["load", f.label, f.unit], rows: sorted.map((l) => [l.stage.load, f.x(l), f.y(l)]) }),
  };
}
