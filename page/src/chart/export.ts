// What a chart gives away: its data as CSV, itself as SVG and PNG.
import { set } from "../dom";

export interface Table { head: string[]; rows: (string | number)[][] }

// csv quotes what needs it. A text that a spreadsheet would run as a formula is led by an apostrophe.
export function csv(table: Table): string {
  const cell = (v: string | number): string => {
    if (typeof v === "number") return Number.isFinite(v) ? String(v) : "";
    const safe = /^[=+\-@\t\r]/.test(v) ? "'" + v : v;
    return /[",\n\r]/.test(safe) ? '"' + safe.replaceAll('"', '""') + '"' : safe;
  };
  return [table.head, ...table.rows].map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}

export function save(name: string, type: string, content: BlobPart): void {
  const url = URL.createObjectURL(new Blob([content], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

const properties = ["fill", "fill-opacity", "stroke", "stroke-width", "stroke-opacity", "stroke-dasharray", "font-family", "font-size", "font-weight", "text-anchor", "opacity", "stroke-linejoin", "paint-order"];

// standalone is a copy of a drawing that needs no style sheet, with its title and legend above.
export function standalone(svg: SVGSVGElement, title: string, legend: { name: string; tone: string }[]): SVGSVGElement {
  const copy = svg.cloneNode(true) as SVGSVGElement;
  const box = svg.viewBox.baseVal;
  const above = legend.length > 1 ? 56 : 34;
  const head = document.createElementNS(svg.namespaceURI, "g") as SVGGElement;
  const text = (x: number, y: number, content: string, strong: boolean) => {
    const t = document.createElementNS(svg.namespaceURI as "http://www.w3.org/2000/svg", "text") as SVGTextElement;
    set(t, { x, y, class: strong ? "heading" : "label" });
    t.textContent = content;
    head.append(t);
    return t;
  };
  text(0, 24 - above, title, true);
  let at = 0;
  for (const l of legend.length > 1 ? legend : []) {
    const dot = document.createElementNS(svg.namespaceURI as "http://www.w3.org/2000/svg", "circle") as SVGCircleElement;
    set(dot, { cx: at + 4, cy: 40 - above, r: 4, class: "point " + l.tone });
    head.append(dot);
    text(at + 14, 44 - above, l.name, false);
    at += 32 + l.name.length * 6.5;
  }
  svg.append(head); // so that styles are worked out
  copy.append(head.cloneNode(true));
  const [from, to] = [svg.querySelectorAll("*"), copy.querySelectorAll("*")];
  from.forEach((e, i) => {
    const style = getComputedStyle(e);
    for (const p of properties) {
      const v = style.getPropertyValue(p);
      if (v) to[i]?.setAttribute(p, v);
    }
    to[i]?.removeAttribute("class");
  });
  head.remove();
  for (const e of copy.querySelectorAll("[data-passing]")) e.remove();
  const [width, height] = [box.width + 24, box.height + above + 8];
  const paper = document.createElementNS(svg.namespaceURI, "rect");
  set(paper, { x: -12, y: -above, width, height, fill: getComputedStyle(document.body).backgroundColor });
  copy.prepend(paper);
  for (const a of ["class", "tabindex", "aria-label", "aria-describedby", "role"]) copy.removeAttribute(a);
  set(copy, { xmlns: svg.namespaceURI ?? "", viewBox: `-12 ${-above} ${width} ${height}`, width, height });
  return copy;
}

export const source = (svg: SVGSVGElement): string => new XMLSerializer().serializeToString(svg);

// png draws a standalone drawing at twice its size.
export async function png(svg: SVGSVGElement): Promise<Blob> {
  const image = new Image();
  const [width, height] = [Number(svg.getAttribute("width")), Number(svg.getAttribute("height"))];
  image.src = "data:image/svg+xml;charset=utf-8," + encodeURIComponent(source(svg));
  await image.decode();
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * 2, height * 2];
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done, fail) => canvas.toBlob((b) => (b ? done(b) : fail(new Error("this browser makes no PNG"))), "image/png"));
}
