// The figures that matter, with their spread and error bars, and what came of the requests.
import { h, replace, s, text } from "../dom";
import type { Stage, Stat } from "../document";
import { count, failureName, figureOf, inScale, leastText, scaleFor, value } from "../format";
import { attained, stageTitle } from "../model";
import { labelOf } from "../names";
import { errorBar, interval, note, off, within } from "./precision";
import type { Section } from "./section";
import { verdictBadge } from "./verdict";

const wanted = ["time_to_first_token", "inter_token_latency", "request_latency", "output_token_throughput", "request_throughput",
  "request_goodput", "total_token_throughput", "concurrency", "input_token_throughput"];

export function figures(): Section {
  const box = h("div", { class: "figures" });
  const heading = h("h2");
  const element = h("div", { class: "figures-box" }, heading, box);
  return { id: "figures", title: "Figures", element, update: (m, state) => {
    const stage = m.stages[state.stage];
    if (!stage) { box.replaceChildren(); return false; }
    text(heading, m.stages.length > 1 ? `Stage ${stageTitle(stage)}` : "Figures");
    const badge = m.doc.live ? null : verdictBadge(stage.verdict ?? m.doc.result.verdict);
    if (badge) heading.append(" ", badge);
    replace(box, ...(stage.counts.ok > 0 ? wanted.filter((w) => stage.metrics[w]).slice(0, 5).map((w) => card(w, stage)) : []), outcomes(stage));
    return true;
  } };
}

function card(metric: string, stage: Stage): HTMLElement {
  const m = stage.metrics[metric] as Stat;
  const scale = scaleFor(m.unit, m.avg);
  const spread = m.p50 !== undefined;
  const error = (off(m, "avg") ?? 0) > 0 ? errorBar(m, "avg").replace(/ (requests|tokens)\/sec$/, "") : "";
  const unit = /\/sec$/.test(m.unit) ? "/s" : scale.unit;
  return h("div", { class: "figure" },
    h("h3", {}, labelOf(metric)),
    h("p", { class: "big" }, h("span", { title: m.at_least?.includes("avg") ? leastText : undefined }, figureOf(scale, m, "avg", m.avg)), unit !== "/s" && h("span", { class: "unit" }, " " + unit)),
    h("p", { class: "quiet" }, (spread ? "average" : "whole stage") + (error ? " " + error : ""), within(m, "avg") !== "±?" && note(m, "avg", "sampling ")),
    spread ? strip(m) : null,
    spread ? percentiles(m) : beside(metric, stage));
}

// outcomes are how many requests were answered, and how many were not and why.
function outcomes(stage: Stage): HTMLElement {
  const c = stage.counts;
  const answered = stage.metrics["request_throughput"];
  const rows: [string, string][] = [];
  if (stage.rate) rows.push(["requested", value(stage.rate, "") + "/s"]);
  if (stage.rate && answered) rows.push(["answered", inScale(scaleFor(answered.unit, answered.avg), answered.avg) + "/s"]);
  for (const f of (stage.failures ?? []).slice(0, 3)) rows.push([failureName(f.class, f.status), count(f.count)]);
  if (c.cut_off > 0) rows.push(["cut off", count(c.cut_off)]);
  if (c.user_cancelled) rows.push(["cancelled by users", count(c.user_cancelled)]);
  if (c.unsent) rows.push(["never sent", count(c.unsent)]);
  return h("div", { class: "figure" },
    h("h3", {}, "Requests"), h("p", { class: "big" }, count(c.ok), h("span", { class: "unit" }, " ok")),
    h("p", { class: c.failed > 0 ? "failures" : "quiet" }, c.failed > 0 ? `${count(c.failed)} failed` : "none failed"), h("dl", { class: "few tall" }, ...rows.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v)))));
}

