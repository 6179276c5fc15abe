// A difference as a bar around zero: the interval is a line, what was measured a dot.
import { s } from "../dom";
import type { Row } from "./document";

const width = 150, height = 18, middle = width / 2, reach = middle - 6;

// reachOf is the share at which the bars of a table end: the widest interval, but no more than four times what is usual.
export function reachOf(rows: Row[]): number {
  const ends = rows.flatMap((r) => { const e = furthest(r); return e > 0 && Number.isFinite(e) ? [e] : []; }).sort((a, b) => a - b);
  const most = Math.min(ends[ends.length - 1] ?? 0.1, 4 * (ends[Math.floor(ends.length / 2)] ?? 0.1), 2);
  return [0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1].find((v) => v >= most) ?? 2;
}

// Apart is a difference as a share of the first side or, where the figures are shares, in points.
export interface Apart { value: number; lo: number | undefined; hi: number | undefined; unit: "%" | "points" }

export function apart(r: Row): Apart | null {
  const d = r.difference;
  if (!d) return null;
  if (r.unit === "share" || r.unit === "ratio") return { value: d.value, lo: d.interval?.lo, hi: d.interval?.hi, unit: "points" };
  return d.relative !== undefined && Number.isFinite(d.relative) ? { value: d.relative, lo: d.interval?.relative_lo, hi: d.interval?.relative_hi, unit: "%" } : null;
}

function furthest(r: Row): number {
  const a = apart(r);
  return Math.max(Math.abs(a?.value ?? 0), Math.abs(a?.lo ?? 0), Math.abs(a?.hi ?? 0));
}

// bar draws a difference. What ends beyond the scale has an arrow there.
export function bar(r: Row, most: number): SVGElement | null {
  const a = apart(r);
  if (!a) return null;
  const x = (v: number) => middle + (Math.min(Math.max(v, -most), most) / most) * reach;
  const { value, lo, hi } = a;
  const y = height / 2;
  const drawn: SVGElement[] = [s("line", { class: "zero", x1: middle, x2: middle, y1: 0, y2: height })];
  if (lo !== undefined && hi !== undefined) {
    drawn.push(s("line", { class: "interval", x1: x(lo), x2: Math.max(x(hi), x(lo) + 1), y1: y, y2: y }));
    for (const end of [lo, hi]) drawn.push(Math.abs(end) > most ? arrow(x(end), y, Math.sign(end)) : s("line", { class: "interval end", x1: x(end), x2: x(end), y1: y - 4, y2: y + 4 }));
  }
  drawn.push(Math.abs(value) > most ? arrow(x(value), y, Math.sign(value)) : s("circle", { class: "measured", cx: x(value), cy: y, r: 3.2 }));
  return s("svg", { class: "difference " + tone(r), viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" }, ...drawn);
}

const arrow = (x: number, y: number, to: number): SVGElement => s("path", { class: "arrow", d: `M${x + 5 * to} ${y}L${x - 2 * to} ${y - 4.5}V${y + 4.5}Z` });

// tone is the class of a row's word.
export function tone(r: { verdict: string }): string {
  switch (r.verdict) {
    case "better": return "ok";
    case "worse": return "over";
    case "differs": return "undecided";
    default: return "none";
  }
}
