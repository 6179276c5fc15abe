// The menu of a chart: the table behind it, and what can be downloaded.
import { button, h, replace } from "../dom";
import { inScale, scaleFor } from "../format";
import { say } from "../say";
import type { Chart } from "./chart";
import { csv, png, save, source, standalone, type Table } from "./export";

const rowsShown = 1000;

export function menu(chart: Chart, behind: HTMLElement): HTMLElement {
  const box = h("details", { class: "menu" });
  const done = (act: () => void | Promise<void>) => async () => {
    box.open = false;
    box.querySelector("summary")?.focus();
    try { await act(); } catch (e) { say("The download failed: " + String(e)); }
  };
  const drawing = () => chart.whole(() => standalone(chart.svg, chart.spec.title, chart.named()));
  const show = button("Show data", () => {
    box.open = false;
    behind.hidden = !behind.hidden;
    show.textContent = behind.hidden ? "Show data" : "Hide data";
    if (behind.hidden) { behind.replaceChildren(); box.querySelector("summary")?.focus(); return; }
    replace(behind, dataTable(chart.spec.title, chart.spec.table()));
    (behind.firstElementChild as HTMLElement | null)?.focus();
  });
  box.append(
    h("summary", { "aria-label": "Menu of " + chart.spec.title }, "⋯"),
    h("div", { class: "menu-items" }, show,
      button("Download CSV", done(() => save(chart.spec.name + ".csv", "text/csv", csv(chart.spec.table())))),
      button("Download SVG", done(() => save(chart.spec.name + ".svg", "image/svg+xml", source(drawing())))),
      button("Download PNG", done(async () => save(chart.spec.name + ".png", "image/png", await png(drawing())))),
      button("Show all", done(() => chart.view.reset()))));
  box.addEventListener("keydown", (e) => {
    if (e.key !== "Escape" || !box.open) return;
    box.open = false;
    box.querySelector("summary")?.focus();
    e.stopPropagation();
  });
  box.addEventListener("focusout", (e) => { if (e.relatedTarget && !box.contains(e.relatedTarget as Node)) box.open = false; });
  return box;
}

// closeMenus has a click elsewhere close the menu that is open.
export function closeMenus(): void {
  document.addEventListener("pointerdown", (e) => {
    for (const open of document.querySelectorAll<HTMLDetailsElement>("details.menu[open]")) if (!open.contains(e.target as Node)) open.open = false;
  });
}

// dataTable is a table in a box that scrolls.
export function dataTable(name: string, t: Table): HTMLElement {
  const cell = (v: string | number) => h("td", { class: typeof v === "number" ? "number" : undefined }, typeof v === "number" ? plain(v) : v);
  const rows = t.rows.slice(0, rowsShown).map((r) => h("tr", {}, ...r.map(cell)));
  const table = h("table", {}, h("caption", {}, name), h("thead", {}, h("tr", {}, ...t.head.map((c) => h("th", { scope: "col" }, c)))), h("tbody", {}, ...rows));
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Data: " + name }, table,
    t.rows.length > rowsShown && h("p", { class: "quiet" }, `The first ${rowsShown} of ${t.rows.length} rows. The CSV file has all.`));
}

const plain = (v: number): string => (Number.isFinite(v) ? inScale(scaleFor("", v), v) : "");
