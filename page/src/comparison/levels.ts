// What the loads brought on each side.
import type { ChartSpec } from "../chart/chart";
import type { Mark } from "../chart/marks";
import { choice, h } from "../dom";
import { value } from "../format";
import { labelOf } from "../names";
import { Charts } from "../section/charts";
import { frame, type Section, type State } from "../section/section";
import { figure, type Side, type Sides } from "./sides";

interface Axis { metric: string; stat: string; label: string; unit: string }

// priced are InferenceX's axes beside throughput, where the number of GPUs, their price or their power is known.
const priced = ["total_token_throughput_per_gpu", "cost_per_million_total_tokens", "cost_per_million_output_tokens", "energy_per_total_token", "total_tokens_per_second_per_megawatt"];

export function comparedLevels(): Section<Sides> {
  const grid = h("div", { class: "pairs" });
  let stat = "p99";
  let again = (): void => {};
  const which = choice("Latencies", [["avg", "average"], ["p50", "p50"], ["p90", "p90"], ["p99", "p99"]], stat, (v) => { stat = v; again(); });
  const element = frame("levels", "Levels", "Each point is a load that was measured on that side.", h("div", { class: "tools" }, which.element), grid);
  const charts = new Charts(grid);
  const update = (m: Sides, state: State): boolean => {
    again = () => update(m, state);
    if (m.loads.length < 2) return false;
    const latency = (metric: string): Axis => ({ metric, stat, label: `${labelOf(metric)}, ${stat === "avg" ? "average" : stat}`, unit: "ms" });
    const rate = (metric: string, label: string): Axis => ({ metric, stat: "avg", label, unit: "" });
    const tokens = rate("output_token_throughput", "Output tokens/s"), requests = rate("request_throughput", "Requests/s");
    const out = known(m, tokens) ? tokens : requests;
    const user: Axis = { metric: "output_token_throughput_per_user", stat: "p50", label: "Output tokens/s per user, median", unit: "" };
    return charts.show([
      overLoad(m, out), overLoad(m, latency("time_to_first_token")), overLoad(m, latency("inter_token_latency")), overLoad(m, latency("request_latency")),
      against(m, out, latency("request_latency")), against(m, user, tokens),
      ...priced.map((metric) => against(m, user, rate(metric, labelOf(metric)))),
    ]);
  };
  return { id: "levels", title: "Levels", element, update };
}

const known = (m: Sides, a: Axis): boolean => m.all.some((s) => m.loads.some((_, i) => Number.isFinite(m.value(i, s, a.metric, a.stat))));

// loadOf is a load as a number: of a stage that was drawn, or else as its name begins.
function loadOf(m: Sides, load: number): { kind: string; value: number } | null {
  for (const side of m.all) for (const s of m.stages(load, side)) { const l = s.run.model.drawing(s.index)?.load; if (l) return l; }
  const named = /^([\d,.]+)(\/s| in flight)/.exec(m.loads[load]?.name ?? "");
  return named ? { kind: named[2] === "/s" ? "rate" : "concurrency", value: Number((named[1] as string).replaceAll(",", "")) } : null;
}

// joined are the points of a side and the line through them, with those of its runs under it.
function joined(side: Side, points: [x: number, y: number, label: string][], runs: [number, number][]): Mark[] {
  const there = points.filter((p) => Number.isFinite(p[0]) && Number.isFinite(p[1]));
  if (there.length === 0) return [];
  const all: Mark = { name: side.short, tone: side.tone, kind: "points", x: there.map((p) => p[0]), y: there.map((p) => p[1]), labels: there.map((p) => p[2]) };
  const each = runs.filter((p) => Number.isFinite(p[0]) && Number.isFinite(p[1]));
  const thin: Mark[] = side.runs.length > 1 && each.length > 0 ? [{ ...all, thin: true, silent: true, x: each.map((p) => p[0]), y: each.map((p) => p[1]), labels: [] }] : [];
  return [{ ...all, kind: "line", silent: true, labels: [] }, ...thin, all];
}

function overLoad(m: Sides, y: Axis): ChartSpec | null {
  const loads = m.loads.map((_, i) => ({ i, load: loadOf(m, i) })).flatMap((l) => (l.load ? [{ i: l.i, ...l.load }] : [])).sort((a, b) => a.value - b.value);
  if (loads.length < 2 || new Set(loads.map((l) => l.kind)).size > 1) return null;
  const marks = m.all.flatMap((side) => joined(side, loads.map((l) => [l.value, m.value(l.i, side, y.metric, y.stat), ""]),
    loads.flatMap((l) => m.stages(l.i, side).map((s): [number, number] => [l.value, figure(s, y.metric, y.stat)]))));
  const word = loads[0]?.kind === "rate" ? "requests/s requested" : "requests in flight";
  return chart("load", { metric: "load", stat: "", label: word, unit: "" }, y, marks, `${y.label} against load`);
}

function against(m: Sides, x: Axis, y: Axis): ChartSpec | null {
  const order = m.loads.map((_, i) => i).sort((a, b) => (loadOf(m, a)?.value ?? 0) - (loadOf(m, b)?.value ?? 0));
  const label = (i: number) => { const l = loadOf(m, i); return l === null ? (m.loads[i]?.name ?? "") : value(l.value, "") + (l.kind === "rate" ? "/s" : ""); };
  const marks = m.all.flatMap((side) => joined(side, order.map((i) => [m.value(i, side, x.metric, x.stat), m.value(i, side, y.metric, y.stat), side.index === 0 ? label(i) : ""]),
    order.flatMap((i) => m.stages(i, side).map((s): [number, number] => [figure(s, x.metric, x.stat), figure(s, y.metric, y.stat)]))));
  return chart(x.metric, x, y, marks, `${y.label} against ${x.label.charAt(0).toLowerCase() + x.label.slice(1)}`);
}

function chart(name: string, x: Axis, y: Axis, marks: Mark[], title: string): ChartSpec | null {
  if (!marks.some((k) => k.x.length > 1)) return null;
  const values = marks.flatMap((k) => Array.from(k.y)).filter((v) => v > 0);
  const wide = y.unit === "ms" && Math.max(...values) / Math.min(...values) > 8;
  return {
    name: `levels_${y.metric}_${name}`, title, height: 240, marks,
    x: { label: x.label, unit: "", kind: "linear", from: 0 }, y: { label: "", unit: y.unit, kind: wide ? "log" : "linear", ...(wide ? {} : { from: 0 }) },
    readX: (v) => value(v, x.label), readY: (v) => value(v, y.unit),
    table: () => ({ head: ["side", x.label, y.label], rows: marks.filter((k) => k.kind === "points").flatMap((k) => Array.from(k.x, (v, i): (string | number)[] => [k.thin ? k.name + ", a run" : k.name, v, k.y[i] ?? NaN])) }),
  };
}
