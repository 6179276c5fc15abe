// Pointer and keyboard on a chart: both zoom, pan and read values.
import { set } from "../dom";
import { say } from "../say";
import type { Chart } from "./chart";
import { nearest } from "./reduce";

export function listen(chart: Chart): void {
  const { svg, view } = chart;
  let start: { px: number; at: number } | null = null;
  const place = (e: PointerEvent | WheelEvent): { px: number; at: number } | null => {
    const f = chart.frame;
    if (!f) return null;
    const box = svg.getBoundingClientRect();
    const px = Math.min(Math.max(((e.clientX - box.left) * svg.viewBox.baseVal.width) / box.width, f.left), f.right);
    return { px, at: f.x.invert(px) };
  };
  svg.addEventListener("pointerdown", (e) => {
    if (e.button !== 0) return;
    start = place(e);
    svg.setPointerCapture(e.pointerId);
  });
  svg.addEventListener("pointermove", (e) => {
    const p = place(e);
    if (!p) return;
    chart.hover = p.px;
    view.point(p.at);
    const selection = svg.querySelector(".selection");
    if (start && selection) set(selection, { x: Math.min(start.px, p.px), width: Math.abs(p.px - start.px) });
  });
  svg.addEventListener("pointerup", (e) => {
    const p = place(e);
    if (start && p && Math.abs(p.px - start.px) > 6) view.zoom(start.at, p.at);
    else if (start && p && chart.frame) {
      const box = svg.getBoundingClientRect();
      chart.spec.click?.(p.at, chart.frame.y.invert(((e.clientY - box.top) * svg.viewBox.baseVal.height) / box.height));
    }
    start = null;
    const selection = svg.querySelector(".selection");
    if (selection) set(selection, { width: 0 });
  });
  svg.addEventListener("pointercancel", () => { start = null; });
  svg.addEventListener("pointerleave", () => { chart.hover = null; if (!start) view.point(null); });
  svg.addEventListener("dblclick", () => view.reset());
  svg.addEventListener("wheel", (e) => {
    if (!e.ctrlKey && !e.metaKey) return; // scrolling the page stays scrolling
    e.preventDefault();
    view.scale(e.deltaY > 0 ? 1.25 : 0.8, place(e)?.at);
  }, { passive: false });
  svg.addEventListener("blur", () => view.point(null));
  svg.addEventListener("keydown", (e) => { if (key(chart, e)) e.preventDefault(); });
}

// key does what a key asks for, and reports whether it meant anything.
function key(chart: Chart, e: KeyboardEvent): boolean {
  const { view } = chart;
  if (e.altKey || e.ctrlKey || e.metaKey) return false;
  const step = e.key === "ArrowRight" ? 1 : e.key === "ArrowLeft" ? -1 : 0;
  if (step !== 0) {
    if (e.shiftKey) view.pan(step * 0.2);
    else move(chart, step);
    return true;
  }
  switch (e.key) {
    case "+": case "=": view.scale(0.5); return true;
    case "-": case "_": view.scale(2); return true;
    case "0": case "Escape": if (!view.zoomed && view.cursor === null) return false; view.reset(); view.point(null); return true;
    case "Home": move(chart, -Infinity); return true;
    case "End": move(chart, Infinity); return true;
    default: return false;
  }
}

// move takes the cursor to the next value, a fiftieth of what is seen away at least.
function move(chart: Chart, step: number): void {
  const { view } = chart;
  const [a, b] = view.span;
  const longest = chart.spec.marks.reduce<ArrayLike<number>>((x, m) => (m.x.length > x.length ? m.x : x), []);
  if (longest.length === 0) return;
  if (!Number.isFinite(step)) view.point(step < 0 ? a : b);
  else if (view.cursor === null) view.point(Math.min(Math.max(longest[nearest(longest, step > 0 ? a : b)] ?? a, a), b));
  else {
    const least = (b - a) / 50;
    let i = nearest(longest, view.cursor);
    const from = view.cursor;
    do i += step; while (longest[i] !== undefined && Math.abs((longest[i] as number) - from) < least);
    view.point(Math.min(Math.max(longest[i] ?? (step > 0 ? b : a), a), b));
  }
  say(chart.read());
}
