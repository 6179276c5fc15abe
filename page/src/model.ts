// The document with its columns unpacked, and the questions that sections ask of it.
import type { Col, Document, RequestColumn, Stage, StageDrawing, Stat } from "./document";
import { column, unpack } from "./planes";

export class Model {
  private readonly columns = new Map<number, Float64Array>();

  constructor(readonly doc: Document, private readonly bytes: Uint8Array) {}

  get stages(): Stage[] { return this.doc.result.stages ?? []; }

  drawing(i: number): StageDrawing | undefined { return this.doc.stages?.[i]; }

  col(c: Col | undefined): Float64Array {
    if (!c) return new Float64Array();
    let v = this.columns.get(c.o);
    if (!v || v.length !== c.n) {
      v = column(this.bytes, c);
      this.columns.set(c.o, v);
    }
    return v;
  }

  request(name: RequestColumn): Float64Array { return this.col(this.doc.requests?.columns[name]); }

  get seed(): string { return this.doc.seed ?? String(this.doc.result.seed); }

  // objectives are those that the requests were to meet.
  get hasObjectives(): boolean { return this.stages.some((s) => (s.goodput ?? []).length > 0); }
}

// attained is which part of the requests of a stage met all objectives.
export function attained(stage: Stage): number | null {
  const all = stage.metrics["slo_attainment"];
  if (all) return all.avg;
  const one = stage.goodput?.length === 1 ? stage.goodput[0] : undefined;
  return one && one.of > 0 ? one.met / one.of : null;
}

export function stat(stage: Stage | undefined, metric: string): Stat | undefined { return stage?.metrics[metric]; }

// model makes the model of the data elements of the page.
export async function model(doc: Document, planes: string): Promise<Model> {
  return new Model(doc, await unpack(planes));
}

// firstShown is the stage to begin with: the one that the headline is about, or else, where none can be trusted, the
// first that a request succeeded in.
export function firstShown(m: Model): number {
  const best = m.doc.best ?? -1;
  return best >= 0 && best < m.stages.length ? best : Math.max(0, m.stages.findIndex((s) => s.counts.ok > 0));
}

// stageTitle is how a stage is called among several.
export function stageTitle(stage: Stage): string {
  const generic = /^stage \d+$/i.test(stage.name) || stage.name === "";
  return generic ? `${stage.index + 1}: ${stage.load}` : `${stage.index + 1}: ${stage.name} (${stage.load})`;
}
