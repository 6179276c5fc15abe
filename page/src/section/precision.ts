// How well figures are known by so few requests, whatever they are measured with.
import { h } from "../dom";
import type { Stage, Stat } from "../document";
import { plural, plusMinus, value } from "../format";
import { labelOf } from "../names";

export type Statistic = "avg" | "p1" | "p5" | "p10" | "p25" | "p50" | "p75" | "p90" | "p95" | "p99" | "p99.9";

// off is by how much a statistic can be off at most: nothing where that is not known.
export function off(m: Stat, name: Statistic): number | undefined {
  const bar = m.error?.[name];
  const v = m[name];
  return bar && v !== undefined ? Math.max(v - bar.lo, bar.hi - v, 0) : undefined;
}

// errorBar is that as text; "" where it is not known.
export function errorBar(m: Stat, name: Statistic): string {
  const by = off(m, name);
  return by === undefined ? "" : "± " + value(by, m.unit);
}

// within is half the width of the interval of a statistic, as a share of it: "" where it has none.
export function within(m: Stat, name: string): string {
  if (!m.intervals || m.at_least?.includes(name)) return "";
  const at = m.intervals[name];
  const v = m[name as Statistic];
  if (!at || !v) return "±?";
  return plusMinus((at.hi - at.lo) / 2 / v);
}

export const unknown = "not known: too few requests";

// interval says between what a statistic lies.
export function interval(m: Stat, name: string): string {
  const at = m.intervals?.[name];
  return "95 % confidence interval (sampling): " + (at ? `${value(at.lo, m.unit)} to ${value(at.hi, m.unit)}` : unknown);
}

// note is that as a small text behind a figure; nothing where it has none.
export function note(m: Stat, name: string, before = ""): HTMLElement | null {
  const text = within(m, name);
  return text === "" ? null : h("small", { class: "within", title: interval(m, name) }, before + text);
}

// precision says it in words of the figure that most people read first.
export function precision(stage: Stage): HTMLElement | null {
  for (const id of ["time_to_first_token", "request_latency"]) {
    const m = stage.metrics[id];
    if (!m || m.p50 === undefined || !m.intervals || m.at_least?.includes("avg")) continue;
    const of = plural(m.count ?? 0, "request");
    let text = m.error ? `measured to ±${value(off(m, "avg") ?? 0, m.unit)}; ` : "";
    text += m.intervals["avg"] ? `with ${of} the average is known to ${within(m, "avg")}` : `${of} are too few to say how well the average is known`;
    if (m.intervals["p99"] && !m.thin?.includes("p99")) text += `, p99 to ${within(m, "p99")}`;
    return h("p", { class: "quiet" }, h("strong", {}, "Precision "), `${labelOf(id)}: ${text}.`);
  }
  return null;
}

export const legend = `± half the 95 % confidence interval (sampling); ±? ${unknown}.`;
