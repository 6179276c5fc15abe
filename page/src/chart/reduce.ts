// A path needs no more than the least, greatest and last value of each column of pixels.
import { bisectLeft, bisectRight } from "d3-array";

export interface Points { x: number[]; y: number[] }

// reduce gives the points between from and to, and one beyond on either side, as at most three for each of the columns.
export function reduce(x: ArrayLike<number>, y: ArrayLike<number>, from: number, to: number, columns: number): Points {
  const first = Math.max(0, bisectLeft(x as number[], from) - 1);
  const end = Math.min(x.length, bisectRight(x as number[], to) + 1);
  const out: Points = { x: [], y: [] };
  const add = (i: number) => { out.x.push(x[i] as number); out.y.push(y[i] as number); };
  if (end - first <= 3 * columns) {
    for (let i = first; i < end; i++) add(i);
    return out;
  }
  const width = (to - from) / columns;
  const columnOf = (i: number) => Math.floor(((x[i] as number) - from) / width);
  for (let i = first; i < end; ) {
    const column = columnOf(i);
    let least = i, most = i, last = i;
    for (; i < end && columnOf(i) === column; i++) {
      if ((y[i] as number) < (y[least] as number)) least = i;
      if ((y[i] as number) > (y[most] as number)) most = i;
      last = i;
    }
    for (const k of new Set([Math.min(least, most), Math.max(least, most), last])) add(k);
  }
  return out;
}

// nearest is the index of the value next to at; -1 where there are none.
export function nearest(x: ArrayLike<number>, at: number): number {
  if (x.length === 0) return -1;
  const i = bisectLeft(x as number[], at);
  if (i === 0) return 0;
  if (i >= x.length) return x.length - 1;
  return (x[i] as number) - at < at - (x[i - 1] as number) ? i : i - 1;
}
