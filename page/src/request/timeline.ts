// The timeline: a bar for each request, of what it spent its time on.
import { s } from "../dom";
import { Chart, type ChartSpec } from "../chart/chart";
import type { Frame } from "../chart/marks";
import type { View } from "../chart/view";
import { at } from "../section/time";
import { lanes } from "./lanes";
import type { Rows } from "./rows";

// What a request spends its time on, in the order in which one covers another where there is no room for both.
export const phases = [
  { key: "waiting", name: "waiting to be sent" },
  { key: "generating", name: "generating" },
  { key: "first", name: "to first token" },
  { key: "stalled", name: "longest stall" },
  { key: "failed", name: "failed" },
] as const;

const singles = 2500; // more bars than this are drawn as pixels

// sessionLanes puts the turns of a session on one lane, in the order in which sessions began.
function sessionLanes(rows: Rows, chosen: number[]): { of: Int32Array; count: number } {
  const lane = new Map<number, number>();
  const of = Int32Array.from(chosen, (i) => {
    const session = rows.session[i] as number;
    const at = lane.get(session) ?? lane.size;
    lane.set(session, at);
    return at;
  });
  return { of, count: lane.size };
}

export class Timeline {
  readonly chart: Chart;
  private rows: Rows | null = null;
  private chosen: number[] = [];
  private long: number[] = [];
  private lane: Int32Array = new Int32Array();
  private count = 1;

  // Where requests are turns of conversations, each of those can have a lane of its own.
  constructor(view: View, private readonly open: (row: number) => void, private readonly bySession = false) {
    this.chart = new Chart(this.spec(), view);
  }

  // show takes the gap, in µs, from which on a pause may be a stall, by stage.
  show(rows: Rows, chosen: number[], long: number[]): void {
    this.rows = rows;
    this.long = long;
    this.chosen = chosen;
    const laid = this.bySession ? sessionLanes(rows, chosen) : lanes(Float64Array.from(chosen, (i) => rows.due[i] as number), Float64Array.from(chosen, (i) => (rows.due[i] as number) + rows.last(i)));
    [this.lane, this.count] = [laid.of, Math.max(1, laid.count)];
    this.chart.update(this.spec());
  }

  private spec(): ChartSpec {
    return {
      name: this.bySession ? "sessions" : "timeline", title: this.bySession ? "Sessions" : "Timeline", height: Math.min(this.bySession ? 620 : 380, Math.max(120, this.count * 14)),
      note: this.bySession ? "A lane for each session, the first to begin at the bottom. Between two turns the user thinks. Click on a turn for its session." : "One bar for each request shown, stacked where they overlap. Click on one for its events.",
      x: { label: "since the start of the run", unit: "s", kind: "time" }, y: { label: this.bySession ? "session" : "", unit: "", kind: "linear", from: 0, to: this.count, exact: true, format: (v) => (Number.isInteger(v) ? String(v) : "") },
      marks: phases.map((p) => ({ name: p.name, kind: "bars", tone: p.key, x: [], y: [] })),
      paint: (f) => this.paint(f),
      click: (x, y) => { const i = this.find(x, y); if (i >= 0) this.open(i); },
      readX: at, readY: String,
      table: () => ({ head: ["request", "due, s", "sent, s", "first token, s", "end, s", "result"], rows: this.chosen.map((i) => this.row(i)) }),
    };
  }

  private row(i: number): (string | number)[] {
    const r = this.rows as Rows;
    const moment = (us: number) => (us < 0 ? NaN : ((r.due[i] as number) + us) / 1e6);
    return [r.value("index", i), moment(0), moment(r.sent[i] as number), moment(r.first[i] as number), moment(r.end[i] as number), r.outcome(i)];
  }

  // parts tells the parts of a request: which of the phases, from, to, in seconds.
  private parts(i: number, add: (phase: number, from: number, to: number) => void): void {
    const r = this.rows as Rows;
    const due = (r.due[i] as number) / 1e6;
    const [sent, first, last] = [r.sent[i] as number, r.first[i] as number, r.last(i)];
    const part = (phase: number, from: number, to: number) => { if (to > from) add(phase, due + from / 1e6, due + to / 1e6); };
    if (sent < 0) { part(r.failed(i) ? 4 : 0, 0, Math.max(last, 1)); return; }
    part(0, 0, sent);
    if (first < 0) { part(r.failed(i) ? 4 : 2, sent, Math.max(last, sent + 1)); return; }
    part(2, sent, first);
    if (r.failed(i)) { part(4, first, Math.max(last, first + 1)); return; }
    part(1, first, last);
    const [gap, from] = [r.stall[i] as number, r.stallAt[i] as number];
    // A stall is much longer than the other gaps of its request, and long among all of its stage.
    const others = (last - first - gap) / Math.max(1, r.value("out", i) - 2);
    if (from >= 0 && gap > 5 * others && gap > (this.long[r.value("stage", i)] ?? 0)) part(3, from, from + gap);
  }

