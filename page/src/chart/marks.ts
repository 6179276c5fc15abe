// Marks: what is drawn of data. Each is one path, however many values it has.
import { area, curveStepAfter, line } from "d3-shape";
import { s } from "../dom";
import type { Axis } from "./axis";
import { heat } from "./heat";
import { reduce } from "./reduce";
import type { Span } from "./view";

export interface Mark {
  name: string;
  kind: "line" | "step" | "band" | "range" | "bars" | "points" | "heat";
  tone: string; // the colour's class
  x: ArrayLike<number>; // for bars their edges, one more than values
  y: ArrayLike<number>; // for a band and a range what is in the middle; may be empty
  lo?: ArrayLike<number>;
  hi?: ArrayLike<number>;
  rows?: ArrayLike<number>; // of a heat map: the values between which its rows are
  cells?: ArrayLike<number>; // and how many each has, all of the first x first
  dash?: boolean;
  labels?: string[]; // of points
  thin?: boolean; // one of several lines that are alike
  silent?: boolean; // not in the legend
}

export interface Frame { x: Axis; y: Axis; span: Span; left: number; right: number; top: number; bottom: number }

export function draw(mark: Mark, f: Frame): SVGElement[] {
  switch (mark.kind) {
    case "line": return [s("path", { class: lineClass(mark), d: linePath(mark, f) })];
    case "step": return [s("path", { class: lineClass(mark), d: linePath(mark, f, true) })];
    case "band": return band(mark, f);
    case "range": return ranges(mark, f);
    case "bars": return bars(mark, f);
    case "points": return points(mark, f);
    case "heat": return heat(mark, f);
  }
}

const lineClass = (mark: Mark): string => "line " + mark.tone + (mark.dash ? " dash" : "") + (mark.thin ? " thin" : "");
const round = (v: number) => Math.round(v * 10) / 10;

// drawable says whether a value has a place on its axis.
const drawable = (f: Frame, v: number) => Number.isFinite(v) && (f.y.spec.kind !== "log" || v > 0);

function linePath(mark: Mark, f: Frame, stepped = false): string {
  const p = reduce(mark.x, mark.y, f.span[0], f.span[1], Math.max(1, f.right - f.left));
  const path = line<number>().x((_, i) => round(f.x.map(p.x[i] as number))).y((v) => round(f.y.map(v))).defined((v) => drawable(f, v));
  if (stepped) path.curve(curveStepAfter);
  return path(p.y) ?? "";
}

function band(mark: Mark, f: Frame): SVGElement[] {
  const { lo = [], hi = [] } = mark;
  const order = Array.from(lo, (_, i) => i);
  const path = area<number>().defined((i) => drawable(f, lo[i] as number) && drawable(f, hi[i] as number)).x((i) => round(f.x.map(mark.x[i] as number))).y0((i) => round(f.y.map(lo[i] as number))).y1((i) => round(f.y.map(hi[i] as number)));
  const drawn: SVGElement[] = [s("path", { class: "band " + mark.tone, d: path(order) ?? "" })];
  if (mark.y.length > 0) drawn.push(s("path", { class: "line " + mark.tone, d: linePath(mark, f) }));
  return drawn;
}

// ranges draws what a histogram of a server knows: between which two values, and no more.
function ranges(mark: Mark, f: Frame): SVGElement[] {
  const { lo = [], hi = [] } = mark;
  let d = "";
  for (let i = 0; i < mark.x.length; i++) {
    const a = mark.x[i] as number;
    const b = (mark.x[i + 1] ?? a + (a - (mark.x[i - 1] ?? a))) as number;
    if (b < f.span[0] || a > f.span[1] || !Number.isFinite(lo[i] as number)) continue;
    const top = Number.isFinite(hi[i] as number) ? f.y.map(hi[i] as number) : f.top;
    const bottom = f.y.spec.kind === "log" && !((lo[i] as number) > 0) ? f.bottom : f.y.map(lo[i] as number);
    d += `M${round(f.x.map(a))} ${round(top)}H${round(Math.max(f.x.map(b), f.x.map(a) + 1))}V${round(Math.max(bottom, top + 1))}H${round(f.x.map(a))}Z`;
  }
  return [s("path", { class: "range " + mark.tone, d })];
}

function bars(mark: Mark, f: Frame): SVGElement[] {
  const base = f.y.map(0);
  let d = "";
  let open = false;
  for (let i = 0; i < mark.y.length; i++) {
    const [a, b, v] = [mark.x[i] as number, mark.x[i + 1] as number, mark.y[i] as number];
    if (!(v > 0)) { if (open) { d += `V${round(base)}`; open = false; } continue; }
    if (!open) d += `M${round(f.x.map(a))} ${round(base)}`;
    d += `V${round(f.y.map(v))}H${round(f.x.map(b))}`;
    open = true;
  }
  if (open) d += `V${round(base)}`;
  return [s("path", { class: "bars " + mark.tone + (mark.dash ? " dash" : ""), d })];
}

// Points that colours tell apart have shapes of their own too, for readers to whom colours are alike.
const [square, diamond, triangle] = ["M-4 -4H4V4H-4Z", "M0 -5.5L5.5 0L0 5.5L-5.5 0Z", "M0 -5L5.2 4.2H-5.2Z"];
const shapes: Record<string, string | undefined> = { s2: square, s3: diamond, s4: triangle, missed: square, close: diamond, unsure: triangle };

function point(mark: Mark, x: number, y: number): SVGElement {
  const shape = shapes[mark.tone];
  if (mark.thin) return s("circle", { class: "point thin " + mark.tone, cx: x, cy: y, r: 2.2 });
  if (shape) return s("path", { class: "point " + mark.tone, d: shape, transform: `translate(${x} ${y})` });
  return s("circle", { class: "point " + mark.tone, cx: x, cy: y, r: 4.5 });
}

const points = (mark: Mark, f: Frame): SVGElement[] => Array.from(mark.x, (x, i) => point(mark, round(f.x.map(x)), round(f.y.map(mark.y[i] as number))));
