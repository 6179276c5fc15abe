// Labels of points, where they cover neither another label nor a point, and cross as few lines as there is room for.
import { s } from "../dom";
import type { Frame, Mark } from "./marks";

interface Box { x: number; y: number; w: number; h: number }
type Line = [x1: number, y1: number, x2: number, y2: number];

const overlap = (a: Box, b: Box): boolean => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

// crosses reports whether a line goes through a box: what is left of it, cut at each side in turn.
export function crosses([x1, y1, x2, y2]: Line, b: Box): boolean {
  let [from, to] = [0, 1];
  for (const [d, near, far] of [[x2 - x1, b.x - x1, b.x + b.w - x1], [y2 - y1, b.y - y1, b.y + b.h - y1]] as const) {
    if (d === 0) { if (near > 0 || far < 0) return false; continue; }
    from = Math.max(from, Math.min(near / d, far / d));
    to = Math.min(to, Math.max(near / d, far / d));
  }
  return from <= to;
}

// Beside a point: the label's place from it, and how its text is anchored there.
const spots = [[0, -10, 0.5], [0, 18, 0.5], [9, 4, 0], [-9, 4, 1], [8, -8, 0], [-8, -8, 1], [8, 16, 0], [-8, 16, 1], [0, -22, 0.5], [0, 30, 0.5]] as const;

export function labels(marks: Mark[], f: Frame): SVGElement[] {
  const points = marks.filter((m) => m.kind === "points");
  if (!points.some((m) => m.labels?.some(Boolean))) return [];
  const at = (m: Mark, i: number): [number, number] => [f.x.map(m.x[i] as number), f.y.map(m.y[i] as number)];
  const taken = points.flatMap((m) => Array.from(m.x, (_, i): Box => { const [x, y] = at(m, i); return { x: x - 5, y: y - 5, w: 10, h: 10 }; }));
  const lines = marks.filter((m) => m.kind === "line").flatMap((m) => Array.from(m.x).slice(1).map((_, i): Line => [...at(m, i), ...at(m, i + 1)]));
  const drawn: SVGElement[] = [];
  for (const m of points) {
    for (let i = 0; i < m.x.length; i++) {
      const label = m.labels?.[i];
      if (!label) continue;
      const [px, py] = at(m, i);
      const w = label.length * 6.4;
      let best: { box: Box; cost: number } | null = null;
      for (const [dx, dy, anchor] of spots) {
        const box = { x: px + dx - w * anchor, y: py + dy - 10, w, h: 12 };
        if (box.x < f.left - 30 || box.x + w > f.right + 12 || box.y < f.top - 12 || box.y + 12 > f.bottom || taken.some((o) => overlap(o, box))) continue;
        const cost = lines.filter((l) => crosses(l, box)).length;
        if (!best || cost < best.cost) best = { box, cost };
      }
      if (!best) continue;
      taken.push(best.box);
      drawn.push(s("text", { class: "label", x: Math.round(best.box.x + w / 2), y: Math.round(best.box.y + 10), "text-anchor": "middle" }, label));
    }
  }
  return drawn;
}
