// What happened when: one panel for each group of series, all with one time axis.
import { button, h, text } from "../dom";
import type { SeriesDrawing } from "../document";
import { Chart, type ChartSpec, type Shade } from "../chart/chart";
import { reach } from "../chart/heat";
import type { Mark } from "../chart/marks";
import { View } from "../chart/view";
import { seconds, trimZeros, value, words } from "../format";
import type { Model } from "../model";
import { frame, type Section } from "./section";

const order = ["load", "in flight", "tokens", "errors", "ttft", "itl", "itl heat"];
const titles: Record<string, string> = { load: "Requests/s", "in flight": "In flight", tokens: "Output tokens/s", errors: "Failures/s", ttft: "Time to first token", itl: "Inter-token latency", "itl heat": "Inter-token latency, spread" };
const tones = ["t1", "t2", "t3", "t4", "t5", "t6"];

export function time(view: View): Section {
  const panels = h("div", { class: "panels" });
  const element = frame("time", "Over time", "Drag across a chart to zoom; all time axes follow. Warm-up and drain are shaded.", zoomTools(view), panels);
  const charts = new Map<string, Chart>();
  const update = (m: Model) => {
    const groups = grouped(m.doc.series ?? []);
    view.extend([0, Math.max(m.doc.result.duration_s, ...(m.doc.stages ?? []).map((s) => s.end), 0.001)]);
    for (const [key, chart] of charts) if (!groups.has(key)) { chart.element.remove(); charts.delete(key); }
    let last: Node | null = null;
    const end = [...groups.keys()].at(-1);
    for (const [key, all] of groups) {
      const spec = panel(all, m, key !== end, last === null);
      let chart = charts.get(key);
      if (chart) chart.update(spec);
      else {
        chart = new Chart(spec, view);
        charts.set(key, chart);
        panels.insertBefore(chart.element, last ? last.nextSibling : panels.firstChild);
      }
      last = chart.element;
    }
    return groups.size > 0;
  };
  return { id: "time", title: "Time", element, update };
}

// zoomTools are the buttons above charts that share an axis of time.
export function zoomTools(view: View): HTMLElement {
  const seen = h("p", { class: "seen quiet" });
  view.watch(() => text(seen, view.zoomed ? `${at(view.span[0])} to ${at(view.span[1])}` : ""));
  return h("div", { class: "tools", role: "group", "aria-label": "Zoom of the time axes" },
    button("Zoom in", () => view.scale(0.5)), button("Zoom out", () => view.scale(2)), button("←", () => view.pan(-0.4), { "aria-label": "Earlier" }), button("→", () => view.pan(0.4), { "aria-label": "Later" }), button("Show all", () => view.reset()), seen);
}

export const at = (s: number): string => (Math.abs(s) < 100 ? trimZeros(s.toFixed(2)) + " s" : seconds(s));

// grouped are the panels: series of one group, unit and kind together, the load's first.
function grouped(all: SeriesDrawing[]): Map<string, SeriesDrawing[]> {
  const rank = (s: SeriesDrawing) => { const i = order.indexOf(s.group); return i < 0 ? order.length : i; };
  const groups = new Map<string, SeriesDrawing[]>();
  for (const s of [...all].sort((a, b) => rank(a) - rank(b))) {
    const own = s.kind === "band" || s.kind === "range" || s.kind === "heat" ? s.name + "\u0000" + (s.target ?? "") : "";
    const key = [s.group, s.unit, own].join("\u0000");
    groups.set(key, [...(groups.get(key) ?? []), s]);
  }
  return groups;
}

// titleOf is that of a panel. Failures of one kind are called by it.
function titleOf(all: SeriesDrawing[], m: Model): string {
  const first = all[0] as SeriesDrawing;
  const known = titles[first.group];
  if (known) return first.group === "errors" && all.length === 1 && first.title !== "Failed requests" ? `${known}: ${first.title}` : known;
  const alike = new Set((m.doc.series ?? []).filter((s) => s.group === first.group).map((s) => s.unit)).size > 1;
  return all.length > 1 ? words(first.group) + (alike && first.unit ? ", " + first.unit : "") : first.title || words(first.name);
}

function panel(all: SeriesDrawing[], m: Model, bare: boolean, named: boolean): ChartSpec {
  const first = all[0] as SeriesDrawing;
  const marks = all.flatMap((s, i) => marksOf(s, i, m, all));
  const shape = unitShape(first.unit);
  const title = titleOf(all, m);
  const [range, heat] = [first.kind === "range", first.kind === "heat"];
  return {
    name: "time_" + first.name, title, height: heat ? 150 : 84, marks, bare, beside: true, shades: shades(m, named),
    ...(range ? { note: "A histogram of the server: its median lies somewhere in the bucket drawn." } : heat ? { note: "Darker: a greater part of the gaps at that time. The lowest row has all that are shorter, too." } : {}),
    x: { label: "since the start of the run", unit: "s", kind: "time" }, y: heat ? { label: "", unit: shape.unit, kind: "log" } : { label: "", unit: shape.unit, kind: "linear", from: 0 },
    readX: at, readY: shape.read,
    table: () => table(marks, shape.head),
  };
}

