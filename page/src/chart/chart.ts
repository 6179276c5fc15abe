// A chart: a figure with its title, legend, drawing, menu and the table behind it. It is drawn at the size that
// it has on the screen, and drawn again when that, its data or what is seen of it changes.
import { h, id, replace, s, set, text } from "../dom";
import { share as shareOf } from "../format";
import { axis, domainOf, type Axis, type AxisSpec } from "./axis";
import { type Table } from "./export";
import { densest } from "./heat";
import { listen } from "./input";
import { labels } from "./labels";
import { draw, type Frame, type Mark } from "./marks";
import { menu } from "./menu";
import { nearest } from "./reduce";
import { View, type Span } from "./view";

export interface Shade { from: number; to: number; text: string }
export interface Guide { y: number; text: string }

export interface ChartSpec {
  name: string; // of the files that it is downloaded as
  title: string;
  note?: string;
  x: AxisSpec;
  y: AxisSpec;
  marks: Mark[];
  shades?: Shade[];
  guides?: Guide[];
  height?: number;
  bare?: boolean; // without texts below the x axis
  beside?: boolean; // its title stands beside the drawing
  paint?: (f: Frame) => SVGElement[]; // what no mark can draw
  click?: (x: number, y: number) => void;
  readX: (v: number) => string;
  readY: (v: number) => string;
  table: () => Table;
}

const margin = { left: 56, right: 14, top: 20, bottom: 36 };

export class Chart {
  readonly element: HTMLElement;
  readonly svg = s("svg", { class: "chart", role: "img", tabindex: 0 });
  readonly view: View;
  frame: Frame | null = null;
  hover: number | null = null; // where the pointer is, in pixels: the cursor stays there when what is seen changes
  spec: ChartSpec;
  private readonly heading = h("h3", { class: "chart-title" });
  private readonly note = h("p", { class: "chart-note" });
  private readonly legend = h("ul", { class: "legend" });
  private readonly behind = h("div", { class: "behind", hidden: true });
  private readonly clip = id("clip");
  private width = 0;
  private pending = false;
  private readonly own: boolean;

  constructor(spec: ChartSpec, view?: View) {
    this.spec = spec;
    this.own = !view;
    this.view = view ?? new View();
    const caption = h("figcaption", {}, this.heading, menu(this, this.behind));
    this.element = h("figure", { class: "chart-box" + (spec.beside ? " beside" : "") }, h("div", { class: "chart-head" }, caption, this.note, this.legend), h("div", { class: "plot" }, this.svg), this.behind);
    listen(this);
    this.view.watch((what) => (what === "span" ? this.later() : this.point()));
    new ResizeObserver((entries) => {
      const width = Math.floor(entries[0]?.contentRect.width ?? 0);
      if (width > 0 && width !== this.width) { this.width = width; this.later(); } // drawing here would be observed again
    }).observe(this.svg.parentElement ?? this.element);
    this.update(spec);
  }

  update(spec: ChartSpec): void {
    this.spec = spec;
    text(this.heading, spec.title);
    text(this.note, spec.note ?? "");
    this.note.hidden = !spec.note;
    const shown = this.named();
    const alone = shown.length === 1;
    replace(this.legend, ...shown.map((m) => h("li", {}, h("i", { class: "swatch " + m.kind + " " + m.tone + (m.dash ? " dash" : ""), hidden: alone }), h("span", { hidden: alone && spec.beside === true }, m.name), h("b", {}))));
    this.legend.hidden = shown.length === 0;
    if (this.own) this.view.extend(this.across());
    this.later();
  }

  // named are the marks that the legend has.
  named(): Mark[] { return this.spec.marks.filter((m) => !m.silent); }

