// What searches for the capacity have found, side by side.
import { h, refresh } from "../dom";
import { fixed, share, trimZeros } from "../format";
import { frame, type Section } from "../section/section";
import { tone } from "./bar";
import type { Capacities, CapacityRow, CapacitySide } from "./document";
import type { Sides } from "./sides";
import { relative } from "./table";

export function capacities(): Section<Sides> {
  const box = h("div");
  const element = frame("capacity", "Capacity", "The highest load that meets all objectives.", box);
  return { id: "capacity", title: "Capacity", element, update: (m) => {
    const c = m.doc.capacity;
    if (!c) return false;
    refresh(box, h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Capacity of each side" }, table(c, m)), h("ul", { class: "found" }, ...c.sides.map((s) => h("li", {}, h("b", {}, m.short(s.side) + ": "), s.sentence))));
    return true;
  } };
}

const load = (v: number): string => (v >= 1000 ? fixed(v, 0) : trimZeros(fixed(v, v >= 100 ? 1 : 2)));

// answer is the load of a side with its unit, or the bound that is known of it.
function answer(s: CapacitySide): string {
  if (s.value !== undefined) return `${load(s.value)} ${s.unit}`;
  if (s.lo !== undefined) return `at least ${load(s.lo)} ${s.unit}`;
  return s.hi !== undefined ? `less than ${load(s.hi)} ${s.unit}` : "not known";
}

const between = (s: CapacitySide): string => (s.value !== undefined && s.lo !== undefined && s.hi !== undefined ? `${load(s.lo)} to ${load(s.hi)}` : "–");

function table(c: Capacities, m: Sides): HTMLElement {
  const rows = c.sides.map((s) => {
    const r = c.rows.find((x) => x.side === s.side);
    return h("tr", { class: "begins" }, h("th", { scope: "row", class: "side-name" }, h("i", { class: "swatch points " + (m.all[s.side]?.tone ?? "") }), " ", m.short(s.side)),
      h("td", { class: "number" }, answer(s)), h("td", { class: "number" }, between(s)), h("td", {}, s.outcome),
      h("td", { class: "number strong" }, r ? difference(r, s.unit) : ""), h("td", { class: "result" }, ...(r ? word(r) : [])), h("td", { class: "number" }, r ? interval(r, s.unit) : ""));
  });
  const head = ["Side", "Capacity", "95 % interval", "Outcome", "Difference", "Result", `${share(m.doc.confidence)} interval of it`];
  return h("table", { class: "sheet" }, h("thead", {}, h("tr", {}, ...head.map((t, i) => h("th", { scope: "col", class: [1, 2, 4, 6].includes(i) ? "number" : undefined }, t)))), h("tbody", {}, ...rows));
}

// amount is a difference as a share of the first side or, where that is 0, as a load.
const amount = (v: number, of: number | undefined, unit: string): string => (of !== undefined ? relative(of) : `${v < 0 ? "−" : "+"}${load(Math.abs(v))} ${unit}`);

const difference = (r: CapacityRow, unit: string): string => (r.difference ? amount(r.difference.value, r.difference.relative, unit) : "–");

function interval(r: CapacityRow, unit: string): string {
  const i = r.difference?.interval;
  return i ? `${amount(i.lo, i.relative_lo, unit)} to ${amount(i.hi, i.relative_hi, unit)}` : "–";
}

function word(r: CapacityRow): (HTMLElement | null)[] {
  return [h("span", { class: "badge " + tone(r) }, r.verdict === "none found" ? "no difference found" : r.verdict), r.reason ? h("span", { class: "aside" }, r.reason) : null];
}
