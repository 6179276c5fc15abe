// A difference as a bar around zero: the interval is a line, what was measured a dot.
import { s } from "../dom";
import type { Difference, Row } from "./document";

const width = 150, height = 18, middle = width / 2, reach = middle - 6;

// reachOf is the share at which the bars of a table end: the widest interval, but no more than four times what is usual.
export function reachOf(rows: Row[]): number {
  const ends = rows.flatMap((r) => { const e = furthest(r.difference); return e > 0 && Number.isFinite(e) ? [e] : []; }).sort((a, b) => a - b);
  const most = Math.min(ends[ends.length - 1] ?? 0.1, 4 * (ends[Math.floor(ends.length / 2)] ?? 0.1), 2);
  return [0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.1, 0.15, 0.2, 0.3, 0.5, 0.8, 1].find((v) => v >= most) ?? 2;
}

function furthest(d: Difference | undefined): number {
  return Math.max(Math.abs(d?.relative ?? 0), Math.abs(d?.interval?.relative_lo ?? 0), Math.abs(d?.interval?.relative_hi ?? 0));
}

// bar draws a difference. What ends beyond the scale has an arrow there.
export function bar(r: Row, most: number): SVGElement | null {
  const d = r.difference;
  if (!d || d.relative === undefined || !Number.isFinite(d.relative)) return null;
  const x = (v: number) => middle + (Math.min(Math.max(v, -most), most) / most) * reach;
  const [lo, hi] = [d.interval?.relative_lo, d.interval?.relative_hi];
  const y = height / 2;
  const drawn: SVGElement[] = [s("line", { class: "zero", x1: middle, x2: middle, y1: 0, y2: height })];
  if (lo !== undefined && hi !== undefined) {
    drawn.push(s("line", { class: "interval", x1: x(lo), x2: Math.max(x(hi), x(lo) + 1), y1: y, y2: y }));
    for (const end of [lo, hi]) drawn.push(Math.abs(end) > most ? arrow(x(end), y, Math.sign(end)) : s("line", { class: "interval end", x1: x(end), x2: x(end), y1: y - 4, y2: y + 4 }));
  }
  drawn.push(Math.abs(d.relative) > most ? arrow(x(d.relative), y, Math.sign(d.relative)) : s("circle", { class: "measured", cx: x(d.relative), cy: y, r: 3.2 }));
  return s("svg", { class: "difference " + tone(r), viewBox: `0 0 ${width} ${height}`, width, height, "aria-hidden": "true" }, ...drawn);
}

const arrow = (x: number, y: number, to: number): SVGElement => s("path", { class: "arrow", d: `M${x + 5 * to} ${y}L${x - 2 * to} ${y - 4.5}V${y + 4.5}Z` });

// tone is the class of a row's word.
export function tone(r: Row): string {
  switch (r.verdict) {
    case "better": return "ok";
    case "worse": return "over";
    case "differs": return "undecided";
    default: return "none";
  }
}
