// Histograms as they are drawn.
import type { Histogram } from "./document";

// comparable merges bins until all have edges that the others had, where they reach: a wider bin has more in it, and would
// look like more. What has hardly an edge in common stays as it is.
export function comparable(all: Histogram[]): Histogram[] {
  if (all.length < 2) return all;
  const key = (e: number) => e.toPrecision(9);
  const sets = all.map((h) => new Set(h.edges.map(key)));
  const beyond = (h: Histogram, e: number) => e < (h.edges[0] ?? 0) || e > (h.edges[h.edges.length - 1] ?? 0);
  const common = new Set(all.flatMap((h) => h.edges).filter((e) => all.every((h, i) => beyond(h, e) || sets[i]?.has(key(e)))).map(key));
  if (![...common].some((k) => sets.every((s) => s.has(k)))) return all;
  return all.map((h) => {
    const out: Histogram = { edges: [h.edges[0] as number], counts: [] };
    let sum = 0;
    h.counts.forEach((n, i) => {
      sum += n;
      const edge = h.edges[i + 1] as number;
      if (!common.has(key(edge)) && i < h.counts.length - 1) return;
      out.edges.push(edge);
      out.counts.push(sum);
      sum = 0;
    });
    return out;
  });
}

// worthwhile leaves out of a drawing what lies a thousand times below nine tenths of the samples: gaps of nanoseconds,
// between tokens that came in one packet, would take most of a log axis.
export function worthwhile(h: Histogram): Histogram {
  const most = h.counts.reduce((a, b) => a + b, 0) * 0.9;
  let sum = 0;
  const high = h.edges[h.counts.findIndex((n) => (sum += n) >= most) + 1] ?? 0;
  const least = high / 1000;
  const first = Math.max(0, h.edges.findIndex((e) => e > least) - 1);
  const [edges, counts] = [h.edges.slice(first), h.counts.slice(first)];
  edges[0] = Math.max(edges[0] ?? 0, least);
  return { edges, counts };
}
