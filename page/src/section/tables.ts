// All figures of a stage, as the console prints them.
import { h, refresh } from "../dom";
import type { Stage, Stat } from "../document";
import { count, failureName, figureOf, inScale, leastText, plural, scaleFor, seconds, share, value, words } from "../format";
import type { Model } from "../model";
import { costs, labelOf, percentiles, rates, spreads, type Row } from "../names";
import { errorBar, legend, note, precision } from "./precision";
import { frame, type Section } from "./section";

export function tables(): Section {
  const box = h("div");
  const element = frame("figures-all", "All figures", "", box);
  return { id: "figures-all", title: "Figures", element, update: (m: Model, state) => {
    const stage = m.stages[state.stage];
    if (!stage) return false;
    refresh(box, h("p", { class: "lead" }, counted(stage)), spreadTable(stage), rateTable(stage), objectives(stage), failures(stage), client(stage), precision(stage), counting(stage));
    return true;
  } };
}

export function counted(stage: Stage): string {
  const c = stage.counts;
  let t = `${plural(c.sent, "request")} in ${seconds(stage.window.end_s - stage.window.begin_s)}: ${count(c.ok)} ok`;
  if (c.failed > 0) t += `, ${count(c.failed)} failed`;
  if (c.cut_off > 0) t += ` (${count(c.cut_off)} of them cut off)`;
  if (c.user_cancelled) t += `, ${count(c.user_cancelled)} cancelled by their users`;
  if (c.warmup > 0) t += `; before that ${plural(c.warmup, "warm-up request")}`;
  t += ".";
  if (c.scheduled) t += ` ${count(c.scheduled)} scheduled, ${count(c.waited ?? 0)} of them waited for a slot, ${count(c.unsent ?? 0)} never sent.`;
  return t;
}

function scroll(name: string, table: HTMLElement): HTMLElement {
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, table);
}

function headRow(...titles: string[]): HTMLElement {
  return h("thead", {}, h("tr", {}, ...titles.map((t, i) => (t === "" ? h("td") : h("th", { scope: "col", class: i === 0 || t === "Unit" ? undefined : "number" }, t)))));
}

function known(metrics: Record<string, Stat>, rows: Row[], samples: boolean): Row[] {
  const named = rows.filter((r) => metrics[r.metric] && (metrics[r.metric]?.p50 !== undefined) === samples);
  const rest = Object.keys(metrics).sort().filter((k) => ![...spreads, ...rates, ...costs].some((r) => r.metric === k) && (metrics[k]?.p50 !== undefined) === samples);
  return [...named, ...rest.map((metric) => ({ metric, label: words(metric) }))];
}

function spreadTable(stage: Stage): HTMLElement | null {
  const rows = known(stage.metrics, spreads, true);
  if (rows.length === 0) return null;
  let thin = false;
  const body = rows.map((r) => {
    const m = stage.metrics[r.metric] as Stat;
    const scale = scaleFor(m.unit, m.avg);
    return h("tr", {}, h("th", { scope: "row" }, r.label), h("td", { class: "unit" }, r.unit ?? scale.unit), h("td", { class: "number strong" }, figureOf(scale, m, "avg", m.avg), note(m, "avg")),
      ...percentiles.map((p) => { const few = m.thin?.includes(p) ?? false; thin ||= few; return h("td", { class: "number" + (few ? " thin" : "") }, figureOf(scale, m, p, m[p] ?? NaN), p === "min" || p === "max" ? null : note(m, p)); }),
      h("td", { class: "number" }, figureOf(scale, m, "std", m.std ?? NaN)), h("td", { class: "number quiet" }, errorBar(m, "avg")), h("td", { class: "number quiet" }, m.count ? count(m.count) : ""));
  });
  const table = h("table", { class: "figures-table" }, headRow("Metric", "Unit", "avg", ...percentiles, "std", "error bar", "samples"), h("tbody", {}, ...body));
  const sampled = rows.some((r) => stage.metrics[r.metric]?.intervals);
  return h("div", {}, scroll("Latencies and lengths", table), sampled && h("p", { class: "quiet" }, legend), thin && h("p", { class: "quiet" }, "~ too few samples for this percentile: likely to vary between runs."),
    rows.some((r) => stage.metrics[r.metric]?.at_least) && h("p", { class: "quiet" }, leastText));
}