function unitShape(unit: string): { unit: string; head: string; read: (v: number) => string } {
  switch (unit) {
    case "s": return { unit: "ms", head: "ms", read: (v) => value(v, "ms") };
    case "bytes": return { unit: "GiB", head: "GiB", read: (v) => value(v, "GiB") };
    default: return { unit, head: unit, read: (v) => value(v, unit) };
  }
}

// toneOf is the colour of a series of a panel. The sum of failures of several kinds is grey.
function toneOf(s: SeriesDrawing, i: number, all: SeriesDrawing[]): string {
  if (s.name === "requests_ok") return "t1";
  if (s.name === "requests_sent" || sumOf(s, all)) return "t6";
  return tones[(all.some((x) => sumOf(x, all)) ? i - 1 : i) % tones.length] ?? "t1";
}

const sumOf = (s: SeriesDrawing, all: SeriesDrawing[]): boolean => s.name === "errors" && all.length > 1;

const factor = (unit: string): number => (unit === "s" ? 1e3 : unit === "bytes" ? 1 / 2 ** 30 : 1);

function marksOf(s: SeriesDrawing, i: number, m: Model, all: SeriesDrawing[]): Mark[] {
  const by = factor(s.unit);
  const numbers = (c: Parameters<Model["col"]>[0]) => (by === 1 ? m.col(c) : m.col(c).map((v) => v * by));
  const t = m.col(s.column.t);
  const several = new Set((m.doc.series ?? []).map((x) => x.target ?? "").filter(Boolean)).size > 1;
  const called = (s.title || words(s.name)) + (several && s.target ? ` (${s.target})` : "");
  const tone = toneOf(s, i, all);
  switch (s.kind) {
    case "step": {
      const v = numbers(s.column.v);
      const y = new Float64Array(t.length).fill(v[v.length - 1] ?? NaN);
      y.set(v.subarray(0, t.length));
      const requested = s.name === "requested_rate";
      return [{ name: called, kind: "step", tone: requested ? "t2" : tone, dash: requested || sumOf(s, all), x: t, y }];
    }
    case "band": {
      const middle = t.subarray(0, Math.max(0, t.length - 1)).map((v, k) => (v + (t[k + 1] ?? v)) / 2);
      const of = [numbers(s.column.lo), numbers(s.column.mid), numbers(s.column.hi)] as const;
      const names = s.labels ?? ["low", "middle", "high"];
      const area: Mark = { name: called, kind: "band", tone: "t1", x: middle, y: [], lo: of[0], hi: of[2], silent: true };
      return [area, ...of.map((y, k): Mark => ({ name: names[k] ?? "", kind: "line", tone: ["p-low", "p-mid", "p-high"][k] ?? "t1", x: middle, y }))];
    }
    case "range": {
      return [{ name: called, kind: "range", tone, x: t.subarray(0, Math.max(0, t.length - 1)), y: [], lo: numbers(s.column.lo), hi: numbers(s.column.hi) }];
    }
    case "heat": {
      const [rows, cells, x] = [numbers(s.column.lo), m.col(s.column.v), t];
      return [{ name: "most", kind: "heat", tone: "t1", x, y: [], rows, cells, ...reach(cells, rows, Math.max(0, t.length - 1)) }];
    }
    default: return [{ name: called, kind: "line", tone, x: t, y: numbers(s.column.v) }];
  }
}

// shades are warm-ups, drains and the beginnings of stages, which the first panel names.
function shades(m: Model, named: boolean): Shade[] {
  return (m.doc.stages ?? []).flatMap((s, i) => [
    ...((m.doc.stages ?? []).length > 1 ? [{ from: s.begin, to: s.begin, text: String(i + 1) }] : []),
    ...(s.warmup ? [{ from: s.warmup[0], to: s.warmup[1], text: "warm-up" }] : []),
    ...(s.drain ? [{ from: s.drain[0], to: s.drain[1], text: "drain" }] : []),
  ]).map((s) => (named ? s : { ...s, text: "" }));
}

// heatTable has a row for each cell that is not empty.
function heatTable(m: Mark, unit: string) {
  const [rows, cells, high] = [m.rows ?? [], m.cells ?? [], Math.max(0, (m.rows?.length ?? 0) - 1)];
  return { head: ["from, s", "to, s", `from, ${unit}`, `to, ${unit}`, "number"], rows: Array.from(cells, (n, at): number[] => { const [i, k] = [Math.floor(at / high), at % high]; return [m.x[i] as number, m.x[i + 1] as number, rows[k] as number, rows[k + 1] as number, n]; }).filter((r) => (r[4] as number) > 0) };
}

function table(marks: Mark[], unit: string) {
  const map = marks.find((k) => k.kind === "heat");
  if (map) return heatTable(map, unit);
  const rows = marks.filter((k) => !k.silent).flatMap((k) => Array.from(k.x, (x, i): (string | number)[] => [k.name, x, k.kind === "range" ? (k.lo?.[i] ?? NaN) : (k.y[i] ?? NaN), k.hi?.[i] ?? NaN]));
  const ranged = marks.some((k) => k.kind === "range");
  return { head: ["series", "time, s", ranged ? `from, ${unit}` : `value, ${unit}`, ...(ranged ? [`to, ${unit}`] : [])], rows: ranged ? rows : rows.map((r) => r.slice(0, 3)) };
}
