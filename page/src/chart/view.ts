// A View is what part of an x axis is seen, and where its cursor is. Charts that share one zoom together.

export type Span = [from: number, to: number];

export class View {
  full: Span = [0, 1];
  span: Span = [0, 1];
  cursor: number | null = null;
  private watchers: ((what: "span" | "cursor") => void)[] = [];

  watch(w: (what: "span" | "cursor") => void): void { this.watchers.push(w); }

  get zoomed(): boolean { return this.span[0] !== this.full[0] || this.span[1] !== this.full[1]; }

  // extend sets the whole of the axis. A part that was zoomed to stays.
  extend(full: Span): void {
    const kept = this.zoomed;
    if (full[0] === this.full[0] && full[1] === this.full[1]) return;
    this.full = full;
    if (!kept) this.span = [...full];
    this.tell("span");
  }

  zoom(from: number, to: number): void {
    const [lo, hi] = this.full;
    const least = (hi - lo) * 1e-6;
    let width = Math.min(Math.max(Math.abs(to - from), least), hi - lo);
    if (!Number.isFinite(width)) width = hi - lo;
    const start = Math.min(Math.max(Math.min(from, to), lo), hi - width);
    this.span = width >= (hi - lo) * (1 - 1e-9) ? [lo, hi] : [start, start + width];
    this.tell("span");
  }

  // scale zooms by a factor around a place, or around the cursor or the middle.
  scale(factor: number, around?: number): void {
    const [a, b] = this.span;
    const seen = this.cursor !== null && this.cursor >= a && this.cursor <= b ? this.cursor : (a + b) / 2;
    const c = around ?? seen;
    this.zoom(c - (c - a) * factor, c + (b - c) * factor);
  }

  pan(share: number): void {
    const by = (this.span[1] - this.span[0]) * share;
    this.zoom(this.span[0] + by, this.span[1] + by);
  }

  reset(): void { this.zoom(this.full[0], this.full[1]); }

  point(at: number | null): void {
    if (at === this.cursor) return;
    this.cursor = at;
    this.tell("cursor");
  }

  private tell(what: "span" | "cursor"): void { for (const w of this.watchers) w(what); }
}
