// The sides of a comparison with what is drawn of them.
import { Model } from "../model";
import { unpack } from "../planes";
import type { Comparison, ComparisonDocument, Load, Row, Table } from "./document";

export interface Run { index: number; model: Model }

// Side is one of what is compared; short is its name where there is little room.
export interface Side { index: number; name: string; short: string; tone: string; of: number; runs: Run[] }

// Stage is a level of a run that is drawn.
export interface Stage { run: Run; index: number }

const tones = 6;

export class Sides {
  constructor(readonly doc: Comparison, readonly all: Side[]) {}

  get loads(): Load[] { return this.doc.loads ?? []; }

  short(side: number): string { return this.all[side]?.short ?? ""; }

  // stages are those of a side at a load, one for each run that is drawn and has it.
  stages(load: number, side: Side): Stage[] {
    const at = this.loads[load]?.sides?.find((s) => s.side === side.index)?.stages ?? [];
    return side.runs.flatMap((run) => { const index = at[run.index] ?? -1; return index >= 0 ? [{ run, index }] : []; });
  }

  // row is a figure of a load in the table of a side.
  row(load: number, side: number, metric: string, stat: string): Row | undefined {
    return this.table(load, side)?.rows?.find((r) => r.metric === metric && r.stat === stat);
  }

  table(load: number, side: number): Table | undefined { return this.loads[load]?.tables?.find((t) => t.side === side); }

  // value is a figure of a side at a load: the comparison's own, or else the mean over the runs that are drawn.
  value(load: number, side: Side, metric: string, stat: string): number {
    const tables = this.loads[load]?.tables ?? [];
    const from = side.index === 0 ? tables.map((t) => this.row(load, t.side, metric, stat)?.a) : [this.row(load, side.index, metric, stat)?.b];
    const own = from.find((f) => f !== undefined);
    if (own) return own.value;
    return mean(this.stages(load, side).map((s) => figure(s, metric, stat)).filter(Number.isFinite));
  }
}

export const mean = (all: number[]): number => all.reduce((a, b) => a + b, 0) / all.length;

// figure is one of a run's own.
export function figure(s: Stage, metric: string, stat: string): number {
  const of = s.run.model.stages[s.index]?.metrics[metric] as Record<string, unknown> | undefined;
  const v = of?.[stat];
  return typeof v === "number" ? v : NaN;
}

const shorten = (name: string): string => (name.length > 40 ? name.slice(0, 28) + "…" + name.slice(-11) : name);

// readSides makes the sides of the data elements of the page. Each run's columns are a line of their own.
export async function readSides(doc: ComparisonDocument, planes: string): Promise<Sides> {
  const lines = planes.split("\n");
  let next = 0;
  const all: Side[] = [];
  for (const [index, s] of doc.sides.entries()) {
    const side: Side = { index, name: s.name, short: shorten(s.name), tone: "s" + ((index % tones) + 1), of: s.of, runs: [] };
    for (const r of s.runs) side.runs.push({ index: r.index, model: new Model(r.document, await unpack(lines[next++] ?? "")) });
    all.push(side);
  }
  return new Sides(doc.comparison, all);
}
