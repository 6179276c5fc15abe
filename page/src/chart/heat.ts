// A heat map: how many there are of each value at each time. Each shade is one path.
import { s } from "../dom";
import type { Frame, Mark } from "./marks";

const shades = 8;

// heat draws each cell by its share of all at its time, so that few requests are seen as well as many.
export function heat(mark: Mark, f: Frame): SVGElement[] {
  const { rows = [], cells = [] } = mark;
  const high = Math.max(0, rows.length - 1);
  const d = Array.from({ length: shades }, () => "");
  for (let i = 0; i + 1 < mark.x.length; i++) {
    const [from, to] = [mark.x[i] as number, mark.x[i + 1] as number];
    const all = total(mark, i);
    if (to < f.span[0] || from > f.span[1] || all === 0) continue;
    const [a, b] = [Math.max(f.x.map(from), f.left), Math.min(f.x.map(to), f.right)];
    for (let k = 0; k < high; k++) {
      const n = cells[i * high + k] as number;
      if (!(n > 0)) continue;
      const shade = Math.min(shades - 1, Math.floor(Math.sqrt(n / all) * shades));
      const [bottom, top] = [f.y.map(rows[k] as number), f.y.map(rows[k + 1] as number)];
      d[shade] += `M${a.toFixed(1)} ${top.toFixed(1)}H${(b + 0.3).toFixed(1)}V${(bottom + 0.3).toFixed(1)}H${a.toFixed(1)}Z`;
    }
  }
  return d.map((path, i) => s("path", { class: "heat " + mark.tone, "fill-opacity": ((i + 1.5) / (shades + 0.5)).toFixed(2), d: path }));
}

function total(mark: Mark, i: number): number {
  const high = Math.max(0, (mark.rows?.length ?? 0) - 1);
  let all = 0;
  for (let k = 0; k < high; k++) all += mark.cells?.[i * high + k] as number;
  return all;
}

// reach is between which values the cells of each time lie; NaN where there are none.
export function reach(cells: ArrayLike<number>, rows: ArrayLike<number>, times: number): { lo: Float64Array; hi: Float64Array } {
  const high = Math.max(0, rows.length - 1);
  const [lo, hi] = [new Float64Array(times).fill(NaN), new Float64Array(times).fill(NaN)];
  for (let i = 0; i < times; i++) {
    for (let k = 0; k < high; k++) {
      if (!((cells[i * high + k] as number) > 0)) continue;
      if (Number.isNaN(lo[i] as number)) lo[i] = rows[k] as number;
      hi[i] = rows[k + 1] as number;
    }
  }
  return { lo, hi };
}

// densest is the row that has most at a time, and its share of all.
export function densest(mark: Mark, i: number): { lo: number; hi: number; share: number } | null {
  const { rows = [], cells = [] } = mark;
  const high = Math.max(0, rows.length - 1);
  const all = total(mark, i);
  if (!(all > 0)) return null;
  let best = 0;
  for (let k = 1; k < high; k++) if ((cells[i * high + k] as number) > (cells[i * high + best] as number)) best = k;
  return { lo: rows[best] as number, hi: rows[best + 1] as number, share: (cells[i * high + best] as number) / all };
}
