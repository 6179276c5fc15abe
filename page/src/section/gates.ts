// The conditions under which a run or a comparison fails, and which of them it met.
import { h, replace } from "../dom";
import type { Gate } from "../document";
import { plural, value } from "../format";
import type { Section } from "./section";

// gates is for runs and comparisons alike: of gives those of either.
export function gates<M>(of: (m: M) => Gate[] | undefined): Section<M> {
  const box = h("div", { class: "gates" });
  return { id: "gates", title: "Gates", element: box, update: (m) => {
    const all = of(m) ?? [];
    if (all.length === 0) return false;
    const missed = all.filter((g) => g.missed).length;
    replace(box, h("h2", {}, missed === 0 ? (all.length === 1 ? "The gate is met" : `All ${all.length} gates are met`) : `${missed} of ${plural(all.length, "gate")} missed`), table(all));
    return true;
  } };
}

function table(all: Gate[]): HTMLElement {
  const several = new Set(all.map((g) => g.where)).size > 1;
  const order = (g: Gate) => (g.missed ? 0 : 1);
  const rows = [...all].sort((a, b) => order(a) - order(b)).map((g) => h("tr", {},
    h("td", { class: "state" }, h("span", { class: "badge " + (g.missed ? "over" : "ok") }, g.absent ? "Not known" : g.missed ? "Missed" : "Met")),
    h("th", { scope: "row" }, h("code", {}, g.gate)), several && h("td", {}, g.where ?? ""),
    h("td", { class: "number" }, g.absent ? "–" : exact(g)), h("td", { class: "why" }, g.why ?? "")));
  const head = ["Result", "Fails if", ...(several ? ["Level"] : []), "Measured", ""];
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Gates" },
    h("table", {}, h("thead", {}, h("tr", {}, ...head.map((t) => (t === "" ? h("td") : h("th", { scope: "col", class: t === "Measured" ? "number" : undefined }, t))))), h("tbody", {}, ...rows)));
}

// exact writes what was measured, with as many digits as tell it from the bound.
function exact(g: Gate): string {
  const text = value(g.value, g.unit);
  return g.value !== g.bound && text === value(g.bound, g.unit) ? `${g.value} ${g.unit}`.trim() : text;
}