  private paint(f: Frame): SVGElement[] {
    const r = this.rows;
    if (!r) return [];
    const seen: number[] = [];
    this.chosen.forEach((i, k) => {
      const due = (r.due[i] as number) / 1e6;
      if (due <= f.span[1] && due + r.last(i) / 1e6 >= f.span[0]) seen.push(k);
    });
    return seen.length > singles ? this.pixels(f, seen) : this.bars(f, seen);
  }

  private bars(f: Frame, seen: number[]): SVGElement[] {
    const d = phases.map(() => "");
    const high = (f.bottom - f.top) / this.count;
    const inset = high > 5 ? Math.min(3, high * 0.18) : 0;
    for (const k of seen) {
      const top = f.y.map((this.lane[k] as number) + 1) + inset;
      const height = Math.max(0.8, f.y.map(this.lane[k] as number) - top - inset);
      this.parts(this.chosen[k] as number, (phase, from, to) => {
        const [a, b] = [Math.max(f.x.map(from), f.left - 2), Math.min(f.x.map(to), f.right + 2)];
        if (b < a) return;
        d[phase] += `M${a.toFixed(2)} ${top.toFixed(1)}h${Math.max(b - a, 0.5).toFixed(2)}v${height.toFixed(1)}h${(-Math.max(b - a, 0.5)).toFixed(2)}z`;
      });
    }
    return phases.map((p, i) => s("path", { class: "phase " + p.key, d: d[i] ?? "" }));
  }

  // pixels draws any number of requests as rows of pixels: the work is that of the picture, not of the data.
  private pixels(f: Frame, seen: number[]): SVGElement[] {
    const rows = Math.max(1, Math.min(this.count, Math.floor((f.bottom - f.top) / 1.5)));
    const columns = Math.max(1, Math.ceil(f.right - f.left));
    const cells = new Uint8Array(rows * columns);
    for (const k of seen) {
      const row = Math.min(rows - 1, Math.floor(((this.lane[k] as number) / this.count) * rows));
      this.parts(this.chosen[k] as number, (phase, from, to) => {
        const a = Math.max(0, Math.floor(f.x.map(from) - f.left));
        const b = Math.min(columns - 1, Math.floor(f.x.map(to) - f.left));
        for (let c = a; c <= b; c++) if ((cells[row * columns + c] as number) < phase + 1) cells[row * columns + c] = phase + 1;
      });
    }
    const d = phases.map(() => "");
    for (let row = 0; row < rows; row++) {
      const top = f.y.map(((row + 1) / rows) * this.count);
      const height = Math.max(1, f.y.map((row / rows) * this.count) - top - (rows === this.count ? 0.5 : 0));
      for (let c = 0; c < columns; ) {
        const v = cells[row * columns + c] as number;
        let e = c + 1;
        while (e < columns && cells[row * columns + e] === v) e++;
        if (v > 0) d[v - 1] += `M${f.left + c} ${top.toFixed(1)}h${e - c}v${height.toFixed(1)}h${c - e}z`;
        c = e;
      }
    }
    return phases.map((p, i) => s("path", { class: "phase " + p.key, d: d[i] ?? "" }));
  }

  private find(x: number, y: number): number {
    const r = this.rows;
    if (!r) return -1;
    const us = x * 1e6;
    const f = this.chart.frame;
    const slack = f ? ((f.span[1] - f.span[0]) / (f.right - f.left)) * 3e6 : 0;
    let best = -1, distance = Infinity;
    this.chosen.forEach((i, k) => {
      const due = r.due[i] as number;
      const off = Math.max(due - us, us - due - r.last(i), 0);
      const lanesOff = Math.abs((this.lane[k] as number) + 0.5 - y);
      if (off <= slack && lanesOff < Math.max(1.5, this.count / 100) && lanesOff + off / (slack + 1) < distance) { best = i; distance = lanesOff + off / (slack + 1); }
    });
    return best;
  }
}
