// Lanes of a timeline: requests that overlap lie in different ones, as low as possible.

// Heap gives the least number first.
class Heap {
  private readonly items: [key: number, lane: number][] = [];
  get least(): number { return this.items[0]?.[0] ?? Infinity; }

  push(key: number, lane: number): void {
    const a = this.items;
    a.push([key, lane]);
    for (let i = a.length - 1; i > 0; ) {
      const up = (i - 1) >> 1;
      if ((a[up] as [number, number])[0] <= (a[i] as [number, number])[0]) break;
      [a[up], a[i]] = [a[i] as [number, number], a[up] as [number, number]];
      i = up;
    }
  }

  pop(): number {
    const a = this.items;
    const lane = (a[0] as [number, number])[1];
    const last = a.pop() as [number, number];
    if (a.length > 0) {
      a[0] = last;
      for (let i = 0; ; ) {
        let low = i;
        for (const k of [2 * i + 1, 2 * i + 2]) if (k < a.length && (a[k] as [number, number])[0] < (a[low] as [number, number])[0]) low = k;
        if (low === i) break;
        [a[low], a[i]] = [a[i] as [number, number], a[low] as [number, number]];
        i = low;
      }
    }
    return lane;
  }
}

// lanes gives each span, in the order of their beginnings, its lane, and the number of lanes.
export function lanes(begin: ArrayLike<number>, end: ArrayLike<number>): { of: Int32Array; count: number } {
  const of = new Int32Array(begin.length);
  const busy = new Heap();
  const free = new Heap();
  let count = 0;
  for (let i = 0; i < begin.length; i++) {
    while (busy.least <= (begin[i] as number)) { const lane = busy.pop(); free.push(lane, lane); }
    const lane = free.least < Infinity ? free.pop() : count++;
    of[i] = lane;
    busy.push(end[i] as number, lane);
  }
  return { of, count };
}