  private across(): Span {
    let [lo, hi] = [Infinity, -Infinity];
    for (const m of this.spec.marks) {
      if (m.x.length === 0) continue;
      lo = Math.min(lo, m.x[0] as number, m.x[m.x.length - 1] as number);
      hi = Math.max(hi, m.x[0] as number, m.x[m.x.length - 1] as number);
      if (m.kind === "points") for (const v of Array.from(m.x)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
    }
    if (this.spec.marks.some((m) => m.kind === "points")) return domainOf(this.spec.x, lo, hi);
    return lo < hi ? [lo, hi] : domainOf(this.spec.x, lo, hi);
  }

  // reach is between which values the marks are, where they are seen.
  private reach(): Span {
    let [lo, hi] = [Infinity, -Infinity];
    const log = this.spec.y.kind === "log";
    const take = (v: number) => {
      if (!Number.isFinite(v) || (log && v <= 0)) return;
      if (v < lo) lo = v;
      if (v > hi) hi = v;
    };
    const [a, b] = this.view.span;
    for (const m of this.spec.marks) {
      const n = m.x.length;
      for (let i = 0; i < n; i++) {
        const next = i + 1 < n ? (m.x[i + 1] as number) : Infinity;
        if (m.kind !== "points" && ((m.x[i] as number) > b || next < a)) continue;
        if (i < m.y.length) take(m.y[i] as number);
        if (m.lo) take(m.lo[i] as number);
        if (m.hi) take(m.hi[i] as number);
      }
    }
    for (const g of this.spec.guides ?? []) if (g.y <= hi * 2) take(g.y);
    return domainOf(this.spec.y, lo, hi);
  }

  private later(): void {
    if (this.pending || this.width === 0) return;
    this.pending = true;
    requestAnimationFrame(() => { this.pending = false; this.draw(); });
  }

  draw(): void {
    const { spec, width } = this;
    const below = spec.bare ? 6 : margin.bottom;
    const height = (spec.height ?? 260) + below + margin.top;
    const bottom = height - below;
    const right = Math.max(width - margin.right, margin.left + 1);
    const x = axis(spec.x, this.view.span, [margin.left, right], Math.max(2, Math.floor((right - margin.left) / 90)));
    const y = axis(spec.y, this.reach(), [bottom, margin.top], Math.max(2, Math.floor((bottom - margin.top) / 42)));
    const f: Frame = { x, y, span: this.view.span, left: margin.left, right, top: margin.top, bottom };
    this.frame = f;
    set(this.svg, { viewBox: `0 0 ${width} ${height}`, width, height, "aria-label": this.summary() });
    const inside = s("g", { "clip-path": `url(#${this.clip})` });
    for (const shade of spec.shades ?? []) inside.append(...shaded(shade, f));
    for (const m of spec.marks) if (m.kind !== "points") inside.append(...draw(m, f));
    if (spec.paint) inside.append(...spec.paint(f));
    for (const g of spec.guides ?? []) inside.append(...guide(g, f));
    const free = s("g");
    for (const m of spec.marks) if (m.kind === "points") free.append(...draw(m, f));
    free.append(...labels(spec.marks, f));
    this.svg.replaceChildren(
      s("defs", {}, s("clipPath", { id: this.clip }, s("rect", { x: f.left, y: f.top - 8, width: Math.max(0, right - f.left), height: bottom - f.top + 9 }))),
      grid(f, !!spec.bare), inside, free,
      s("line", { class: "cursor", "data-passing": "", y1: f.top, y2: bottom, visibility: "hidden" }),
      s("g", { class: "dots", "data-passing": "" }),
      s("rect", { class: "selection", "data-passing": "", y: f.top, height: bottom - f.top, width: 0 }));
    const under = this.hover === null ? null : x.invert(this.hover);
    if (under !== null && under !== this.view.cursor) this.view.point(under);
    else this.point();
  }

  // summary is the drawing in words.
  private summary(): string {
    const parts = this.named().map((m) => {
      let [lo, hi] = [Infinity, -Infinity];
      for (const v of [...Array.from(m.y), ...Array.from(m.lo ?? []), ...Array.from(m.hi ?? [])]) if (Number.isFinite(v)) { lo = Math.min(lo, v); hi = Math.max(hi, v); }
      return lo <= hi ? `${m.name}: ${this.spec.readY(lo)} to ${this.spec.readY(hi)}` : `${m.name}: no data`;
    });
    return `${this.spec.title}. ${parts.join("; ")}. Arrow keys read values, plus and minus zoom, Shift with arrows pans, 0 shows all. The menu has the data as a table.`;
  }

  // at is what a mark has at a place on the x axis.
  private at(m: Mark, place: number): { x: number; y: number; text: string } | null {
    if (m.kind === "bars") {
      let i = 0;
      while (i + 1 < m.x.length && (m.x[i + 1] as number) <= place) i++;
      const v = m.y[i];
      return v === undefined ? null : { x: ((m.x[i] as number) + (m.x[i + 1] as number)) / 2, y: v, text: this.spec.readY(v) };
    }
    let i = nearest(m.x, place);
    if (i < 0) return null;
    const stepped = m.kind === "step" || m.kind === "range" || m.kind === "heat"; // what is known is known from each x to the next
    if (stepped && i > 0 && (m.x[i] as number) > place) i--;
    const [lo, hi, v] = [m.lo?.[i], m.hi?.[i], m.y[i]];
    if (m.kind === "heat") {
      const most = densest(m, i);
      return most && { x: m.x[i] as number, y: most.lo, text: `${shareOf(most.share)} at ${this.spec.readY(most.lo)} to ${this.spec.readY(most.hi)}` };
    }
    if (m.kind === "range" && lo !== undefined) {
      return { x: m.x[i] as number, y: lo, text: hi !== undefined && Number.isFinite(hi) ? `${this.spec.readY(lo)} to ${this.spec.readY(hi)}` : `over ${this.spec.readY(lo)}` };
    }
    if (v === undefined || !Number.isFinite(v)) return null;
    const label = m.labels?.[i];
    return { x: stepped ? place : (m.x[i] as number), y: v, text: (label ? label + ": " : "") + this.spec.readY(v) };
  }

  // point shows the values at the cursor.
  private point(): void {
    const f = this.frame;
    const line = this.svg.querySelector(".cursor");
    const dots = this.svg.querySelector(".dots");
    if (!f || !line || !dots) return;
    const place = this.view.cursor;
    const seen = place !== null && place >= f.span[0] && place <= f.span[1];
    set(line, { visibility: seen ? "visible" : "hidden" });
    dots.replaceChildren();
    const values = this.legend.querySelectorAll("b");
    if (seen) set(line, { x1: f.x.map(place), x2: f.x.map(place) });
    this.named().forEach((m, i) => {
      const there = seen ? this.at(m, place) : null;
      const out = values[i];
      if (out) text(out, there ? there.text : "");
      if (there && m.kind !== "bars" && m.kind !== "range" && m.kind !== "heat" && there.x >= f.span[0] && there.x <= f.span[1]) dots.append(s("circle", { class: "dot " + m.tone, cx: f.x.map(there.x), cy: f.y.map(there.y), r: 3 }));
    });
    if (seen) dots.append(s("text", { class: "at", x: Math.min(Math.max(f.x.map(place), f.left + 30), f.right - 30), y: f.top - 6, "text-anchor": "middle" }, this.spec.readX(place)));
  }

  // whole draws it with its x axis, for a copy that stands alone.
  whole<T>(copy: () => T): T {
    const { spec } = this;
    if (!spec.bare) return copy();
    this.spec = { ...spec, bare: false };
    this.draw();
    const made = copy();
    this.spec = spec;
    this.draw();
    return made;
  }

  // read is what the cursor shows, in words.
  read(): string {
    const place = this.view.cursor;
    if (place === null) return "";
    const parts = this.named().map((m) => { const there = this.at(m, place); return there ? m.name + " " + there.text : ""; });
    return this.spec.readX(place) + ": " + parts.filter(Boolean).join(", ");
  }
}

function grid(f: Frame, bare: boolean): SVGElement {
  const g = s("g", { class: "axis" });
  for (const t of f.y.ticks) {
    const y = Math.round(f.y.map(t.at)) + 0.5;
    if (y < f.top - 2) continue;
    g.append(s("line", { x1: f.left, x2: f.right, y1: y, y2: y }), s("text", { x: f.left - 8, y: y + 3.5, "text-anchor": "end" }, t.text));
  }
  g.append(s("text", { class: "unit", x: 0, y: f.top - 9 }, axisTitle(f.y)));
  for (const t of f.x.ticks) {
    const x = f.x.map(t.at);
    if (x < f.left - 1 || x > f.right + 1) continue;
    if (f.x.spec.kind === "time") g.append(s("line", { x1: x, x2: x, y1: f.top, y2: f.bottom }));
    if (bare) continue;
    g.append(s("line", { class: "tick", x1: x, x2: x, y1: f.bottom, y2: f.bottom + 4 }), s("text", x > f.right - 12 ? { x: f.right + 14, y: f.bottom + 17, "text-anchor": "end" } : { x, y: f.bottom + 17, "text-anchor": "middle" }, t.text));
  }
  if (bare) return g;
  g.append(s("text", { class: "unit", x: f.right, y: f.bottom + 32, "text-anchor": "end" }, axisTitle(f.x)));
  return g;
}

// axisTitle says what an axis shows, in what, and that it is logarithmic, where it is.
export const axisTitle = (a: Axis): string => [a.spec.label, a.unit.trim(), a.spec.kind === "log" ? "log axis" : ""].filter(Boolean).join(", ");

// shaded draws a span of time, or the line at which a stage begins.
function shaded(shade: Shade, f: Frame): SVGElement[] {
  if (shade.from === shade.to) {
    const x = f.x.map(shade.from);
    if (x < f.left || x > f.right) return [];
    return [s("line", { class: "begin", x1: x, x2: x, y1: f.top, y2: f.bottom }), s("text", { class: "shade-text", x: x + 4, y: f.bottom - 4 }, shade.text)];
  }
  const [a, b] = [Math.max(f.x.map(shade.from), f.left), Math.min(f.x.map(shade.to), f.right)];
  if (b - a < 0.5) return [];
  const drawn: SVGElement[] = [s("rect", { class: "shade", x: a, y: f.top, width: b - a, height: f.bottom - f.top })];
  if (shade.text && b - a > shade.text.length * 6) drawn.push(s("text", { class: "shade-text", x: a + 5, y: f.top + 11 }, shade.text));
  return drawn;
}

function guide(g: Guide, f: Frame): SVGElement[] {
  const y = f.y.map(g.y);
  if (!(y >= f.top && y <= f.bottom)) return [];
  return [s("line", { class: "guide", x1: f.left, x2: f.right, y1: y, y2: y }), s("text", { class: "label", x: f.left + 6, y: y - 5 }, g.text)];
}

export type { Axis };
