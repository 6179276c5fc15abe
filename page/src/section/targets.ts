// The targets of a run, or its adapters, beside each other.
import { button, h, refresh } from "../dom";
import type { Part } from "../document";
import { count } from "../format";
import type { Model } from "../model";
import { figureColumns } from "./sidebyside";
import type { Section } from "./section";

// targets takes what shows the requests of one target.
export function targets(requestsOf: (target: number) => void): Section {
  const box = h("div", { class: "side-by-side", id: "targets" });
  return { id: "targets", title: "Targets", element: box, update: (m: Model, state) => {
    const stage = m.stages[state.stage];
    const several = (all: Part[] | undefined) => (all && all.length > 1 ? all : null);
    const [urls, models] = [several(stage?.targets), several(stage?.models)];
    if (!urls && !models) return false;
    const there = (m.doc.requests?.kept ?? 0) > 0;
    refresh(box, ...(urls ? [h("h2", {}, "Targets side by side"), table("Target", urls, there ? requestsOf : null)] : []), ...(models ? [h("h2", {}, "Adapters side by side"), table("Adapter", models, null)] : []));
    return true;
  } };
}

function table(title: string, all: Part[], show: ((part: number) => void) | null): HTMLElement {
  const figures = figureColumns(all);
  const head = [title, "OK", "Failed", ...figures.titles];
  const rows = all.map((p, i) => h("tr", {}, h("th", { scope: "row" }, p.url ?? p.name ?? ""), h("td", { class: "number" }, count(p.counts.ok)), h("td", { class: "number" + (p.counts.failed > 0 ? " bad" : "") }, count(p.counts.failed)), ...figures.cells(p),
    show && h("td", { class: "number" }, button("Requests", () => show(i), { class: "link", "aria-label": "Show the requests of " + (p.url ?? "") }))));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title + "s side by side" }, h("table", {}, h("thead", {}, h("tr", {}, ...head.map((t, i) => h("th", { scope: "col", class: i > 0 ? "number" : undefined }, t)), show && h("td"))), h("tbody", {}, ...rows)));
}
