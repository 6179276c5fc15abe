// Stages side by side, and which of them met the objectives.
import { h, refresh } from "../dom";
import type { Stage, Stat } from "../document";
import { count, figureOf, scaleFor, share, value } from "../format";
import { attained, type Model } from "../model";
import { labelOf } from "../names";
import { verdictBadge } from "./verdict";
import type { Section } from "./section";

// enough is which part of a level's requests must meet the objectives for the level to meet them.
export const enough = 0.99;

export function sideBySide(choose: (stage: number) => void): Section {
  const box = h("div", { class: "side-by-side" });
  const update = (m: Model, state: { stage: number }) => {
    if (m.stages.length < 2) return false;
    refresh(box, h("h2", {}, "Stages side by side"), summary(m), table(m, state.stage, choose));
    return true;
  };
  return { id: "stages", title: "Stages", element: box, update };
}

export const met = (s: Stage): boolean | null => { const a = attained(s); return a === null ? null : a >= enough; };

function summary(m: Model): HTMLElement | null {
  if (!m.hasObjectives) return null;
  const wants = (m.stages.find((s) => s.goodput?.length)?.goodput ?? []).map((g) => `${labelOf(g.metric).toLowerCase()} ≤ ${value(g.max_ms, "ms")}`).join(" and ");
  const good = m.stages.filter((s) => met(s));
  const text = good.length === 0 ? `No stage met the objectives` : good.length === m.stages.length ? `All ${good.length} stages met the objectives` : `${good.length} of ${m.stages.length} stages met the objectives`;
  return h("p", { class: "lead" }, `${text} (${wants}, for at least ${share(enough)} of the requests)` + (good.length > 0 && good.length < m.stages.length ? `: ${good.map((s) => s.load).join("; ")}.` : "."));
}

const cells: [metric: string, stat: "avg" | "p50" | "p99"][] = [["request_throughput", "avg"], ["output_token_throughput", "avg"], ["time_to_first_token", "p50"], ["time_to_first_token", "p99"], ["inter_token_latency", "p50"], ["inter_token_latency", "p99"], ["request_latency", "p50"], ["request_latency", "p99"]];
const short: Record<string, string> = { request_throughput: "Answered/s", output_token_throughput: "Output tokens/s", time_to_first_token: "TTFT", inter_token_latency: "ITL", request_latency: "Latency" };

// figureColumns are the columns of figures that any of those beside each other has.
export function figureColumns(all: { metrics: Record<string, Stat> }[]): { titles: string[]; cells: (of: { metrics: Record<string, Stat> }) => HTMLElement[] } {
  const used = cells.filter(([k]) => all.some((s) => s.metrics[k]));
  // A column has one unit, that of its greatest average.
  const scales = used.map(([k]) => {
    const top = all.flatMap((s) => (s.metrics[k] ? [s.metrics[k]] : [])).reduce((a, b) => (b.avg > a.avg ? b : a));
    return scaleFor(top.unit, top.avg);
  });
  const unit = (i: number) => (/\/s/.test(short[used[i]?.[0] ?? ""] ?? "") ? "" : `, ${scales[i]?.unit ?? ""}`);
  return {
    titles: used.map(([k, p], i) => `${short[k]}${p === "avg" ? "" : " " + p}${unit(i)}`),
    cells: (of) => used.map(([k, p], c) => { const v = of.metrics[k]; const thin = v?.thin?.includes(p) ?? false; return h("td", { class: "number" + (thin ? " thin" : "") }, v && v[p] !== undefined ? figureOf(scales[c] as ReturnType<typeof scaleFor>, v, p, v[p] as number) : ""); }),
  };
}

function table(m: Model, chosen: number, choose: (stage: number) => void): HTMLElement {
  const figures = figureColumns(m.stages);
  const judged = !m.doc.live && Boolean(m.doc.result.verdict.summary);
  const requested = m.stages.some((s) => s.rate);
  const head = ["Stage", "Load", ...(judged ? ["Verdict"] : []), "OK", "Failed", ...(requested ? ["Requested/s"] : []), ...figures.titles, ...(m.hasObjectives ? ["Objectives met"] : [])];
  const rows = m.stages.map((s, i) => {
    const select = h("button", { type: "button", class: "link", "aria-pressed": i === chosen ? "true" : "false", title: "Show this stage's figures" }, String(s.index + 1));
    select.addEventListener("click", () => choose(i));
    const share0 = attained(s);
    return h("tr", { class: i === chosen ? "active" : undefined }, h("th", { scope: "row" }, select), h("td", {}, s.load), judged && h("td", {}, verdictBadge(s.verdict)), h("td", { class: "number" }, count(s.counts.ok)), h("td", { class: "number" + (s.counts.failed > 0 ? " bad" : "") }, count(s.counts.failed)),
      requested && h("td", { class: "number" }, s.rate ? value(s.rate, "") : ""), ...figures.cells(s),
      m.hasObjectives && h("td", { class: "number" }, share0 === null ? "" : share(share0), " ", share0 !== null && h("span", { class: "badge " + (share0 >= enough ? "ok" : "over") }, share0 >= enough ? "met" : "missed")));
  });
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Stages side by side" }, h("table", {}, h("thead", {}, h("tr", {}, ...head.map((t, i) => h("th", { scope: "col", class: i > (judged ? 2 : 1) ? "number" : undefined }, t)))), h("tbody", {}, ...rows)));
}
