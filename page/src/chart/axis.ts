// Axes: from values to pixels, and the values that are written beside them.
import { scaleLinear, scaleLog } from "d3-scale";
import { group, scaleFor, trimZeros, fixed } from "../format";
import type { Span } from "./view";

export interface AxisSpec {
  label: string;
  unit: string;
  kind: "linear" | "log" | "quantile" | "time";
  from?: number; // a value that is always within
  to?: number;
  exact?: boolean; // without room above
  format?: (v: number) => string;
}

export interface Tick { at: number; text: string }

export interface Axis {
  spec: AxisSpec;
  map(v: number): number;
  invert(px: number): number;
  ticks: Tick[];
  unit: string; // of the ticks' texts
}

// tail turns a quantile into a place on an axis on which each 9 more has the same room.
export const tail = (q: number): number => -Math.log10(Math.max(1 - q, 1e-9));
export const quantileAt = (place: number): number => 1 - 10 ** -place;

// quantileName is p50, p99.9 and so on.
export const quantileName = (q: number): string => "p" + trimZeros((q * 100).toFixed(4));

export function axis(spec: AxisSpec, domain: Span, range: Span, wanted: number): Axis {
  let [a, b] = domain;
  if (!Number.isFinite(a) || !Number.isFinite(b)) [a, b] = [0, 1];
  if (spec.kind === "log") {
    // A log axis has no place for 0: it begins a million times below its end.
    if (!(b > 0)) b = 1;
    if (!(a > b / 1e9)) a = b / 1e6;
    const f = scaleLog().domain([a, b]).range(range);
    return { spec, map: (v) => f(Math.max(v, a / 1e3)), invert: (px) => f.invert(px), ...logTicks(spec, a, b, wanted) };
  }
  const f = scaleLinear().domain([a, b]).range(range);
  if (spec.kind === "quantile") {
    return { spec, map: f, invert: (px) => f.invert(px), unit: "", ticks: quantileTicks(a, b, Math.abs(range[1] - range[0])) };
  }
  if (spec.kind === "time") return { spec, map: f, invert: (px) => f.invert(px), ...timeTicks(a, b, wanted) };
  if (spec.from !== undefined && !spec.exact) f.nice(Math.max(wanted, 5));
  const values = f.ticks(wanted);
  return { spec, map: f, invert: (px) => f.invert(px), ...linearTicks(spec, values) };
}

function linearTicks(spec: AxisSpec, values: number[]): { ticks: Tick[]; unit: string } {
  if (spec.format) return { unit: spec.unit, ticks: values.map((v) => ({ at: v, text: spec.format?.(v) ?? "" })) };
  const most = Math.max(...values.map(Math.abs), 0);
  const step = values.length > 1 ? Math.abs((values[1] as number) - (values[0] as number)) : most;
  const s = scaleFor(spec.unit, most);
  const big = s.factor === 1 && most >= 1e5 ? (most >= 1e7 ? { by: 1e-6, sign: "M" } : { by: 1e-3, sign: "k" }) : { by: 1, sign: "" };
  const by = s.factor * big.by;
  const decimals = Math.max(0, Math.min(9, -Math.floor(Math.log10(step * by || 1) + 1e-9)));
  return { unit: s.unit, ticks: values.map((v) => ({ at: v, text: group(fixed(v * by, decimals)) + (v === 0 ? "" : big.sign) })) };
}

// timeTicks are at moments that clocks have, in seconds up to a minute and a half and in min:s or h:min beyond.
function timeTicks(a: number, b: number, wanted: number): { ticks: Tick[]; unit: string } {
  const steps = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400];
  const step = steps.find((s) => (b - a) / s <= wanted) ?? 86400 * Math.ceil((b - a) / wanted / 86400);
  const two = (n: number) => String(n).padStart(2, "0");
  const shape = b <= 90 || step < 1 ? "s" : b < 5400 ? "min:s" : "h:min";
  const ticks: Tick[] = [];
  for (let i = Math.ceil(a / step - 1e-9); i * step <= b * (1 + 1e-12); i++) {
    const v = i * step;
    const whole = Math.round(v);
    const text = shape === "s" ? trimZeros(v.toFixed(step < 0.01 ? 3 : step < 0.1 ? 2 : step < 1 ? 1 : 0)) : shape === "min:s" ? `${Math.floor(whole / 60)}:${two(whole % 60)}` : `${Math.floor(whole / 3600)}:${two(Math.floor((whole % 3600) / 60))}`;
    ticks.push({ at: v, text });
  }
  return { ticks, unit: shape };
}

