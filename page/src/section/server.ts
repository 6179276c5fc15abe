// What the servers' own metrics say of the chosen stage.
import { h, refresh } from "../dom";
import type { Figure, Service } from "../document";
import { count, inScale, scaleFor, share, words } from "../format";
import type { Model } from "../model";
import { serviceNames } from "../names";
import { frame, type Section } from "./section";

export function server(): Section {
  const box = h("div");
  const element = frame("server", "Server metrics", "Summed over all servers, warm-up included.", box);
  return { id: "server", title: "Server", element, update: (m: Model, state) => {
    const all = (m.stages[state.stage]?.services ?? []).filter((s) => (s.figures ?? []).length > 0);
    refresh(box, ...all.map(table));
    return all.length > 0;
  } };
}

function table(s: Service): HTMLElement {
  const figures = s.figures ?? [];
  const known = serviceNames.flatMap((n) => { const f = figures.find((x) => x.name === n.metric); return f ? [row(n.label, f)] : []; });
  const rest = figures.filter((f) => !serviceNames.some((n) => n.metric === f.name)).map((f) => row(f.metric || words(f.name), f));
  const from = s.source === "prometheus" ? "Queried from Prometheus" : "Scraped from the servers";
  const head = ["total", "per s", "avg", "p50", "p90", "p99", "max"];
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Server metrics, " + from.toLowerCase() }, h("table", {}, h("caption", {}, from), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Metric"), ...head.map((t) => h("th", { scope: "col", class: "number" }, t)))), h("tbody", {}, ...known, ...rest)));
}

function row(label: string, f: Figure): HTMLElement {
  const values = [f.total, f.rate, f.mean, f.median, f.p90, f.p99, f.max];
  return h("tr", {}, h("th", { scope: "row" }, label), ...values.map((v, i) => h("td", { class: "number" }, v === undefined || v === null ? "" : i === 0 && Number.isInteger(v) ? count(v) : written(v, f.kind === "histogram" && i < 2 ? "" : (f.unit ?? "")))));
}

function written(v: number, unit: string): string {
  if (unit === "ratio") return share(v);
  if (unit === "s") return inScale(scaleFor("ms", v * 1e3), v * 1e3);
  if (unit === "bytes") return (v / 2 ** 30).toFixed(1);
  return inScale(scaleFor("", v), v);
}
