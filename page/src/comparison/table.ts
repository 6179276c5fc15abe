// The comparison itself: every figure of both sides with its difference.
import { h, refresh } from "../dom";
import { fixed, group, inScale, plural, scaleFor, share, trimZeros, value } from "../format";
import { frame, type Section, type State } from "../section/section";
import { bar, reachOf, tone } from "./bar";
import type { Figure, Load, Row, Table } from "./document";
import type { Sides } from "./sides";

export function comparison(): Section<Sides> {
  const box = h("div");
  const only = h("input", { type: "checkbox", id: "only-differences" });
  const tools = h("div", { class: "tools" }, h("span", { class: "tick" }, only, h("label", { for: "only-differences" }, "Only differences that were found")));
  const element = frame("comparison", "Comparison", "", tools, box);
  let again = (): void => {};
  only.addEventListener("change", () => again());
  const update = (m: Sides, state: State): boolean => {
    again = () => update(m, state);
    const load = m.loads[state.stage];
    const tables = load?.tables ?? [];
    if (!load || tables.length === 0) return false;
    refresh(box, h("p", { class: "lead" }, measured(m, load)), ...tables.flatMap((t) => sheet(m, load, t, only.checked)));
    return true;
  };
  return { id: "comparison", title: "Comparison", element, update };
}

// measured says how much the figures of a load stand on.
function measured(m: Sides, load: Load): string {
  const each = (load.sides ?? []).map((s) => {
    const n = (s.stages ?? []).filter((i) => i >= 0).length;
    return `${m.short(s.side)} ${load.same_load ? "" : `(${s.load}) `}${plural(s.ok, "request")}${s.failed > 0 ? ` and ${plural(s.failed, "failure")}` : ""}${n > 1 ? ` in ${n} runs` : ""}`;
  });
  return `${load.name}: ${each.join("; ")}.`;
}

// counted are the words of a table in figures.
export function counted(t: Table): string {
  const n = (word: string) => (t.rows ?? []).filter((r) => r.verdict === word).length;
  const parts = ([["better", "better"], ["worse", "worse"], ["differs", "different"]] as const).flatMap(([word, said]) => (n(word) > 0 ? [`${n(word)} ${said}`] : []));
  const found = parts.length > 0 ? parts.join(", ") + `; no difference found in ${n("none found")}` : `no difference found in ${n("none found")}`;
  return found + (n("not known") > 0 ? `; ${n("not known")} not known` : "");
}

function sheet(m: Sides, load: Load, t: Table, only: boolean): (HTMLElement | null)[] {
  const [a, b] = [m.short(0), m.short(t.side)];
  const all = t.rows ?? [];
  const rows = only ? all.filter((r) => ["better", "worse", "differs"].includes(r.verdict)) : all;
  const most = reachOf(all);
  const title = `${b} against ${a}`;
  return [
    h("h3", { class: "sheet-title" }, title),
    h("p", { class: "quiet" }, `${plural(all.length, "figure")}: ${counted(t)}.` + (t.firm < t.found ? ` ${t.firm} of the ${t.found} differences stand after the correction for so many comparisons.` : "") + (t.longer ? " " + t.longer : "")),
    (t.doubts ?? []).length > 0 ? h("ul", { class: "doubts" }, ...(t.doubts ?? []).map((d) => h("li", {}, d))) : null,
    rows.length === 0 ? h("p", { class: "quiet" }, "None.") : h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": title + ", " + load.name }, h("table", { class: "sheet" }, head(m, t.side, most), h("tbody", {}, ...lines(rows, most)))),
  ];
}

function head(m: Sides, other: number, most: number): HTMLElement {
  const side = (of: number) => h("th", { scope: "col", class: "number side-name" }, h("i", { class: "swatch points " + (m.all[of]?.tone ?? "") }), " ", m.short(of));
  const end = trimZeros((most * 100).toFixed(1));
  return h("thead", {}, h("tr", {},
    h("th", { scope: "col" }, "Figure"), h("th", { scope: "col" }, h("span", { class: "unseen" }, "Statistic")), h("th", { scope: "col", class: "unit" }, "Unit"), side(0), side(other),
    h("th", { scope: "col", class: "number" }, "Difference"), h("th", { scope: "col" }, "Result"), h("th", { scope: "col", class: "number" }, `${share(m.doc.confidence)} interval`),
    h("th", { scope: "col", class: "scale" }, h("span", { class: "unseen" }, "Difference drawn, from"), h("div", {}, h("span", {}, `−${end} %`), h("span", {}, "0"), h("span", {}, `+${end} %`))),
    h("th", { scope: "col", class: "number" }, "p")));
}

// lines are the rows, those of a metric together.
function lines(rows: Row[], most: number): HTMLElement[] {
  return rows.map((r, i) => {
    const scale = scaleFor(r.unit, r.a?.value ?? r.b?.value ?? 0);
    const first = rows[i - 1]?.metric !== r.metric;
    const span = first ? rows.slice(i).findIndex((x) => x.metric !== r.metric) : 0;
    const figure = (f: Figure | undefined) => h("td", { class: "number" }, f === undefined ? "–" : inScale(scale, f.value), f?.spread && f.value !== 0 ? h("span", { class: "spread" }, ` ± ${share(f.spread.std / Math.abs(f.value))}`) : null);
    return h("tr", { class: first ? "begins" : undefined },
      first && h("th", { scope: "rowgroup", rowspan: span < 0 ? rows.length - i : span }, r.name), h("td", { class: "stat" }, r.stat === "avg" ? "average" : r.stat), h("td", { class: "unit" }, scale.unit.replace(/^(requests|tokens)\/sec$/, "/s")),
      figure(r.a), figure(r.b),
      h("td", { class: "number strong " + tone(r) }, difference(r)), h("td", { class: "result" }, ...result(r)), h("td", { class: "number" }, interval(r)), h("td", { class: "scale" }, bar(r, most)),
      h("td", { class: "number" }, chance(r.difference?.p)));
  });
}

const signed = (v: number, text: string): string => (v > 0 ? "+" + text : v < 0 ? "−" + text : text);

// relative writes a share of the first side's figure with its sign, as the console does.
export function relative(v: number): string {
  const p = Math.abs(v) * 100;
  return p < 0.005 ? "0 %" : signed(v, group(fixed(p, p >= 100 ? 0 : p >= 1 ? 1 : 2)) + " %");
}

function difference(r: Row): string {
  const d = r.difference;
  if (!d) return "–";
  return d.relative !== undefined ? relative(d.relative) : signed(d.value, value(Math.abs(d.value), r.unit));
}

function interval(r: Row): string {
  const i = r.difference?.interval;
  if (!i) return "–";
  if (i.relative_lo !== undefined && i.relative_hi !== undefined) return `${relative(i.relative_lo)} to ${relative(i.relative_hi)}`;
  return `${signed(i.lo, value(Math.abs(i.lo), r.unit))} to ${signed(i.hi, value(Math.abs(i.hi), r.unit))}`;
}

const chance = (p: number | undefined): string => (p === undefined ? "–" : p < 0.0005 ? "< 0.001" : p.toFixed(3));

function result(r: Row): (HTMLElement | null)[] {
  const word = r.verdict === "none found" ? "no difference found" : r.verdict;
  return [h("span", { class: "badge " + tone(r) }, word + (r.may_be_chance ? "?" : "")), r.may_be_chance ? h("span", { class: "aside" }, "may be chance") : null, r.why ? h("span", { class: "aside" }, r.why) : null];
}
