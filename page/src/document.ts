// What the page is given: the result as result.json has it, and beside it what is drawn. Everything but the
// result may be missing, and is then not shown.

export interface Spread {
  min: number; max: number; std: number;
  p1: number; p5: number; p10: number; p25: number; p50: number; p75: number; p90: number; p95: number; p99: number; "p99.9": number;
}

export interface Stat extends Partial<Spread> {
  unit: string;
  count?: number;
  avg: number;
  error?: Record<string, { lo: number; hi: number }>; // error bars by statistic: between what its truth lies
  intervals?: Record<string, { lo: number; hi: number }>; // of sampling, by statistic; one that is missing is not known
  thin?: string[];
  censored?: number; // requests that did not end
  at_least?: string[]; // statistics that are lower bounds, because of them
}

export interface Check {
  stage: number; name: string; value: number; budget: number; unit: string; ok: boolean;
  undecided?: boolean; reason?: string; fix?: string;
}

export interface Span { begin_s: number; end_s: number }

export interface Counts {
  sent: number; ok: number; failed: number; cut_off: number; user_cancelled?: number; warmup: number;
  resent?: number; scheduled?: number; waited?: number; unsent?: number;
}

export interface Figure {
  name: string; metric?: string; kind?: string; unit?: string;
  total?: number; rate?: number; mean?: number; median?: number; p90?: number; p99?: number; max?: number;
  within?: { median: Bucket; p90: Bucket; p99: Bucket };
}

// Bucket is a range of values; without an end where it is the last one of a histogram.
export interface Bucket { above: number; up_to?: number | null }

export interface Service { source: string; figures?: Figure[]; parts?: { page: string; gpu?: string; role?: string; figures: Figure[] }[]; faults?: string[] }

export interface ServerTime { count: number; avg_ms: number }

// ServerModel is what Triton counts of a model.
export interface ServerModel {
  name: string; version: string; inferences: number; executions: number; overhead_ms: number;
  success: ServerTime; failed: ServerTime; queue: ServerTime; compute_input: ServerTime; compute_infer: ServerTime; compute_output: ServerTime;
  composing?: ServerModel[];
}

export interface Server {
  restarted?: string;
  models?: ServerModel[];
  gpus?: { uuid: string; utilization: number; power_watts: number; memory_used_bytes: number; memory_total_bytes: number }[];
}

// Cost is what is known of the GPUs behind a stage; the figures are among the stage's metrics.
export interface Cost {
  gpus: number; gpu_hour_price?: number;
  power?: { source: string; method: string; valid: boolean; reasons?: string[]; readings?: number; longest_gap_s?: number; integral_j?: number; gpus?: { name: string; energy_j: number; avg_w: number; peak_w?: number }[] };
}

// Gate is a condition on which the run fails or passes, and what was found.
export interface Gate {
  gate: string; fail_unless?: boolean; stage: number; where?: string; value: number; bound: number; unit: string;
  difference?: boolean; interval?: { lo: number; hi: number }; missed: boolean; undecided?: boolean; absent?: boolean;
  sensitivity?: { change: number; chance: number; sure?: number; text: string }; more?: string; reason?: string;
}

// Capacity is the answer to what load meets all objectives, with the levels that were tried. A value of 0: there is none;
// hi of 0: no load was missed.
export interface Capacity {
  by: string; unit: string; outcome: string; sentence: string;
  value: number; lo: number; hi: number; precise: boolean;
  unsteady?: string;
  objectives: { objective: string; figure: string; bound: number; unit: string; above?: boolean }[] | null;
  levels: CapacityLevel[] | null;
}

// A level says yes, no or too close to call.
export interface CapacityLevel {
  stage: number; load: number; seconds: number; requests: number; responses_per_s: number; over?: string; cut?: boolean;
  objectives: { value?: number; lo?: number; hi?: number; met: string }[] | null;
  met: string;
}

export interface Part { url?: string; name?: string; counts: { sent: number; ok: number; failed: number }; metrics: Record<string, Stat> }

