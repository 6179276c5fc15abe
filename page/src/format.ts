// Numbers for people, the same as on the console (internal/lib/number): a row has one unit and about four digits.

export interface Scale { unit: string; factor: number; decimals: number }

function digits(ref: number): number {
  if (ref >= 1000) return 0;
  if (ref >= 100) return 1;
  if (ref >= 1 || ref === 0) return 2;
  return ref >= 0.1 ? 3 : 4;
}

const isShare = (unit: string) => unit === "share" || unit === "ratio";

// scaleFor picks unit and decimals for values of which ref is typical.
export function scaleFor(unit: string, ref: number): Scale {
  const s: Scale = { unit, factor: 1, decimals: 0 };
  const size = Math.abs(ref);
  if (unit === "ms" && size > 0) {
    if (size >= 10_000) { s.unit = "s"; s.factor = 1e-3; }
    else if (size < 0.1) { s.unit = "µs"; s.factor = 1e3; }
  }
  if (isShare(unit)) { s.unit = "%"; s.factor = 100; }
  s.decimals = digits(size * s.factor);
  return s;
}

// inScale writes v in a scale, without the unit.
export function inScale(s: Scale, v: number): string {
  return Number.isFinite(v) ? group(fixed(v * s.factor, s.decimals)) : "-";
}

// figureOf writes a statistic, marked where it has too few samples and where it is known only to be that much or more.
export function figureOf(s: Scale, m: { thin?: string[]; at_least?: string[] }, name: string, v: number): string {
  return (m.thin?.includes(name) ? "~" : "") + (m.at_least?.includes(name) ? "≥ " : "") + inScale(s, v);
}

export const leastText = "≥ requests did not end: the figure is at least this much.";

// value writes one value with its unit, scaled to itself.
export function value(v: number, unit: string): string {
  if (isShare(unit)) return share(v);
  const s = scaleFor(unit, v);
  const n = trimZeros(inScale(s, v));
  return s.unit === "" ? n : n + " " + s.unit;
}

export function share(v: number): string {
  if (!Number.isFinite(v)) return "-";
  const p = v * 100;
  if (p > 0 && p < 0.01) return "< 0.01 %";
  if (p > 99.99 && p < 100) return "> 99.99 %";
  return trimZeros(fixed(p, p < 1 || (p > 99 && p < 100) ? 2 : 1)) + " %";
}

// plusMinus writes how far a figure can be off, as a share of it.
export function plusMinus(v: number): string {
  const p = Math.abs(v * 100);
  if (p === 0) return "±0 %";
  if (p < 0.01) return "±<0.01 %";
  return "±" + group(fixed(p, p >= 9.95 ? 0 : p >= 0.995 ? 1 : 2)) + " %";
}

export const count = (n: number): string => group(fixed(n, 0));

export function plural(n: number, thing: string): string {
  return n === 1 ? "1 " + thing : count(n) + " " + thing + "s";
}

// seconds writes a length of time as a person says it.
export function seconds(s: number): string {
  if (!Number.isFinite(s)) return "-";
  if (s < 0) return "-" + seconds(-s);
  if (s < 1) return value(s * 1e3, "ms");
  if (s < 100) return trimZeros(fixed(s, 1)) + " s";
  const pair = (whole: number, of: number, a: string, b: string) =>
    count(Math.floor(whole / of)) + " " + a + (whole % of ? " " + (whole % of) + " " + b : "");
  return s < 3600 ? pair(Math.round(s), 60, "min", "s") : pair(Math.round(s / 60), 60, "h", "min");
}

// micros writes a time in microseconds with its unit; negative: there is none.
export const micros = (us: number): string => (us < 0 ? "–" : value(us / 1e3, "ms"));

// fixed is toFixed that rounds ties to even, as Go does.
export function fixed(v: number, decimals: number): string {
  const s = v.toFixed(decimals);
  if (Math.abs(v) >= 1e21) return s;
  const exact = Math.abs(v).toFixed(Math.min(100, decimals + 40));
  const cut = exact.length - 40;
  if (!/^50*$/.test(exact.slice(cut).replace(".", ""))) return s; // no tie
  const low = exact.slice(0, cut).replace(/\.$/, "");
  const even = Number(low[low.length - 1]) % 2 === 0;
  return even ? (v < 0 ? "-" : "") + low : awayFromZero(low, v < 0);
}

function awayFromZero(low: string, negative: boolean): string {
  const point = low.indexOf(".");
  const up = String(BigInt(low.replace(".", "")) + 1n).padStart(low.length - (point < 0 ? 0 : 1), "0");
  const text = point < 0 ? up : up.slice(0, up.length - (low.length - 1 - point)) + "." + up.slice(up.length - (low.length - 1 - point));
  return (negative ? "-" : "") + text;
}

export function group(s: string): string {
  const [whole = "", part] = s.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+$)/g, ",");
  return part === undefined ? grouped : grouped + "." + part;
}

export const trimZeros = (s: string): string => (s.includes(".") ? s.replace(/\.?0+$/, "") : s);

const acronyms = new Set(["cpu", "gc", "gpu", "http", "kv", "slo", "tls", "tpot", "ttft"]);

// failureName is how a failure is called: with its status, where that is what failed.
export function failureName(kind: string, status?: number): string {
  if (status && kind === "http_status") return `HTTP ${status}`;
  if (status && kind === "grpc_status") return `gRPC status ${status}`;
  return kind.replaceAll("_", " ");
}

// words turns the name of a field into words.
export function words(name: string): string {
  const plain = name.split(/[_ ]/).map((w) => (acronyms.has(w) ? w.toUpperCase() : w)).join(" ");
  return plain.charAt(0).toUpperCase() + plain.slice(1);
}

// visible shows characters that would move or hide text as escapes.
export function visible(text: string): string {
  return text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g,
    (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
}