function rateTable(stage: Stage): HTMLElement | null {
  const rows = known(stage.metrics, rates, false);
  if (rows.length === 0) return null;
  const steady = stage.steady?.metrics ?? {};
  const body = rows.map((r) => {
    const m = stage.metrics[r.metric] as Stat;
    const scale = scaleFor(m.unit, m.avg);
    const also = steady[r.metric];
    return h("tr", {}, h("th", { scope: "row" }, r.label), h("td", { class: "unit" }, scale.unit), h("td", { class: "number strong" }, inScale(scale, m.avg), note(m, "avg")), h("td", { class: "number quiet" }, errorBar(m, "avg")), h("td", { class: "number" }, also ? inScale(scale, also.avg) : "", also ? note(also, "avg") : null), h("td", { class: "number quiet" }, also ? errorBar(also, "avg") : ""));
  });
  const s = stage.steady;
  return h("div", {}, scroll("Rates", h("table", { class: "narrow" }, headRow("Rate", "Unit", "whole stage", "error bar", "steady", "error bar"), h("tbody", {}, ...body))),
    s && h("p", { class: "quiet" }, `Steady window: ${seconds(s.window.begin_s)} to ${seconds(s.window.end_s)} of the run, ${plural(s.counts.sent, "request")}.`));
}

function objectives(stage: Stage): HTMLElement | null {
  const all = stage.goodput ?? [];
  if (all.length === 0) return null;
  const body = all.map((g) => h("tr", {}, h("th", { scope: "row" }, `${labelOf(g.metric)} ≤ ${value(g.max_ms, "ms")}`), h("td", { class: "number" }, count(g.met)), h("td", { class: "number" }, count(g.of)), h("td", { class: "number strong" }, g.of > 0 ? share(g.met / g.of) : "–")));
  return scroll("Objectives", h("table", { class: "narrow" }, headRow("Objective", "met by", "of", "share"), h("tbody", {}, ...body)));
}

function failures(stage: Stage): HTMLElement | null {
  const all = stage.failures ?? [];
  if (all.length === 0) return null;
  const body = all.map((f) => h("tr", {}, h("th", { scope: "row" }, failureName(f.class, f.status)), h("td", { class: "number" }, count(f.count)), h("td", { class: "example" }, f.example.slice(0, 400))));
  return scroll("Failures", h("table", {}, h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Failure"), h("th", { scope: "col", class: "number" }, "requests"), h("th", { scope: "col" }, "example"))), h("tbody", {}, ...body)));
}

// client says what this program's own part in the figures was.
function client(stage: Stage): HTMLElement | null {
  const names: Row[] = [{ metric: "lag", label: "send lag" }, { metric: "slot_wait", label: "waited for a slot" }, { metric: "dispatch_delay", label: "client delay" }, { metric: "read_delay", label: "read delay" }, { metric: "connect_time", label: "connect" }, { metric: "tls_time", label: "TLS" }];
  const texts = names.flatMap((r) => {
    const m = stage.metrics[r.metric];
    if (!m || m.p50 === undefined) return [];
    const high = m.thin?.includes("p99") ? "max" : "p99";
    return [`${r.label} p50 ${value(m.p50, m.unit)}, ${high} ${value(m[high] ?? NaN, m.unit)}`];
  });
  return texts.length > 0 ? h("p", { class: "quiet" }, h("strong", {}, "Client "), texts.join("; ") + ".") : null;
}

function counting(stage: Stage): HTMLElement {
  const of = (sources: Record<string, number> | null) => Object.entries(sources ?? {}).map(([k, n]) => `${k} (${plural(n, "request")})`).join(", ") || "nobody";
  return h("p", { class: "quiet" }, h("strong", {}, "Tokens "), `output counted by ${of(stage.tokens.output_sources)}; input by ${of(stage.tokens.input_sources)}; tokenizer ${stage.tokens.tokenizer || "none"}.`);
}