export interface Stage {
  index: number; name: string; load: string; ended?: string;
  rate?: number; // that was requested, by an open loop
  verdict?: StageVerdict;
  counts: Counts;
  failures?: { class: string; status?: number; count: number; example: string }[];
  tokens: { tokenizer: string; input_sources: Record<string, number> | null; output_sources: Record<string, number> | null };
  goodput?: { metric: string; max_ms: number; met: number; of: number }[];
  window: Span;
  metrics: Record<string, Stat>;
  steady?: { window: Span; counts: Counts; metrics: Record<string, Stat> };
  server?: Server;
  services?: Service[];
  level?: { value: number; passed?: boolean };
  cost?: Cost;
  targets?: Part[];
  models?: Part[];
}

// StageVerdict says whether the figures of one stage can be trusted.
export interface StageVerdict { status: string; valid: boolean; reasons: string[] | null; undecided?: string[] }

// Verdict is that of the run. Its summary says which stages can be trusted, where some can and some cannot.
export interface Verdict extends StageVerdict { summary?: string; checks: Check[] | null }

export interface Result {
  schema: string; version: string; started: string; duration_s: number; interrupted?: boolean; incomplete?: boolean;
  seed: number;
  name?: string;
  host: Record<string, unknown>;
  connection?: Record<string, unknown>;
  plan: unknown;
  verdict: Verdict;
  gates?: Gate[];
  notes?: string[];
  stages: Stage[] | null;
  capacity?: Capacity;
  saturation?: { kind: string; rate: number; above: number; reason: string; rates: number[] | null };
}

// Col is where a column of numbers lies in the planes.
export interface Col { o: number; n: number; t: "u8" | "u16" | "u32" | "i32" | "f32" | "f64"; d?: boolean; s?: number }

export type Sides<T> = { sent?: T; due?: T };
export type Curve = [q: number, ms: number][];
export interface Histogram { edges: number[]; counts: number[] }

export interface StageDrawing {
  begin: number; end: number;
  warmup: [number, number] | null;
  drain: [number, number] | null;
  curves?: Record<string, Sides<Curve>>;
  histograms?: Record<string, Sides<Histogram>>;
  load?: { kind: string; value: number } | null;
  gpus?: number;
  turns?: Turn[];
}

// Turn is what the requests of one place in their conversations took to the first token, in ms.
export interface Turn { turn: number; n: number; p50: number; p90: number; p99: number }

export interface SeriesDrawing {
  name: string; title: string; unit: string; group: string;
  kind: "line" | "band" | "step" | "range" | "heat";
  target?: string;
  labels?: string[];
  column: { t: Col; v?: Col; lo?: Col; mid?: Col; hi?: Col };
}

// Times other than due are µs after due.
export type RequestColumn = "index" | "stage" | "worker" | "target" | "phase" | "due" | "ready" | "sent" | "first" | "end" | "stall" | "stall_at" | "in" | "out" | "failure" | "session" | "turn";

// Failure is why requests failed: the status is of HTTP or gRPC.
export interface Failure { class: string; status?: number; message?: string }

export interface Requests { count: number; kept: number; reason: string; columns: Partial<Record<RequestColumn, Col>> }

// Underway is how far a run is: the share that is over and the time left are of the run where whole, else of the phase.
export interface Underway { stage: number; stages: number; phase: string; share?: number; left_s?: number; whole?: boolean }

export interface Document {
  headline?: string;
  best?: number; // the stage to begin with; -1: none is better than others
  version: number;
  result: Result;
  seed?: string;
  plan?: string;
  command?: string;
  live?: boolean;
  underway?: Underway;
  stages?: StageDrawing[] | null;
  series?: SeriesDrawing[] | null;
  requests?: Requests | null;
  failures?: Failure[] | null; // that requests have; the first is none
  labels?: string[] | null;
  sessions?: string[]; // conversations that requests are turns of
  traces?: { of: Col; from: Col; events: { at: Col; tokens: Col; label: Col } } | null;
  planes?: { length: number } | null;
}