function logTicks(spec: AxisSpec, a: number, b: number, wanted: number): { ticks: Tick[]; unit: string } {
  const decades = Math.log10(b / a);
  const steps = decades > wanted ? [1] : decades > wanted / 3 ? [1, 3] : decades > 0.6 ? [1, 2, 5] : [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8];
  const ticks: Tick[] = [];
  for (let e = Math.floor(Math.log10(a)); e <= Math.ceil(Math.log10(b)); e++) {
    for (const m of steps) {
      const v = m * 10 ** e;
      if (v >= a * 0.9999 && v <= b * 1.0001) ticks.push({ at: v, text: spec.format?.(v) ?? short(v, spec.unit) });
    }
  }
  return { ticks: ticks.length > 1 ? ticks : closeTicks(spec, a, b, wanted), unit: spec.unit === "ms" ? "" : spec.unit };
}

// closeTicks are those of a log axis whose ends are too close to each other for round numbers.
function closeTicks(spec: AxisSpec, a: number, b: number, wanted: number): Tick[] {
  const values = scaleLinear().domain([a, b]).ticks(Math.min(wanted, 4));
  const step = values.length > 1 ? (values[1] as number) - (values[0] as number) : b;
  const digits = Math.min(15, Math.max(3, Math.ceil(Math.log10(b / step)) + 1));
  return values.map((v) => ({ at: v, text: spec.format?.(v) ?? short(v, spec.unit, digits) }));
}

// short writes a tick of a log axis with a unit of its own.
function short(v: number, unit: string, digits = 3): string {
  if (unit === "ms") {
    if (v >= 1000) return trimZeros(String(+(v / 1000).toPrecision(digits))) + " s";
    if (v < 0.1) return String(+(v * 1000).toPrecision(digits)) + " µs";
    return String(+v.toPrecision(digits)) + " ms";
  }
  return group(String(+v.toPrecision(digits)));
}

function quantileTicks(a: number, b: number, room: number): Tick[] {
  const all = [0, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999, 0.99999, 0.999999].map((q) => ({ at: tail(q), text: q === 0 ? "min" : quantileName(q) }));
  const seen = all.filter((t) => t.at >= a - 1e-9 && t.at <= b + 1e-9);
  const ticks: Tick[] = [];
  for (const t of seen) {
    const last = ticks[ticks.length - 1];
    if (!last || ((t.at - last.at) / (b - a)) * room >= 38) ticks.push(t);
  }
  return ticks;
}

// domainOf is what an axis must show of its values.
export function domainOf(spec: AxisSpec, lo: number, hi: number): Span {
  if (spec.from !== undefined) { lo = Math.min(lo, spec.from); }
  if (spec.to !== undefined) hi = Math.max(hi, spec.to);
  if (!(lo <= hi)) return spec.kind === "log" ? [1, 10] : [0, 1];
  if (spec.kind === "log") {
    lo = Math.max(lo, 1e-6);
    hi = Math.max(hi, lo);
    return hi / lo < 1.05 ? [lo / 1.2, hi * 1.2] : [lo / (hi / lo) ** 0.04, hi * (hi / lo) ** 0.04];
  }
  if (hi === lo) return lo === 0 ? [0, 1] : lo > 0 ? [0, hi * 1.25] : [lo * 1.25, 0];
  return spec.exact ? [lo, hi] : [lo, hi + (hi - lo) * 0.06];
}
