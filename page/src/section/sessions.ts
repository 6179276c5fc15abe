// Conversations: what each turn took to the first token, and the turns of each session over time.
import { h, text } from "../dom";
import type { ChartSpec } from "../chart/chart";
import type { Mark } from "../chart/marks";
import type { View } from "../chart/view";
import type { Turn } from "../document";
import { count, plural, value } from "../format";
import type { Model } from "../model";
import { Rows } from "../request/rows";
import { Timeline } from "../request/timeline";
import { Charts } from "./charts";
import { frame, type Section, type State } from "./section";

const mostLanes = 60; // more would be too thin to see

// sessions takes what shows the requests of one session.
export function sessions(view: View, requestsOf: (session: number) => void): Section {
  const about = h("p", { class: "lead" });
  const grid = h("div", { class: "pairs" });
  let rows: Rows | null = null;
  let known: Model | null = null;
  const lanes = new Timeline(view, (row) => { if (rows) requestsOf(rows.session[row] as number); }, true);
  const element = frame("sessions", "Sessions", "", about, grid, lanes.chart.element);
  const charts = new Charts(grid);
  const update = (m: Model, state: State) => {
    if (!(m.doc.sessions ?? []).length) return false;
    if (known !== m) [known, rows] = [m, new Rows(m)];
    const r = rows as Rows;
    const all: number[] = [];
    for (let i = 0; i < r.n; i++) if ((r.session[i] as number) >= 0 && r.value("stage", i) === state.stage) all.push(i);
    if (all.length === 0) return false;
    const ids = [...new Set(all.map((i) => r.session[i] as number))];
    const shown = new Set(ids.slice(0, mostLanes));
    text(about, `${plural(ids.length, "session")} of ${turnsOf(r, all, ids)}.` + (ids.length > mostLanes ? ` The first ${mostLanes} are drawn.` : ""));
    lanes.show(r, all.filter((i) => shown.has(r.session[i] as number)), m.stages.map((s) => (s.metrics["inter_token_latency"]?.p99 ?? 0) * 1e3));
    charts.show([byTurn(m.drawing(state.stage)?.turns ?? []), inputs(r, all)]);
    return true;
  };
  return { id: "sessions", title: "Sessions", element, update };
}

// turnsOf says how many turns sessions have.
function turnsOf(r: Rows, all: number[], ids: number[]): string {
  const n = new Map<number, number>(ids.map((id) => [id, 0]));
  for (const i of all) n.set(r.session[i] as number, (n.get(r.session[i] as number) ?? 0) + 1);
  const [least, most] = [Math.min(...n.values()), Math.max(...n.values())];
  return least === most ? plural(most, "turn") : `${count(least)} to ${count(most)} turns, ${value(all.length / ids.length, "")} on average`;
}

const whole = (v: number): string => (Number.isInteger(v) ? String(v) : "");

function byTurn(turns: Turn[]): ChartSpec | null {
  if (turns.length < 2) return null;
  const x = turns.map((t) => t.turn);
  const line = (name: "p50" | "p90" | "p99", tone: string): Mark[] => {
    const mark: Mark = { name, kind: "points", tone, x, y: turns.map((t) => t[name]) };
    return [{ ...mark, kind: "line", silent: true }, mark];
  };
  return {
    name: "sessions_ttft", title: "Time to first token by turn", height: 240, marks: [...line("p50", "p-low"), ...line("p90", "p-mid"), ...line("p99", "p-high")],
    x: { label: "turn", unit: "", kind: "linear", format: whole }, y: { label: "", unit: "ms", kind: "linear", from: 0 },
    readX: (v) => "turn " + Math.round(v), readY: (v) => value(v, "ms"),
    table: () => ({ head: ["turn", "requests", "p50, ms", "p90, ms", "p99, ms"], rows: turns.map((t) => [t.turn, t.n, t.p50, t.p90, t.p99]) }),
  };
}

// inputs are how long prompts get from turn to turn.
function inputs(r: Rows, all: number[]): ChartSpec | null {
  const of = new Map<number, [sum: number, n: number]>();
  for (const i of all) {
    const tokens = r.value("in", i);
    if (tokens < 0) continue;
    const [sum, n] = of.get(r.turn[i] as number) ?? [0, 0];
    of.set(r.turn[i] as number, [sum + tokens, n + 1]);
  }
  if (of.size < 2) return null;
  const turns = [...of.keys()].sort((a, b) => a - b);
  const y = turns.map((t) => { const [sum, n] = of.get(t) as [number, number]; return sum / n; });
  const mark: Mark = { name: "average", kind: "points", tone: "t1", x: turns.map((t) => t + 1), y };
  return {
    name: "sessions_input", title: "Input tokens by turn", height: 240, marks: [{ ...mark, kind: "line", silent: true }, mark],
    x: { label: "turn", unit: "", kind: "linear", format: whole }, y: { label: "", unit: "tokens", kind: "linear", from: 0 },
    readX: (v) => "turn " + Math.round(v), readY: (v) => value(v, "tokens"),
    table: () => ({ head: ["turn", "tokens on average"], rows: turns.map((t, i) => [t + 1, y[i] as number]) }),
  };
}