function percentiles(m: Stat): HTMLElement {
  const scale = scaleFor(m.unit, m.avg);
  return h("dl", { class: "few" }, ...(["p50", "p90", "p99"] as const).flatMap((p) => {
    const thin = m.thin?.includes(p);
    return [h("div", {}, h("dt", {}, p), h("dd", { title: thin ? "too few samples for this percentile: likely to vary between runs" : m.intervals ? interval(m, p) : undefined }, figureOf(scale, m, p, m[p] ?? NaN)))];
  }));
}

// beside is what belongs to a rate: the same in the steady window, and what it is per user.
function beside(metric: string, stage: Stage): HTMLElement {
  const rows: [string, string][] = [];
  const m = stage.metrics[metric] as Stat;
  const scale = scaleFor(m.unit, m.avg);
  const steady = stage.steady?.metrics[metric];
  if (steady) rows.push(["steady", inScale(scale, steady.avg)]);
  const users = stage.metrics["output_token_throughput_per_user"];
  if (metric === "output_token_throughput" && users) rows.push(["per user", inScale(scaleFor(users.unit, users.avg), users.avg)]);
  const good = stage.metrics["request_goodput"];
  if (metric === "request_throughput" && good) rows.push(["good", inScale(scale, good.avg)]);
  const share = metric === "request_throughput" ? attained(stage) : null;
  if (share !== null) rows.push(["objectives met", value(share, "share")]);
  if (metric === "request_throughput" && stage.metrics["concurrency"]) rows.push(["in flight", inScale(scaleFor("", stage.metrics["concurrency"].avg), stage.metrics["concurrency"].avg)]);
  return h("dl", { class: "few tall" }, ...rows.map(([k, v]) => h("div", {}, h("dt", {}, k), h("dd", {}, v))));
}

// strip draws a spread: p1 to p99, the middle half, the median, the average with its error bar, and the maximum as a dot.
function strip(m: Stat): SVGElement {
  const { min = 0, max = 0, p1 = 0, p25 = 0, p50 = 0, p75 = 0, p99 = 0 } = m;
  const wide = min > 0 && max / min > 12;
  const f = wide ? Math.log : (v: number) => v;
  const [a, b] = [f(wide ? Math.max(min, 1e-9) : min), f(max)];
  const x = (v: number) => 4 + (b > a ? Math.min(Math.max((f(Math.max(v, wide ? 1e-9 : -Infinity)) - a) / (b - a), 0), 1) * 192 : 96);
  const line = (from: number, to: number, cls: string, y: number) => s("line", { class: cls, x1: x(from), x2: x(to), y1: y, y2: y });
  const bar = m.error?.["avg"] ?? { lo: m.avg, hi: m.avg };
  const bar99 = m.error?.["p99"];
  return s("svg", { class: "strip", viewBox: "0 0 200 26", preserveAspectRatio: "xMinYMid meet", role: "img", "aria-label": `Spread: minimum ${value(min, m.unit)}, median ${value(p50, m.unit)}, p99 ${value(p99, m.unit)}, maximum ${value(max, m.unit)}` + (wide ? ", on a log axis" : "") },
    line(min, max, "whisker faint", 12), line(p1, p99, "whisker", 12),
    s("rect", { class: "box", x: x(p25), y: 6, width: Math.max(1.5, x(p75) - x(p25)), height: 12, rx: 2 }),
    s("line", { class: "median", x1: x(p50), x2: x(p50), y1: 4, y2: 20 }),
    s("line", { class: "whisker", x1: x(p99), x2: x(p99), y1: 8, y2: 16 }),
    s("circle", { class: "extreme", cx: x(max), cy: 12, r: 2 }),
    line(bar.lo, bar.hi, "error", 23), s("circle", { class: "average", cx: x(m.avg), cy: 23, r: 2 }),
    wide && s("text", { class: "scale", x: 200, y: 5, "text-anchor": "end" }, "log"),
    bar99 && bar99.hi > bar99.lo && line(bar99.lo, bar99.hi, "error", 23));
}
