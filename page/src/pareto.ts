// pareto gives the points that no other beats in both numbers, from the least x on.
export function pareto(x: number[], y: number[]): number[] {
  const order = x.map((_, i) => i).sort((a, b) => (x[b] as number) - (x[a] as number) || (y[b] as number) - (y[a] as number));
  const front: number[] = [];
  let most = -Infinity;
  for (const i of order) {
    if ((y[i] as number) <= most) continue;
    most = y[i] as number;
    front.push(i);
  }
  return front.reverse();
}
