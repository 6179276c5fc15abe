// The requests that the page has, one by one: their times in µs, and which of them are wanted.
import type { Failure } from "../document";
import { count, failureName } from "../format";
import type { Model } from "../model";

// Field is a number of a request that the table shows and sorts by. -1: there is none.
export type Field = "index" | "stage" | "due" | "wait" | "ttft" | "latency" | "stall" | "in" | "out" | "failure";

export interface Wanted {
  outcome: string; // "", "ok", "failed", or "=" and the name of a failure
  stage: number; // -1: all
  warmup: boolean;
  latency: number; // at least, ms
  ttft: number; // at least, ms
  span: [number, number] | null; // in flight between these seconds
  zoomed: boolean; // the span is what is zoomed to
  target: number; // -1: all
  session: number; // -1: all
}

export const everything = (): Wanted => ({ outcome: "", stage: -1, warmup: true, latency: 0, ttft: 0, span: null, zoomed: false, target: -1, session: -1 });

export class Rows {
  readonly n: number;
  readonly due: Float64Array;
  readonly sent: Float64Array; // this and the next are µs after due
  readonly first: Float64Array;
  readonly end: Float64Array;
  readonly stall: Float64Array;
  readonly stallAt: Float64Array;
  readonly phase: Float64Array;
  readonly target: Float64Array;
  readonly session: Float64Array; // its place among those of the run; -1: it is of none
  readonly turn: Float64Array;
  private readonly sessionNames: string[];
  private readonly fields: Record<Field, Float64Array>;
  private readonly failures: Failure[];
  private readonly names: string[]; // of the failures

  constructor(m: Model) {
    this.due = m.request("due");
    this.n = this.due.length;
    const column = (v: Float64Array, missing: number) => (v.length === this.n ? v : new Float64Array(this.n).fill(missing));
    this.sent = column(m.request("sent"), -1);
    this.first = column(m.request("first"), -1);
    this.end = column(m.request("end"), -1);
    this.stall = column(m.request("stall"), -1);
    this.stallAt = column(m.request("stall_at"), -1);
    this.phase = column(m.request("phase"), 0);
    this.target = column(m.request("target"), 0);
    this.session = column(m.request("session"), -1);
    this.turn = column(m.request("turn"), 0);
    this.sessionNames = m.doc.sessions ?? [];
    this.failures = m.doc.failures ?? [{ class: "" }];
    this.names = this.failures.map((f) => failureName(f.class, f.status));
    const after = (v: Float64Array) => v.map((x, i) => (x < 0 || (this.sent[i] as number) < 0 ? -1 : x - (this.sent[i] as number)));
    this.fields = {
      index: column(m.request("index"), 0), stage: column(m.request("stage"), 0), in: column(m.request("in"), -1), out: column(m.request("out"), -1),
      due: this.due, wait: this.sent, ttft: after(this.first), latency: after(this.end), stall: this.stall, failure: column(m.request("failure"), 0),
    };
  }

  value(f: Field, i: number): number { return this.fields[f][i] ?? -1; }

  failed(i: number): boolean { return this.value("failure", i) > 0 && !this.left(i); }

  // left: its user went away, which is no failure.
  left(i: number): boolean { return this.failure(i).class === "user_cancelled"; }

  // failure is why a request failed; of one that did not, its class is empty.
  failure(i: number): Failure { return this.failures[this.value("failure", i)] ?? { class: "" }; }

  // name is how a request is called: by its number, or by that of its session and its turn there.
  name(i: number): string {
    const session = this.session[i] as number;
    return session < 0 ? count(this.value("index", i)) : `${count(session + 1)}, turn ${(this.turn[i] as number) + 1}`;
  }

  // turnName is which turn of which session a request is; empty: of none.
  turnName(i: number): string {
    const name = this.sessionNames[this.session[i] as number];
    return name === undefined ? "" : `${(this.turn[i] as number) + 1} of session ${name}`;
  }

  // outcome is how a request ended, in a word or two.
  outcome(i: number): string { return this.failed(i) || this.left(i) ? (this.names[this.value("failure", i)] ?? "failed") : "ok"; }

  // kinds are the failures that there are, by name, with how many requests each has; the most frequent are first.
  kinds(): [name: string, requests: number][] {
    const of = new Map<string, number>();
    for (let i = 0; i < this.n; i++) if (this.outcome(i) !== "ok") of.set(this.outcome(i), (of.get(this.outcome(i)) ?? 0) + 1);
    return [...of].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  }

  // last is when a request was over, µs after it was due.
  last(i: number): number { return Math.max(this.end[i] as number, this.first[i] as number, this.sent[i] as number, 0); }

  select(w: Wanted): number[] {
    const out: number[] = [];
    for (let i = 0; i < this.n; i++) if (this.wants(w, i)) out.push(i);
    return out;
  }

  private wants(w: Wanted, i: number): boolean {
    if (w.outcome === "failed" ? !this.failed(i) : w.outcome !== "" && this.outcome(i) !== (w.outcome === "ok" ? "ok" : w.outcome.slice(1))) return false;
    if (w.stage >= 0 && this.value("stage", i) !== w.stage) return false;
    if (w.target >= 0 && this.target[i] !== w.target) return false;
    if (w.session >= 0 && this.session[i] !== w.session) return false;
    if (!w.warmup && this.phase[i] === 1) return false;
    if (w.latency > 0 && this.value("latency", i) < w.latency * 1e3) return false;
    if (w.ttft > 0 && this.value("ttft", i) < w.ttft * 1e3) return false;
    if (w.span) {
      const due = (this.due[i] as number) / 1e6;
      if (due > w.span[1] || due + this.last(i) / 1e6 < w.span[0]) return false;
    }
    return true;
  }

  // sort puts rows in order; those that have no value come last when the greatest are first. Numbers alone are sorted much
  // faster than anything with a function that compares, so value and row are one number where that holds both.
  sort(rows: number[], by: Field, down: boolean): number[] {
    const values = this.fields[by];
    const n = this.n;
    let most = 0;
    for (const i of rows) most = Math.max(most, values[i] as number);
    if ((most + 2) * n > Number.MAX_SAFE_INTEGER) {
      const sign = down ? -1 : 1;
      return rows.sort((a, b) => sign * ((values[a] as number) - (values[b] as number)) || a - b);
    }
    const keys = Float64Array.from(rows, (i) => (down ? most - (values[i] as number) : (values[i] as number) + 1) * n + i).sort();
    return Array.from(keys, (k) => k % n);
  }
}
