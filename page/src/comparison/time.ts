// What happened when, each run from the beginning of its first stage on.
import type { ChartSpec } from "../chart/chart";
import type { Mark } from "../chart/marks";
import { View } from "../chart/view";
import type { Col } from "../document";
import { h } from "../dom";
import { value } from "../format";
import { Charts } from "../section/charts";
import { frame, type Section } from "../section/section";
import { at, zoomTools } from "../section/time";
import { meanSteps, type Steps } from "./overlay";
import type { Run, Side, Sides } from "./sides";

interface Panel { series: string; part: "v" | "lo" | "hi"; title: string; unit: string; unless0?: boolean }

const panels: Panel[] = [
  { series: "requests_ok", part: "v", title: "Completed requests/s", unit: "requests/s" },
  { series: "output_tokens", part: "v", title: "Output tokens/s", unit: "tokens/s" },
  { series: "in_flight", part: "v", title: "Requests in flight", unit: "" },
  { series: "errors", part: "v", title: "Failures/s", unit: "requests/s", unless0: true },
  { series: "ttft", part: "lo", title: "Time to first token, p50", unit: "ms" },
  { series: "ttft", part: "hi", title: "Time to first token, p99", unit: "ms" },
  { series: "itl", part: "lo", title: "Inter-token latency, p50", unit: "ms" },
  { series: "itl", part: "hi", title: "Inter-token latency, p99", unit: "ms" },
];

export function times(): Section<Sides> {
  const view = new View();
  const box = h("div", { class: "panels" });
  const element = frame("time", "Over time", "Every run from the beginning of its first stage. Drag across a chart to zoom; all time axes follow.", zoomTools(view), box);
  const charts = new Charts(box, view);
  return { id: "time", title: "Time", element, update: (m) => {
    const there = panels.map((p) => marksOf(p, m)).filter((p) => p.marks.length > 0);
    view.extend([0, Math.max(...there.flatMap((p) => p.marks.map((k) => (k.x[k.x.length - 1] ?? 0) as number)), 0.001)]);
    return charts.show(there.map((p, i) => panel(p.panel, p.marks, i < there.length - 1)));
  } };
}

function marksOf(p: Panel, m: Sides): { panel: Panel; marks: Mark[] } {
  const marks = m.all.flatMap((side) => {
    const runs = side.runs.flatMap((r) => stepsOf(p, r));
    if (runs.length === 0) return [];
    const thin = runs.length > 1 ? runs.map((s, i) => mark(side, s, { name: `${side.short}, run ${i + 1}`, thin: true, silent: true })) : [];
    return [...thin, mark(side, meanSteps(runs), {})];
  });
  const nothing = p.unless0 && marks.every((k) => Array.from(k.y).every((v) => !(v > 0)));
  return { panel: p, marks: nothing ? [] : marks };
}

// stepsOf is a series of a run, counted from the beginning of the first stage.
function stepsOf(p: Panel, run: Run): Steps[] {
  const { model } = run;
  const s = (model.doc.series ?? []).find((x) => x.name === p.series);
  const v = model.col(s?.column[p.part] as Col | undefined);
  if (!s || v.length === 0) return [];
  const begin = model.drawing(0)?.begin ?? 0;
  return [{ t: model.col(s.column.t).map((t) => t - begin), v }];
}

function mark(side: Side, s: Steps, more: Partial<Mark>): Mark {
  return { name: side.short, tone: side.tone, kind: "step", x: s.t, y: [...Array.from(s.v), s.v[s.v.length - 1] ?? NaN], ...more };
}

function panel(p: Panel, marks: Mark[], bare: boolean): ChartSpec {
  return {
    name: `time_${p.series}_${p.part}`, title: p.title, height: 84, marks, bare, beside: true,
    x: { label: "since the beginning of the first stage", unit: "s", kind: "time" }, y: { label: "", unit: p.unit, kind: "linear", from: 0 },
    readX: at, readY: (v) => value(v, p.unit),
    table: () => ({ head: ["side", "time, s", p.unit || "requests"], rows: marks.flatMap((k) => Array.from(k.x, (x, i): (string | number)[] => [k.name, x, k.y[i] ?? NaN])) }),
  };
}
