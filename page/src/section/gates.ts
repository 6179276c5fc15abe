// The conditions on which a run or a comparison fails, and what came of them.
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
    replace(box, h("h2", {}, headline(all)), table(all));
    return true;
  } };
}

function headline(all: Gate[]): string {
  const missed = all.filter((g) => g.missed).length;
  const undecided = all.filter((g) => g.undecided && !g.missed).length;
  const of = plural(all.length, "gate");
  if (missed === 0) return undecided === 0 ? `${of} held` : `${undecided} of ${of} undecided, none missed`;
  return `${missed} of ${of} missed` + (undecided === 0 ? "" : `, ${undecided} undecided`);
}

// state is the place of a gate in the table, its colour and its word.
function state(g: Gate): [number, string, string] {
  if (g.missed) return [0, "over", g.absent ? "Not known" : "Missed"];
  return g.undecided ? [1, "undecided", "Undecided"] : [2, "ok", "Held"];
}

function table(all: Gate[]): HTMLElement {
  const several = new Set(all.map((g) => g.where)).size > 1;
  const unless = all.some((g) => g.fail_unless);
  const rows = [...all].sort((a, b) => state(a)[0] - state(b)[0]).map((g) => h("tr", {},
    h("td", { class: "state" }, h("span", { class: "badge " + state(g)[1] }, state(g)[2])),
    h("th", { scope: "row" }, unless && (g.fail_unless ? "unless " : "if "), h("code", {}, g.gate)), several && h("td", {}, g.where ?? ""),
    h("td", { class: "number" }, g.absent ? "–" : found(g)), h("td", { class: "why" }, [g.reason, g.sensitivity?.text, g.more].filter(Boolean).join("; "))));
  const head = ["Result", unless ? "Fails" : "Fails if", ...(several ? ["Level"] : []), "Measured", ""];
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Gates" },
    h("table", {}, h("thead", {}, h("tr", {}, ...head.map((t) => (t === "" ? h("td") : h("th", { scope: "col", class: t === "Measured" ? "number" : undefined }, t))))), h("tbody", {}, ...rows)));
}

// found writes what was measured, with what it lies in where that decides.
function found(g: Gate): string {
  if (!g.interval) return g.difference ? signed(g.value, g.unit) : exact(g);
  const write = g.difference ? signed : value;
  return `${write(g.value, g.unit)} (${write(g.interval.lo, g.unit)} to ${write(g.interval.hi, g.unit)})`;
}

function signed(v: number, unit: string): string {
  return (v > 0 ? "+" : v < 0 ? "-" : "") + value(Math.abs(v), unit);
}

// exact writes what was measured, with as many digits as tell it from the bound.
function exact(g: Gate): string {
  const text = value(g.value, g.unit);
  return g.value !== g.bound && text === value(g.bound, g.unit) ? `${g.value} ${g.unit}`.trim() : text;
}
