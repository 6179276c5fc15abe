// Distributions and percentile curves of all sides, one over the other.
import type { ChartSpec } from "../chart/chart";
import { quantileAt, quantileName, tail } from "../chart/axis";
import type { Mark } from "../chart/marks";
import type { Curve } from "../document";
import { choice, h } from "../dom";
import { share, value } from "../format";
import { labelOf } from "../names";
import { Charts } from "../section/charts";
import { frame, type Section, type State } from "../section/section";
import { meanCurve, shares } from "./overlay";
import type { Side, Sides } from "./sides";

const shown = ["time_to_first_token", "inter_token_latency", "inter_event_latency", "request_latency"];
type From = "sent" | "due";

export function latencies(): Section<Sides> {
  const grid = h("div", { class: "pairs" });
  const tools = h("div", { class: "tools" });
  const element = frame("latency", "Latency", "All sides at the load chosen, one over the other. Of a side with several runs each run is a thin line, and their mean is the bold one.", tools, grid);
  const charts = new Charts(grid);
  let from: From = "sent";
  const update = (m: Sides, state: State): boolean => {
    const due = m.all.some((s) => m.stages(state.stage, s).some((x) => Object.values(x.run.model.drawing(x.index)?.curves ?? {}).some((c) => c.due)));
    if (!due) from = "sent";
    tools.hidden = !due;
    if (due && !tools.firstChild) tools.append(choice("Measured from", [["sent", "when it was sent"], ["due", "when it was due"]], from, (v) => { from = v as From; update(m, state); }).element);
    return charts.show(shown.flatMap((metric) => [histograms(metric, m, state.stage, from), curves(metric, m, state.stage, from)]));
  };
  return { id: "latency", title: "Latency", element, update };
}

// of gives what the runs of each side have; sides without any are left out. What counts from neither sent nor due is in sent.
function of<T>(m: Sides, load: number, get: (d: NonNullable<ReturnType<Sides["all"][number]["runs"][number]["model"]["drawing"]>>) => T | undefined): { side: Side; runs: T[] }[] {
  return m.all.map((side) => ({ side, runs: m.stages(load, side).flatMap((s) => { const d = s.run.model.drawing(s.index); const v = d && get(d); return v ? [v] : []; }) })).filter((s) => s.runs.length > 0);
}

function histograms(metric: string, m: Sides, load: number, from: From): ChartSpec | null {
  const sides = of(m, load, (d) => { const h = d.histograms?.[metric]; return h?.[from] ?? h?.sent; });
  const drawn = shares(sides.map((s) => s.runs));
  if (drawn.edges.length === 0) return null;
  const marks = sides.map((s, i): Mark => ({ name: s.side.short, tone: s.side.tone, kind: "bars", x: drawn.edges, y: drawn.of[i] ?? [] }));
  return {
    name: metric + "_histogram", title: labelOf(metric), height: 200, marks,
    x: { label: "", unit: "ms", kind: "log" }, y: { label: "", unit: "share", kind: "linear", from: 0 },
    readX: (v) => value(v, "ms"), readY: share,
    table: () => ({ head: ["side", "from, ms", "to, ms", "share of samples"], rows: marks.flatMap((k) => Array.from(k.y, (v, i) => [k.name, k.x[i] ?? NaN, k.x[i + 1] ?? NaN, v])) }),
  };
}

// lines are a side's: its mean, and under it each run where there are several.
function lines(side: Side, runs: Curve[], end: number): Mark[] {
  const line = (c: Curve, more: Partial<Mark>): Mark => ({ name: side.short, tone: side.tone, kind: "line", x: c.map((p) => Math.min(tail(p[0]), end)), y: c.map((p) => p[1]), ...more });
  const thin = runs.length > 1 ? runs.map((c, i) => line(c, { name: `${side.short}, run ${i + 1}`, thin: true, silent: true })) : [];
  return [...thin, line(meanCurve(runs), {})];
}

function curves(metric: string, m: Sides, load: number, from: From): ChartSpec | null {
  const sides = of(m, load, (d) => { const c = d.curves?.[metric]; return c?.[from] ?? c?.sent; });
  if (sides.length === 0) return null;
  const samples = m.all.flatMap((s) => m.stages(load, s).map((x) => x.run.model.stages[x.index]?.metrics[metric]?.count ?? 1000));
  const end = Math.max(3, Math.min(6, Math.log10(Math.max(...samples, 10))));
  const marks = sides.flatMap((s) => lines(s.side, s.runs, end));
  const values = sides.flatMap((s) => s.runs.flatMap((c) => c.filter((p) => p[0] > 0.005).map((p) => p[1]))).filter((v) => v > 0);
  const wide = values.length > 0 && Math.max(...values) / Math.min(...values) > 8;
  return {
    name: metric + "_percentiles", title: labelOf(metric) + " by percentile", height: 200, marks,
    x: { label: "percentile", unit: "", kind: "quantile" }, y: { label: "", unit: "ms", kind: wide ? "log" : "linear", ...(wide ? {} : { from: 0 }) },
    readX: (v) => (v >= end - 1e-9 ? "max" : quantileName(quantileAt(v))), readY: (v) => value(v, "ms"),
    table: () => ({ head: ["side", "run", "percentile", "ms"], rows: sides.flatMap((s) => s.runs.flatMap((c, i) => c.map(([q, ms]) => [s.side.short, i + 1, q * 100, ms]))) }),
  };
}
