// Stages as levels of a load.
import type { Mark } from "../chart/marks";
import type { Stage } from "../document";
import { value } from "../format";
import type { Model } from "../model";

// A level's figures can be used where good: a stage whose verdict says so, or one without a verdict.
export interface Level { stage: Stage; label: string; load: number | null; kind: string; gpus: number; good: boolean }

export function levelsOf(m: Model): Level[] {
  const plan = (m.doc.result.plan ?? {}) as { stages?: { concurrency?: number; rate?: number }[] };
  return m.stages.map((stage, i) => {
    const d = m.drawing(i);
    const p = plan.stages?.[i];
    const kind = d?.load?.kind ?? (p?.rate ? "rate" : "concurrency");
    const load = d?.load?.value ?? stage.level?.value ?? p?.concurrency ?? p?.rate ?? null;
    const label = load === null ? stage.load : kind === "rate" ? value(load, "") + "/s" : value(load, "");
    const good = !stage.verdict || stage.verdict.status === "valid";
    return { stage, kind, load, good, label: good ? label : `${label}, ${stage.verdict?.status ?? ""}`, gpus: stage.cost?.gpus || d?.gpus || stage.server?.gpus?.length || 0 };
  });
}

export const avg = (l: Level, metric: string): number => l.stage.metrics[metric]?.avg ?? NaN;
export const byLoad = (all: Level[]): Level[] => [...all].sort((a, b) => (a.load ?? 0) - (b.load ?? 0));
export const loadWord = (all: Level[]): string => (all[0]?.kind === "rate" ? "requests/s requested" : "requests in flight");

export function points(all: Level[], x: (l: Level) => number, y: (l: Level) => number, name: string, tone: string): Mark {
  const there = all.filter((l) => Number.isFinite(x(l)) && Number.isFinite(y(l)));
  return { name, kind: "points", tone, x: there.map(x), y: there.map(y), labels: there.map((l) => l.label) };
}
