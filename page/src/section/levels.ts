// Levels: what each load brought, and what it cost.
import { h, text } from "../dom";
import type { ChartSpec } from "../chart/chart";
import type { Mark } from "../chart/marks";
import { share, value } from "../format";
import { attained, type Model } from "../model";
import { Charts } from "./charts";
import { front } from "./front";
import { percentileChart } from "./latency";
import { avg, byLoad, type Level, levelsOf, loadWord, points } from "./level";
import { frame, type Section } from "./section";

export function levels(): Section {
  const grid = h("div", { class: "pairs" });
  const limit = h("p", { class: "lead" });
  const element = frame("levels", "Levels", "Each point is a stage, labelled with its load.", limit, grid);
  const charts = new Charts(grid);
  const update = (m: Model) => {
    const all = levelsOf(m);
    const specs = all.length < 2 ? [] : [throughput(all, "request_latency", "Request latency"), throughput(all, "time_to_first_token", "Time to first token"), costed(m) ? null : perUser(all), goodput(all), ...["time_to_first_token", "inter_token_latency", "request_latency"].map((k) => curves(k, all, m))];
    const s = m.doc.result.saturation;
    text(limit, s ? (s.rate > 0 ? `The server kept up with ${value(s.rate, "requests/s")}. ` : "") + s.reason : "");
    limit.hidden = !s;
    return charts.show(specs);
  };
  return { id: "levels", title: "Levels", element, update };
}

const mostCurves = 6; // as many as have a colour and a dash of their own

// curves are the percentiles of the stages, one over the other: of all, or of some between the least load and the greatest.
function curves(metric: string, all: Level[], m: Model): ChartSpec | null {
  const there = byLoad(all).flatMap((level) => { const curve = m.drawing(m.stages.indexOf(level.stage))?.curves?.[metric]?.sent; return curve?.length ? [{ level, curve }] : []; });
  if (there.length < 2) return null;
  const n = Math.min(mostCurves, there.length);
  const shown = Array.from({ length: n }, (_, i) => there[Math.round((i * (there.length - 1)) / (n - 1))] as (typeof there)[number]);
  const spec = percentileChart(metric, Math.max(...shown.map((s) => s.level.stage.metrics[metric]?.count ?? 0)), shown.map((s, i) => ({ name: s.level.label, tone: "s" + (i + 1), curve: s.curve })));
  return spec && { ...spec, name: `levels_${metric}_percentiles`, title: spec.title + ", by load", height: 240, ...(n < there.length ? { note: `${n} of ${there.length} stages.` } : {}) };
}

function throughput(all: Level[], metric: string, title: string): ChartSpec | null {
  const tokens = all.some((l) => Number.isFinite(avg(l, "output_token_throughput")));
  const rate = tokens ? "output_token_throughput" : "request_throughput";
  const x = (l: Level) => avg(l, rate);
  const [p50, p99] = [(l: Level) => l.stage.metrics[metric]?.p50 ?? NaN, (l: Level) => l.stage.metrics[metric]?.p99 ?? NaN];
  const sorted = byLoad(all);
  const a = points(sorted, x, p50, "p50", "t1");
  const b = points(sorted, x, p99, "p99", "t2");
  if (a.x.length < 2) return null;
  const values = [...Array.from(a.y), ...Array.from(b.y)];
  const wide = Math.max(...values) / Math.min(...values) > 8;
  const join = (p: Mark): Mark => ({ ...p, kind: "line", silent: true, labels: [], dash: p.tone === "t2" });
  const objective = all[0]?.stage.goodput?.find((g) => g.metric === metric);
  return {
    name: "levels_" + metric, title: `${title} against throughput`, height: 240, marks: [join(a), join(b), a, { ...b, labels: [] }],
    ...(objective ? { guides: [{ y: objective.max_ms, text: "objective " + value(objective.max_ms, "ms") }] } : {}),
    x: { label: tokens ? "output tokens/s" : "requests/s", unit: "", kind: "linear", from: 0 }, y: { label: "", unit: "ms", kind: wide ? "log" : "linear", ...(wide ? {} : { from: 0 }) },
    readX: (v) => value(v, tokens ? "tokens/s" : "requests/s"), readY: (v) => value(v, "ms"),
    table: () => ({ head: ["load", tokens ? "output tokens/s" : "requests/s", "p50, ms", "p99, ms"], rows: sorted.map((l) => [l.stage.load, x(l), p50(l), p99(l)]) }),
  };
}

// costed reports whether the section of costs has the chart of tokens per GPU and user: one is enough.
const costed = (m: Model): boolean => m.stages.filter((s) => s.cost && s.metrics["total_token_throughput_per_gpu"]).length > 1;

function perUser(all: Level[]): ChartSpec | null {
  const gpus = all.every((l) => l.gpus > 0);
  const total = gpus ? "tokens/s per GPU" : "tokens/s in total";
  const spec = front(all, { name: "users", title: `${total.charAt(0).toUpperCase() + total.slice(1)} against tokens/s per user`, label: "output tokens/s per user", x: (l) => avg(l, "output_token_throughput_per_user"), y: (l) => avg(l, "output_token_throughput") / (gpus ? l.gpus : 1), unit: total, axis: "tokens/s" });
  return spec && !gpus ? { ...spec, note: "The number of GPUs is not known, so the total is shown." } : spec;
}

function goodput(all: Level[]): ChartSpec | null {
  const sorted = byLoad(all).filter((l) => l.load !== null);
  if (sorted.length < 2 || !sorted.some((l) => Number.isFinite(avg(l, "request_goodput")))) return null;
  const load = (l: Level) => l.load ?? NaN;
  const good = points(sorted, load, (l) => avg(l, "request_goodput"), "good requests/s", "t1");
  const whole = points(sorted, load, (l) => avg(l, "request_throughput"), "all requests/s", "t2");
  const labels = sorted.map((l) => { const a = attained(l.stage); return a === null ? "" : share(a); });
  return {
    name: "levels_goodput", title: "Goodput against load", note: "Points say which part of the requests met all objectives.", height: 240,
    marks: [{ ...whole, kind: "line", silent: true, labels: [], dash: true }, { ...good, kind: "line", silent: true, labels: [] }, { ...whole, labels: [] }, { ...good, labels }],
    x: { label: loadWord(all), unit: "", kind: "linear", from: 0 }, y: { label: "", unit: "requests/s", kind: "linear", from: 0 },
    readX: (v) => value(v, loadWord(all)), readY: (v) => value(v, "requests/s"),
    table: () => ({ head: ["load", "requests/s", "good requests/s", "objectives met"], rows: sorted.map((l) => [l.stage.load, avg(l, "request_throughput"), avg(l, "request_goodput"), attained(l.stage) ?? NaN]) }),
  };
}
