// The highest load that meets all objectives: the answer, the levels that were tried, and each objective over the load.
import { h, refresh, s } from "../dom";
import type { ChartSpec } from "../chart/chart";
import type { Frame, Mark } from "../chart/marks";
import type { Capacity, CapacityLevel } from "../document";
import { count, seconds, value } from "../format";
import type { Model } from "../model";
import { Charts } from "./charts";
import { frame, type Section } from "./section";

const words: [met: string, tone: string, name: string, badge: string][] = [["yes", "met", "met", "ok"], ["no", "missed", "missed", "over"], ["too close to call", "close", "too close to call", "undecided"]];

export function capacity(): Section {
  const box = h("div");
  const grid = h("div", { class: "pairs" });
  const element = frame("capacity", "Capacity", "", box, grid);
  const charts = new Charts(grid);
  return { id: "capacity", title: "Capacity", element, update: (m: Model) => {
    const c = m.doc.result.capacity;
    if (!c) { charts.show([]); return false; }
    refresh(box, h("p", { class: "quiet" }, figures(c)), c.unsteady && h("p", { class: "unsteady" }, c.unsteady), table(c));
    charts.show((c.objectives ?? []).map((_, i) => chart(c, i)));
    return true;
  } };
}

// figures is the answer in numbers, as exports have it.
function figures(c: Capacity): string {
  const known = (name: string, v: number) => (v > 0 || c.outcome === "found" ? [`${name} ${value(v, "")}`] : []);
  return [`${c.outcome}`, ...known("capacity", c.value), ...known("95 % from", c.lo), ...known("to", c.hi)].join(", ") + ` ${c.unit}`;
}

const byLoad = (c: Capacity): CapacityLevel[] => [...(c.levels ?? [])].sort((a, b) => a.load - b.load);

function chart(c: Capacity, i: number): ChartSpec | null {
  const objective = c.objectives?.[i];
  const levels = byLoad(c).flatMap((l) => { const seen = l.objectives?.[i]; return seen?.value !== undefined ? [{ l, seen, y: seen.value }] : []; });
  if (!objective || levels.length === 0) return null;
  const of = (some: typeof levels, name: string, tone: string): Mark => ({ name, kind: "points", tone, x: some.map((p) => p.l.load), y: some.map((p) => p.y), lo: some.map((p) => p.seen.lo ?? p.y), hi: some.map((p) => p.seen.hi ?? p.y) });
  const marks: Mark[] = [meanLine(levels.map((p) => [p.l.load, p.y])), ...words.flatMap(([met, tone, name]) => { const some = levels.filter((p) => p.seen.met === met); return some.length > 0 ? [of(some, name, tone)] : []; })];
  const values = levels.map((p) => p.y).filter((v) => v > 0);
  const wide = objective.unit === "ms" && Math.max(...values) / Math.min(...values) > 8;
  const shades = c.value > 0 && c.hi > c.lo ? [{ from: c.lo, to: c.hi, text: "" }] : [];
  return {
    name: "capacity_" + objective.figure, title: `${objective.figure} against load`, height: 240, marks,
    shades: [...shades, ...(c.value > 0 ? [{ from: c.value, to: c.value, text: value(c.value, c.unit) }] : [])],
    guides: [{ y: objective.bound, text: objective.objective }],
    paint: (f) => whiskers(marks, f),
    x: { label: c.unit, unit: "", kind: "linear", from: 0 }, y: { label: "", unit: objective.unit, kind: wide ? "log" : "linear", to: objective.bound, ...(wide ? {} : { from: 0 }), ...(objective.unit === "share" && objective.bound > 0.5 ? { to: 1, exact: true } : {}) },
    readX: (v) => value(v, c.unit), readY: (v) => value(v, objective.unit),
    table: () => ({ head: ["load, " + c.unit, objective.figure + ", " + objective.unit, "from", "to", "objective"], rows: levels.map((p) => [p.l.load, p.y, p.seen.lo ?? NaN, p.seen.hi ?? NaN, words.find((w) => w[0] === p.seen.met)?.[2] ?? p.seen.met]) }),
  };
}

// meanLine goes through the loads; what was measured several times at one is their mean.
function meanLine(points: [load: number, y: number][]): Mark {
  const loads = [...new Set(points.map((p) => p[0]))];
  const at = (load: number) => { const all = points.filter((p) => p[0] === load).map((p) => p[1]); return all.reduce((a, b) => a + b, 0) / all.length; };
  return { name: "mean", kind: "line", tone: "t6", silent: true, x: loads, y: loads.map(at) };
}

// whiskers are the intervals of the points.
function whiskers(marks: Mark[], f: Frame): SVGElement[] {
  return marks.filter((m) => m.lo).map((m) => {
    let d = "";
    Array.from(m.x).forEach((x, i) => {
      const [lo, hi] = [m.lo?.[i] as number, m.hi?.[i] as number];
      if (!(hi > lo) || (f.y.spec.kind === "log" && !(hi > 0))) return;
      const [px, a, b] = [f.x.map(x), f.y.map(lo), f.y.map(hi)].map((v) => Math.round(v * 10) / 10) as [number, number, number];
      d += `M${px} ${a}V${b}M${px - 4} ${a}H${px + 4}M${px - 4} ${b}H${px + 4}`;
    });
    return s("path", { class: "whiskers " + m.tone, d });
  });
}

function table(c: Capacity): HTMLElement {
  const all = c.objectives ?? [];
  const badge = (met: string) => { const w = words.find((x) => x[0] === met); return h("span", { class: "badge " + (w?.[3] ?? "none") }, w?.[2] ?? met); };
  const rows = byLoad(c).map((l) => h("tr", {},
    h("th", { scope: "row", class: "number" }, value(l.load, "")), h("td", { class: "number" }, count(l.requests)), h("td", { class: "number" }, seconds(l.seconds)), h("td", { class: "number" }, value(l.responses_per_s, "")),
    ...all.map((o, i) => { const seen = l.objectives?.[i]; return h("td", { class: "number" + (seen?.met === "no" ? " bad" : "") }, seen?.value === undefined ? "–" : value(seen.value, o.unit)); }),
    h("td", {}, badge(l.met)), h("td", { class: "why" }, l.over ?? "")));
  const head = [c.by === "concurrency" ? "In flight" : "Requests/s", "Requests", "Measured for", "Answered/s", ...all.map((o) => o.objective)];
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Levels tried" }, h("table", {}, h("caption", {}, "Levels tried"),
    h("thead", {}, h("tr", {}, ...head.map((t) => h("th", { scope: "col", class: "number" }, t)), h("th", { scope: "col" }, "Objectives"), h("td"))), h("tbody", {}, ...rows)));
}
