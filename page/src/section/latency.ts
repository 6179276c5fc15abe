// Distributions and percentile curves, from Sent and from Due.
import { h } from "../dom";
import type { Curve, Histogram, Sides, StageDrawing } from "../document";
import type { ChartSpec } from "../chart/chart";
import { quantileAt, quantileName, tail } from "../chart/axis";
import type { Mark } from "../chart/marks";
import { count, value } from "../format";
import { comparable, worthwhile } from "../histogram";
import type { Model } from "../model";
import { labelOf } from "../names";
import { Charts } from "./charts";
import { frame, type Section, type State } from "./section";

const shown = ["time_to_first_token", "inter_token_latency", "request_latency"];
const sideNames: [keyof Sides<unknown>, string, string][] = [["sent", "from sent", "t1"], ["due", "from due", "t2"]];

export function latency(): Section {
  const grid = h("div", { class: "pairs" });
  const element = frame("latency", "Latency", "From sent: what the server did. From due: what a user who came when the load said would have waited.", grid);
  const charts = new Charts(grid);
  const update = (m: Model, state: State) => {
    const d = m.drawing(state.stage);
    return charts.show(shown.flatMap((metric) => [histogram(metric, d), curve(metric, m, state, d)]));
  };
  return { id: "latency", title: "Latency", element, update };
}

function sides<T>(metric: string, all: Record<string, Sides<T>> | undefined): { name: string; tone: string; data: T }[] {
  const of = all?.[metric];
  if (!of) return [];
  return sideNames.flatMap(([side, name, tone]) => { const data = of[side]; return data ? [{ name, tone, data }] : []; });
}

function histogram(metric: string, d: StageDrawing | undefined): ChartSpec | null {
  const all = sides<Histogram>(metric, d?.histograms).filter((s) => s.data.counts?.length > 0);
  if (all.length === 0) return null;
  const drawn = comparable(all.map((s) => s.data));
  const marks: Mark[] = all.map((s, i) => { const d = worthwhile(drawn[i] as Histogram); return { name: s.name, tone: s.tone, kind: "bars", dash: s.tone === "t2", x: d.edges, y: d.counts }; });
  return {
    name: metric + "_histogram", title: labelOf(metric), height: 200, marks,
    x: { label: "", unit: "ms", kind: "log" }, y: { label: "samples", unit: "", kind: "linear", from: 0 },
    readX: (v) => value(v, "ms"), readY: (v) => count(v),
    table: () => ({ head: ["side", "from, ms", "to, ms", "samples"], rows: all.flatMap((s) => s.data.counts.map((n, i) => [s.name, s.data.edges[i] ?? NaN, s.data.edges[i + 1] ?? NaN, n])) }),
  };
}

function curve(metric: string, m: Model, state: State, d: StageDrawing | undefined): ChartSpec | null {
  const stage = m.stages[state.stage];
  const all = sides<Curve>(metric, d?.curves).map((s) => ({ ...s, curve: s.data, dash: s.tone === "t2" }));
  const spec = percentileChart(metric, stage?.metrics[metric]?.count, all);
  if (!spec) return null;
  const objective = stage?.goodput?.find((g) => g.metric === metric);
  // From the first percentile on that has too few samples, the curve is likely to be another in the next run.
  const few = (stage?.metrics[metric]?.thin ?? []).map((p) => Number(p.slice(1)) / 100).filter((q) => q > 0.5);
  return { ...spec, ...(objective ? { guides: [{ y: objective.max_ms, text: "objective " + value(objective.max_ms, "ms") }] } : {}),
    ...(few.length > 0 ? { shades: [{ from: tail(Math.min(...few)), to: endOf(stage?.metrics[metric]?.count), text: "few samples" }] } : {}) };
}

// endOf is where the axis of percentiles of so many samples ends.
const endOf = (samples = 1000): number => Math.max(3, Math.min(6, Math.log10(Math.max(samples, 10))));

export interface NamedCurve { name: string; tone: string; curve: Curve; dash?: boolean }

// percentileChart draws curves of percentiles, one over the other.
export function percentileChart(metric: string, samples: number | undefined, curves: NamedCurve[]): ChartSpec | null {
  const all = curves.filter((c) => c.curve.length > 0);
  if (all.length === 0) return null;
  const end = endOf(samples);
  const marks = all.map((c): Mark => ({ name: c.name, tone: c.tone, kind: "line", dash: c.dash ?? false, x: c.curve.map((p) => Math.min(tail(p[0]), end)), y: c.curve.map((p) => p[1]) }));
  const values = all.flatMap((c) => c.curve.filter((p) => p[0] > 0.005).map((p) => p[1])).filter((v) => v > 0);
  const wide = Math.max(...values) / Math.min(...values) > 8;
  return {
    name: metric + "_percentiles", title: labelOf(metric) + " by percentile", height: 200, marks,
    x: { label: "percentile", unit: "", kind: "quantile" }, y: { label: "", unit: "ms", kind: wide ? "log" : "linear", ...(wide ? {} : { from: 0 }) },
    readX: (v) => (v >= end - 1e-9 ? "max" : quantileName(quantileAt(v))), readY: (v) => value(v, "ms"),
    table: () => ({ head: ["curve", "percentile", "ms"], rows: all.flatMap((c) => c.curve.map(([q, ms]) => [c.name, q * 100, ms])) }),
  };
}
