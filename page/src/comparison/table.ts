// The comparison itself: every figure of both sides with its difference.
import { h, refresh } from "../dom";
import { count, fixed, group, inScale, plural, type Scale, scaleFor, share, trimZeros } from "../format";
import { frame, type Section, type State } from "../section/section";
import { apart, bar, reachOf, tone } from "./bar";
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
    return `${m.short(s.side)} ${load.same_load ? "" : `(${s.load}) `}${plural(s.ok, "request")}${s.failed > 0 ? ` and ${plural(s.failed, "failure")}` : ""}${s.user_cancelled ? `, ${count(s.user_cancelled)} cancelled by their users` : ""}${n > 1 ? ` in ${n} runs` : ""}`;
  });
  return `${load.name}: ${each.join("; ")}.`;
}

function sheet(m: Sides, load: Load, t: Table, only: boolean): (HTMLElement | null)[] {
  const [a, b] = [m.short(0), m.short(t.side)];
  const all = t.rows ?? [];
  const rows = only ? all.filter((r) => ["better", "worse", "differs"].includes(r.verdict)) : all;
  const most = reachOf(all);
  const title = `${b} against ${a}`;
  return [
    h("h3", { class: "sheet-title" }, title),
    h("p", { class: "quiet" }, [t.headline, t.prompts !== undefined && `Both sides answered the same ${plural(t.prompts, "prompt")}: differences are those prompt by prompt.`, t.longer].filter(Boolean).join(" ")),
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
    const figure = (f: Figure | undefined) => h("td", { class: "number" }, f === undefined ? "–" : (f.at_least ? "≥ " : "") + inScale(scale, f.value), f?.spread && f.value !== 0 ? h("span", { class: "spread" }, ` ± ${share(f.spread.std / Math.abs(f.value))}`) : null);
    return h("tr", { class: first ? "begins" : undefined },
      first && h("th", { scope: "rowgroup", rowspan: span < 0 ? rows.length - i : span }, r.name), h("td", { class: "stat" }, r.stat === "avg" ? "average" : r.stat), h("td", { class: "unit" }, scale.unit.replace(/^(requests|tokens)\/sec$/, "/s")),
      figure(r.a), figure(r.b),
      h("td", { class: "number strong " + tone(r) }, difference(r, scale)), h("td", { class: "result" }, ...result(r)), h("td", { class: "number" }, interval(r, scale)), h("td", { class: "scale" }, bar(r, most)),
      h("td", { class: "number" }, chance(r.difference?.p)));
  });
}

// percent writes a number of per cent with its sign, as the console does.
function percent(share: number): string {
  const p = Math.abs(share) * 100;
  return p < 0.005 ? "0" : (share < 0 ? "−" : "+") + group(fixed(p, p >= 100 ? 0 : p >= 1 ? 1 : 2));
}

export const relative = (v: number): string => percent(v) + " %";

// absolute writes a difference in the unit of its row.
const absolute = (v: number, scale: Scale): string => (v < 0 ? "−" : v > 0 ? "+" : "") + inScale(scale, Math.abs(v));

function difference(r: Row, scale: Scale): string {
  const [d, a] = [r.difference, apart(r)];
  if (!d) return "–";
  return a ? `${percent(a.value)} ${a.unit}` : `${absolute(d.value, scale)} ${scale.unit}`.trim();
}

function interval(r: Row, scale: Scale): string {
  const [i, a] = [r.difference?.interval, apart(r)];
  if (!i) return "–";
  if (a?.lo !== undefined && a.hi !== undefined) return `${percent(a.lo)} to ${percent(a.hi)} ${a.unit}`;
  return `${absolute(i.lo, scale)} to ${absolute(i.hi, scale)} ${scale.unit}`.trim();
}

const chance = (p: number | undefined): string => (p === undefined ? "–" : p < 0.0005 ? "< 0.001" : p.toFixed(3));

function result(r: Row): (HTMLElement | null)[] {
  const word = r.verdict === "none found" ? "no difference found" : r.verdict;
  if (r.reason === "too few requests to say") return [h("span", { class: "badge " + tone(r), title: r.reason }, word)]; // the sentence above says so
  return [h("span", { class: "badge " + tone(r) }, word + (r.may_be_chance ? "?" : "")), r.may_be_chance ? h("span", { class: "aside" }, "may be chance") : null, r.reason ? h("span", { class: "aside" }, r.reason) : null];
}
