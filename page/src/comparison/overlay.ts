// Several runs of a side as one line: what is drawn bold among their thin ones.
import type { Curve, Histogram } from "../document";
import { worthwhile } from "../histogram";

// meanCurve is the mean of the runs' values at each quantile that the longest of their curves has.
export function meanCurve(all: Curve[]): Curve {
  const longest = all.reduce<Curve>((a, b) => (b.length > a.length ? b : a), []);
  if (all.length < 2) return longest;
  return longest.map(([q]) => [q, all.reduce((sum, c) => sum + along(c, q), 0) / all.length]);
}

// along is the value of a curve at a quantile, between its points by a straight line.
export function along(c: Curve, q: number): number {
  const i = c.findIndex((p) => p[0] >= q);
  const [a, b] = [c[i < 0 ? c.length - 1 : Math.max(0, i - 1)], c[i < 0 ? c.length - 1 : i]];
  if (!a || !b) return NaN;
  return b[0] === a[0] ? b[1] : a[1] + ((b[1] - a[1]) * (q - a[0])) / (b[0] - a[0]);
}

// shares are histograms of several sides, each of several runs, with the same bins for all: which share of a side's
// samples lies in each. Bins that the runs have otherwise are split as if what is in them were spread evenly.
export function shares(sides: Histogram[][]): { edges: number[]; of: number[][] } {
  const kept = sides.map((runs) => runs.filter((h) => h.counts.length > 0).map(worthwhile));
  const every = kept.flat();
  const widths = every.map((h) => Math.log((h.edges[h.edges.length - 1] as number) / (h.edges[0] as number)) / h.counts.length);
  const [lo, hi] = [Math.min(...every.map((h) => h.edges[0] as number)), Math.max(...every.map((h) => h.edges[h.edges.length - 1] as number))];
  if (!(lo > 0) || !(hi > lo)) return { edges: [], of: kept.map(() => []) };
  const n = Math.min(Math.max(Math.ceil(Math.log(hi / lo) / Math.max(...widths)), 1), 120);
  const step = Math.log(hi / lo) / n;
  const edges = Array.from({ length: n + 1 }, (_, i) => lo * Math.exp(step * i));
  return { edges, of: kept.map((runs) => pool(runs, lo, step, n)) };
}

function pool(runs: Histogram[], lo: number, step: number, n: number): number[] {
  const out = new Array<number>(n).fill(0);
  let total = 0;
  for (const h of runs) {
    h.counts.forEach((count, i) => {
      total += count;
      const [a, b] = [Math.log((h.edges[i] as number) / lo) / step, Math.log((h.edges[i + 1] as number) / lo) / step];
      for (let k = Math.max(0, Math.floor(a)); k < Math.min(n, Math.ceil(b)); k++) {
        out[k] = (out[k] as number) + (count * (Math.min(b, k + 1) - Math.max(a, k))) / (b - a);
      }
    });
  }
  return out.map((v) => (total > 0 ? v / total : 0));
}

// Steps is a value from each moment to the next: one moment more than values.
export interface Steps { t: ArrayLike<number>; v: ArrayLike<number> }

// meanSteps is the mean of several over time, in the widest of their bins.
export function meanSteps(all: Steps[]): Steps {
  const first = all[0];
  if (!first || all.length < 2) return first ?? { t: [], v: [] };
  const width = Math.max(...all.map((s) => (s.t.length > 1 ? (s.t[1] as number) - (s.t[0] as number) : 0)));
  const [from, to] = [Math.min(...all.map((s) => s.t[0] ?? 0)), Math.max(...all.map((s) => s.t[s.t.length - 1] ?? 0))];
  const n = width > 0 ? Math.ceil((to - from) / width - 1e-9) : 0;
  const t = Array.from({ length: n + 1 }, (_, i) => from + i * width);
  const sums = new Array<number>(n).fill(0);
  const counts = new Array<number>(n).fill(0);
  for (const s of all) addSteps(s, t, sums, counts);
  return { t, v: sums.map((sum, i) => (counts[i] ? sum / (counts[i] as number) : NaN)) };
}

// addSteps adds to each bin the mean that a run has in it, weighted by time.
function addSteps(s: Steps, t: number[], sums: number[], counts: number[]): void {
  let k = 0;
  for (let i = 0; i + 1 < t.length; i++) {
    const [a, b] = [t[i] as number, t[i + 1] as number];
    let [sum, weight] = [0, 0];
    while (k > 0 && (s.t[k] as number) > a) k--;
    for (; k < s.v.length && (s.t[k] as number) < b; k++) {
      const part = Math.min(b, s.t[k + 1] as number) - Math.max(a, s.t[k] as number);
      const v = s.v[k] as number;
      if (part <= 0 || !Number.isFinite(v)) continue;
      sum += v * part;
      weight += part;
    }
    if (k > 0) k--;
    if (weight <= 0) continue;
    sums[i] = (sums[i] as number) + sum / weight;
    counts[i] = (counts[i] as number) + 1;
  }
}
