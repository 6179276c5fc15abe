// Span is between what a value lies.
export interface Span { lo: number; hi: number }

// pareto gives the points that no other beats in both numbers, from the least x on. With the spans of the values, a point
// that is there by noise alone goes: one that another clearly beats in one number, and that is not clearly better in the other.
export function pareto(x: number[], y: number[], spanX: Span[] = x.map(exact), spanY: Span[] = y.map(exact)): number[] {
  const order = x.map((_, i) => i).sort((a, b) => (x[b] as number) - (x[a] as number) || (y[b] as number) - (y[a] as number));
  const front: number[] = [];
  let most = -Infinity;
  for (const i of order) {
    if ((y[i] as number) <= most) continue;
    most = y[i] as number;
    front.push(i);
  }
  const clearly = (span: Span[], a: number, b: number) => (span[a] as Span).lo > (span[b] as Span).hi;
  const noise = (i: number) => x.some((_, j) => (clearly(spanX, j, i) && !clearly(spanY, i, j)) || (clearly(spanY, j, i) && !clearly(spanX, i, j)));
  return front.reverse().filter((i) => !noise(i));
}

function exact(v: number): Span { return { lo: v, hi: v }; }
