// What the servers' own metrics say of the chosen stage.
import { h, refresh } from "../dom";
import type { Bucket, Figure, Server, ServerModel, ServerTime, Service } from "../document";
import { count, inScale, scaleFor, share, words } from "../format";
import type { Model } from "../model";
import { serviceNames } from "../names";
import { frame, type Section } from "./section";

export function server(): Section {
  const box = h("div");
  const element = frame("server", "Server metrics", "What the servers report of themselves for this stage, summed over all of them, warm-up included.", box);
  return { id: "server", title: "Server", element, update: (m: Model, state) => {
    const stage = m.stages[state.stage];
    const all = (stage?.services ?? []).filter((s) => (s.figures ?? []).length > 0);
    const counted = stage?.server ? statistics(stage.server) : [];
    refresh(box, ...all.flatMap((s) => [table(s), ...apart(s)]), ...counted);
    return all.length + counted.length > 0;
  } };
}

function table(s: Service, of = ""): HTMLElement {
  const figures = s.figures ?? [];
  const known = serviceNames.flatMap((n) => { const f = figures.find((x) => x.name === n.metric); return f ? [row(n.label, f)] : []; });
  const unit: Record<string, string> = { s: ", ms", bytes: ", GiB" };
  const rest = figures.filter((f) => !serviceNames.some((n) => n.metric === f.name)).map((f) => row((f.metric || words(f.name)) + (unit[f.unit ?? ""] ?? ""), f));
  const from = of || (s.source === "prometheus" ? "Queried from Prometheus" : "Scraped from the servers");
  const head = ["total", "per s", "avg", "p50", "p90", "p99", "max"];
  const estimated = figures.some((f) => f.kind === "histogram" && !f.within && f.median !== undefined);
  const ranged = figures.some((f) => f.within);
  const table = h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Server metrics, " + from.toLowerCase() }, h("table", {}, h("caption", {}, from), h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Metric"), ...head.map((t) => h("th", { scope: "col", class: "number" }, t)))), h("tbody", {}, ...known, ...rest)));
  return h("div", {}, table, estimated && h("p", { class: "quiet" }, "≈ estimated: the server reports a histogram, so a percentile is known only to lie within a bucket. Its average is exact."),
    ranged && h("p", { class: "quiet" }, "A percentile given as a range: the server reports a histogram, and the value lies within that bucket."));
}

// apart are the workers of each role and the servers of each page, where there are several.
function apart(s: Service): HTMLElement[] {
  return (s.parts ?? []).filter((p) => !p.gpu).map((p) => table({ source: s.source, figures: p.figures }, p.role ? words(p.role) + " workers" : p.page));
}

function row(label: string, f: Figure): HTMLElement {
  const values = [f.total, f.rate, f.mean, f.median, f.p90, f.p99, f.max];
  const within = f.within ? [f.within.median, f.within.p90, f.within.p99] : [];
  return h("tr", {}, h("th", { scope: "row" }, label), ...values.map((v, i) => { const b = within[i - 3]; return b ? h("td", { class: "number" }, bucket(b, f.unit ?? "")) : h("td", { class: "number" }, v === undefined || v === null ? "" : i === 0 && Number.isInteger(v) ? count(v) : (f.kind === "histogram" && i > 2 ? "≈ " : "") + written(v, f.kind === "histogram" && i < 2 ? "" : (f.unit ?? ""))); }));
}

// bucket is the range that a percentile of a histogram lies in.
function bucket(b: Bucket, unit: string): string {
  if (b.up_to === undefined || b.up_to === null) return "> " + written(b.above, unit);
  return `${written(b.above, unit)}–${written(b.up_to, unit)}`;
}

function written(v: number, unit: string): string {
  if (unit === "ratio") return share(v);
  if (unit === "s") return inScale(scaleFor("", v * 1e3), v * 1e3) /* the row says ms */;
  if (unit === "bytes") return (v / 2 ** 30).toFixed(1);
  return inScale(scaleFor("", v), v);
}

// statistics are what Triton counts, each model above those that it is made of.
function statistics(s: Server): HTMLElement[] {
  if (s.restarted) return [h("p", { class: "warn" }, "Restarted or replaced during the run: " + s.restarted)];
  const out: HTMLElement[] = [];
  const rows = (models: ServerModel[], depth: number): HTMLElement[] => models.flatMap((m) => [modelRow(m, depth), ...rows(m.composing ?? [], depth + 1)]);
  if (s.models && s.models.length > 0) out.push(box("Server statistics, from idle to drained; average times in ms", ["Model", "OK", "Failed", "Batch", "Latency", "Queue", "Input", "Infer", "Output", "Overhead"], rows(s.models, 0)));
  const gib = (v: number) => (v / 2 ** 30).toFixed(1);
  if (s.gpus && s.gpus.length > 0) {
    out.push(box("GPUs", ["GPU", "busy", "power, W", "memory, GiB", "of"], s.gpus.map((g) => h("tr", {}, h("th", { scope: "row" }, g.uuid), ...[share(g.utilization), inScale(scaleFor("W", g.power_watts), g.power_watts), gib(g.memory_used_bytes), gib(g.memory_total_bytes)].map((t) => h("td", { class: "number" }, t))))));
  }
  return out;
}

function box(name: string, head: string[], rows: HTMLElement[]): HTMLElement {
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": name }, h("table", {}, h("caption", {}, name), h("thead", {}, h("tr", {}, ...head.map((t, i) => h("th", { scope: "col", class: i > 0 ? "number" : undefined }, t)))), h("tbody", {}, ...rows)));
}

function modelRow(m: ServerModel, depth: number): HTMLElement {
  const name = "\u2003".repeat(depth) + m.name + (m.version ? " v" + m.version : "");
  const times = [m.success, m.queue, m.compute_input, m.compute_infer, m.compute_output, { count: m.success.count, avg_ms: m.overhead_ms }];
  const cells = [count(m.success.count), count(m.failed.count), m.executions > 0 ? (m.inferences / m.executions).toFixed(2) : "", ...times.map(average)];
  return h("tr", {}, h("th", { scope: "row" }, name), ...cells.map((t) => h("td", { class: "number" }, t)));
}

const average = (t: ServerTime): string => (t.count === 0 ? "" : t.avg_ms.toFixed(t.avg_ms >= 1000 ? 0 : t.avg_ms >= 100 ? 1 : t.avg_ms >= 10 ? 2 : 3));
