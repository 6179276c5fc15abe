// What was run against what, and when.
import { h, replace } from "../dom";
import { plural, seconds } from "../format";
import type { Model } from "../model";
import type { Section } from "./section";

interface Plan { name?: string; target?: { model?: string; models?: string[]; endpoint?: string; protocol?: string; urls?: string[] } }

export function head(): Section {
  const box = h("div", { class: "head" });
  return { id: "top", title: "Top", element: box, update: (m, state) => { show(box, m, state.lost ?? false); return true; } };
}

export function runTitle(m: Model): string {
  const plan = (m.doc.result.plan ?? {}) as Plan;
  return m.doc.result.name || plan.name || plan.target?.model || plan.target?.urls?.[0] || "Benchmark";
}

function show(box: HTMLElement, m: Model, lost: boolean): void {
  const r = m.doc.result;
  const target = ((r.plan ?? {}) as Plan).target ?? {};
  const urls = target.urls ?? [];
  const title = runTitle(m);
  const what = [target.model !== title ? target.model : "", [target.protocol, target.endpoint].filter(Boolean).join(" ")].filter(Boolean).join(", ");
  const loads = [...new Set(m.stages.map((s) => s.load))];
  const started = new Date(r.started);
  const when = Number.isNaN(started.valueOf()) || started.getUTCFullYear() < 1971 ? "" : started.toISOString().replace("T", " ").replace(/\.\d+Z|Z$/, " UTC");
  replace(box,
    h("p", { class: "eyebrow" }, m.doc.live ? (lost ? "Inferometer, connection lost" : "Inferometer, running") : "Inferometer report"),
    h("h1", {}, title),
    h("p", { class: "subject" }, what, what && urls.length > 0 ? " at " : "", ...urls.slice(0, 4).flatMap((u, i) => [i > 0 ? ", " : "", h("code", {}, u)]), urls.length > 4 ? ` and ${urls.length - 4} more` : ""),
    h("p", { class: "meta" }, [loads.length > 3 ? plural(m.stages.length, "stage") : loads.join(" · "), loads.length <= 3 && m.stages.length > 1 ? plural(m.stages.length, "stage") : "", seconds(r.duration_s), when ? "started " + when : "", "seed " + m.seed, r.version].filter(Boolean).join("  ·  ")),
    m.doc.headline && h("p", { class: "headline" }, m.doc.headline),
    r.interrupted && h("p", { class: "warn" }, "The run was interrupted: the figures cover what was measured until then."),
    r.incomplete && !m.doc.live && h("p", { class: "warn" }, "The run did not end properly: the figures cover the requests that were on disk."));
}
