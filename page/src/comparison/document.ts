// The comparison as its JSON has it, and beside it what is drawn of the runs of each side.
import type { Document, Gate } from "../document";

export interface RunFacts { path: string; by?: string; subject: string; version?: string; started?: string; verdict: string; notes?: string[] }

export interface SideFacts { name: string; runs: RunFacts[] | null }

export interface Clash { field: string; side: number; first: string; other: string; matters: boolean }

export interface LoadSide { side: number; load: string; stages: number[] | null; ok: number; failed: number; user_cancelled?: number; seconds: number }

export interface Interval { lo: number; hi: number; relative_lo?: number; relative_hi?: number }

export interface Difference {
  value: number; relative?: number; interval?: Interval;
  p?: number; p_holm?: number; least?: number; longer?: number; method?: string;
}

export interface Figure { value: number; runs: number; at_least?: boolean; spread?: { min: number; max: number; std: number } }

export interface Row {
  metric: string; name: string; stat: string; unit: string; direction: string;
  a?: Figure; b?: Figure; difference?: Difference;
  verdict: string; may_be_chance?: boolean; may_be_client?: boolean; reason?: string;
}

export interface Table {
  side: number; method: string; prompts?: number; doubts: string[] | null; rows: Row[] | null;
  compared: number; found: number; firm: number; not_known: number; headline?: string; longer?: string;
}

export interface Load { name: string; sides: LoadSide[] | null; tables: Table[] | null; same_load: boolean }

export interface CapacitySide { side: number; by: string; unit: string; outcome: string; value?: number; lo?: number; hi?: number; runs: number; sentence: string }

export interface CapacityRow { side: number; difference?: Difference; verdict: string; reason?: string }

export interface Capacities { sides: CapacitySide[]; rows: CapacityRow[] }

export interface Comparison {
  schema: string; version: string; confidence: number; size: number;
  sides: SideFacts[];
  trusted: boolean;
  doubts: string[] | null;
  plan_differences: Clash[] | null;
  capacity?: Capacities;
  loads: Load[] | null;
  unmatched: { side: number; load: string }[] | null;
  gates?: Gate[];
}

export interface DrawnSide { name: string; of: number; runs: { index: number; document: Document }[] }

export interface ComparisonDocument { version: number; comparison: Comparison; sides: DrawnSide[] }
