// One request: its times, and every event of its answer where the page has them.
import { bisectLeft } from "d3-array";
import { button, h, replace } from "../dom";
import { Chart } from "../chart/chart";
import { dataTable } from "../chart/menu";
import { count, micros, value } from "../format";
import type { Model } from "../model";
import type { Rows } from "./rows";

export interface Events { at: Float64Array; tokens: Float64Array; label: Float64Array }

// eventsOf are the events of a row; null: the page does not have them.
export function eventsOf(m: Model, row: number): Events | null {
  const t = m.doc.traces;
  if (!t) return null;
  const of = m.col(t.of);
  const k = bisectLeft(of as unknown as number[], row);
  if (of[k] !== row) return null;
  const from = m.col(t.from);
  const at = m.col(t.events.at);
  const [a, b] = [from[k] ?? 0, from[k + 1] ?? at.length];
  return { at: at.subarray(a, b), tokens: m.col(t.events.tokens).subarray(a, b), label: m.col(t.events.label).subarray(a, b) };
}

export class TraceDialog {
  readonly element = h("dialog", { class: "trace", "aria-labelledby": "trace-title" });
  private readonly content = h("div");
  private readonly title = h("h2", { id: "trace-title", tabindex: -1, autofocus: true });
  private walk: (step: number) => number | null = () => null;

  constructor() {
    this.element.append(
      h("div", { class: "trace-head" }, this.title,
        button("Previous", () => this.go(-1)), button("Next", () => this.go(1)), button("Close", () => this.element.close())),
      this.content);
    this.element.addEventListener("click", (e) => { if (e.target === this.element) this.element.close(); });
    this.element.addEventListener("keydown", (e) => {
      if ((e.target as Element).closest("svg, .scroll")) return;
      if (e.key === "ArrowRight" || e.key === "ArrowLeft") { this.go(e.key === "ArrowRight" ? 1 : -1); e.preventDefault(); }
    });
  }

  private m: Model | null = null;
  private rows: Rows | null = null;

  open(m: Model, rows: Rows, row: number, order: number[]): void {
    [this.m, this.rows] = [m, rows];
    let place = order.indexOf(row);
    this.walk = (step) => {
      const next = order[place + step];
      if (next === undefined) return null;
      place += step;
      return next;
    };
    this.show(row);
    if (!this.element.open) this.element.showModal();
  }

  private go(step: number): void {
    const next = this.walk(step);
    if (next !== null) this.show(next);
  }

  private show(row: number): void {
    if (!this.m || !this.rows) return;
    const r = this.rows;
    replace(this.title, `${(r.session[row] as number) < 0 ? "Request" : "Session"} ${r.name(row)}`);
    const events = eventsOf(this.m, row);
    replace(this.content, ...facts(r, row), ...(events && events.at.length > 0 ? drawn(this.m, r, row, events) : [h("p", { class: "quiet" }, events || (r.failed(row) && r.value("ttft", row) < 0) ? "No event of a response came." : "This page has no room for the events of this request. The records of the run have them.")]));
  }
}

function facts(r: Rows, i: number): HTMLElement[] {
  const tokens = (v: number) => (v < 0 ? "not known" : count(v));
  const stage = r.value("stage", i) + 1;
  const all: [string, string][] = [
    ["Result", r.outcome(i) + (r.phase[i] === 1 ? ", warm-up" : "")],
    ["Stage", String(stage)],
    ["Due", ((r.due[i] as number) / 1e6).toFixed(6) + " s"],
    ["Waited", micros(r.value("wait", i))],
    ["First token after", micros(r.value("ttft", i))],
    ["Latency", micros(r.value("latency", i))],
    ["Longest gap", micros(r.value("stall", i))],
    ["Tokens", `${tokens(r.value("in", i))} in, ${tokens(r.value("out", i))} out`],
  ];
  const turn = r.turnName(i);
  if (turn) all.splice(2, 0, ["Turn", turn]);
  const failure = r.failure(i);
  if (failure.status && !r.outcome(i).includes(String(failure.status))) all.splice(1, 0, ["HTTP status", String(failure.status)]);
  const facts = h("dl", { class: "trace-facts" }, ...all.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))));
  return failure.message ? [h("p", { class: "trace-message" }, failure.message), facts] : [facts];
}

function drawn(m: Model, r: Rows, row: number, e: Events): HTMLElement[] {
  const ms = Array.from(e.at, (us) => us / 1e3);
  let sum = 0;
  const received = Array.from(e.tokens, (n) => (sum += Math.max(0, n)));
  const gaps = ms.map((t, i) => (i === 0 ? t : t - (ms[i - 1] as number)));
  const x = { label: "after sent", unit: "ms", kind: "linear" } as const;
  const name = "request_" + r.value("index", row);
  const labels = m.doc.labels ?? [];
  const list = () => ({ head: ["event", "after sent, ms", "gap, ms", "tokens", "kind"], rows: ms.map((t, i): (string | number)[] => [i + 1, t, gaps[i] ?? NaN, (e.tokens[i] as number) < 0 ? "" : (e.tokens[i] as number), labels[e.label[i] as number] ?? String(e.label[i])]) });
  const tokens = new Chart({ name: name + "_tokens", title: "Tokens received", height: 140, x: { ...x }, y: { label: "", unit: "", kind: "linear", from: 0 }, marks: [{ name: "tokens", kind: "step", tone: "t1", x: [0, ...ms], y: [0, ...received] }], readX: (v) => value(v, "ms"), readY: (v) => count(v), table: list });
  const pause = new Chart({ name: name + "_gaps", title: "Gap before each event", height: 110, x: { ...x }, y: { label: "", unit: "ms", kind: "linear", from: 0 }, marks: [{ name: "gap", kind: "line", tone: "t1", x: ms.slice(1), y: gaps.slice(1) }], readX: (v) => value(v, "ms"), readY: (v) => value(v, "ms"), table: list }, tokens.view);
  return [tokens.element, ...(ms.length > 2 ? [pause.element] : []), dataTable("Events", eventTable(list()))];
}

function eventTable(t: { head: string[]; rows: (string | number)[][] }) {
  return { head: t.head, rows: t.rows.map((r) => [String(r[0]), ...[r[1], r[2]].map((v) => (typeof v === "number" ? v.toFixed(3) : "")), String(r[3]), r[4] as string]) };
}
