// Requests one by one: a timeline, a table, and the events of one of them.
import { button, choice, h, id, replace, text } from "../dom";
import type { View } from "../chart/view";
import { count, plural } from "../format";
import { stageTitle, type Model } from "../model";
import { everything, Rows, type Wanted } from "../request/rows";
import { RequestTable } from "../request/table";
import { Timeline } from "../request/timeline";
import { TraceDialog } from "../request/trace";
import { frame, type Section, type State } from "./section";

const mostListed = 500;

// sessionsOf are the sessions to choose from.
const sessionsOf = (m: Model, r: Rows): [string, string][] => (r.session.some((s) => s >= 0) ? (m.doc.sessions ?? []).slice(0, mostListed).map((name, i): [string, string] => [String(i), name]) : []);

// requests tells changed when the reader has wanted others.
export function requests(view: View, changed: (w: Wanted) => void): Section {
  const about = h("p", { class: "lead" });
  const filters = h("div", { class: "tools filters", role: "group", "aria-label": "Filter requests" });
  const matched = h("p", { class: "quiet", role: "status" });
  const dialog = new TraceDialog();
  let model: Model | null = null;
  let rows: Rows | null = null;
  let wanted: Wanted = everything();
  const open = (row: number) => { if (model && rows) dialog.open(model, rows, row, table.order); };
  const timeline = new Timeline(view, open);
  const table = new RequestTable(open);
  const element = frame("requests", "Requests", "", about, filters, timeline.chart.element, matched, table.element, dialog.element);
  const select = (also: boolean) => {
    if (!rows) return;
    const chosen = rows.select(wanted);
    if (also) timeline.show(rows, chosen, (model?.stages ?? []).map((s) => (s.metrics["inter_token_latency"]?.p99 ?? 0) * 1e3));
    const inside = wanted.zoomed && view.zoomed ? rows.select({ ...wanted, span: view.span }) : chosen;
    table.show(rows, inside);
    text(matched, `${plural(inside.length, "request")} of ${count(rows.n)} shown. Click on one, or press Enter, for its events.`);
  };
  view.watch((what) => { if (what === "span" && wanted.zoomed) select(false); });
  const want = (some: Partial<Wanted>) => { wanted = { ...wanted, ...some }; select(true); changed(wanted); };
  const build = (m: Model, r: Rows) => {
    const urls = ((m.doc.result.plan ?? {}) as { target?: { urls?: string[] } }).target?.urls ?? [];
    const number = (label: string, shown: number, act: (v: number) => void) => {
      const key = id("filter");
      const input = h("input", { id: key, type: "number", min: 0, step: "any", inputmode: "decimal", placeholder: "ms", value: shown || undefined });
      input.addEventListener("input", () => act(Number(input.value) || 0));
      return h("span", { class: "choice" }, h("label", { for: key }, label), input);
    };
    const tick = (label: string, on: boolean, act: (on: boolean) => void) => {
      const box = h("input", { type: "checkbox", checked: on });
      box.addEventListener("change", () => act(box.checked));
      return h("label", { class: "tick" }, box, h("span", {}, label));
    };
    const kinds = r.kinds().map(([name, n]): [string, string] => ["=" + name, `${name} (${count(n)})`]);
    replace(filters,
      choice("Result", [["", "all"], ["ok", "ok"], ["failed", "failed"], ...kinds], wanted.outcome, (v) => want({ outcome: v })).element,
      m.stages.length > 1 && choice("Stage", [["-1", "all"], ...m.stages.map((s, i): [string, string] => [String(i), stageTitle(s)])], String(wanted.stage), (v) => want({ stage: Number(v) })).element,
      urls.length > 1 && choice("Target", [["-1", "all"], ...urls.map((u, i): [string, string] => [String(i), u])], String(wanted.target), (v) => want({ target: Number(v) })).element,
      sessionsOf(m, r).length > 0 && choice("Session", [["-1", "all"], ...sessionsOf(m, r)], String(wanted.session), (v) => want({ session: Number(v) })).element,
      number("Latency at least", wanted.latency, (v) => want({ latency: v })), number("First token at least", wanted.ttft, (v) => want({ ttft: v })),
      r.phase.includes(1) && tick("warm-up", wanted.warmup, (on) => want({ warmup: on })),
      tick("only in the zoomed time", wanted.zoomed, (on) => want({ zoomed: on })),
      button("Clear", () => { want(everything()); build(m, r); }));
  };
  const update = (m: Model, state: State) => {
    const there = m.doc.requests;
    if (!there || there.kept === 0) return false;
    if (model === m && (state.wanted ?? wanted) === wanted) return true;
    wanted = state.wanted ?? wanted;
    model = m;
    rows = new Rows(m);
    text(about, there.kept === there.count ? `All ${plural(there.count, "request")} of the run.` : `${count(there.kept)} of ${plural(there.count, "request")} are in this page: ${there.reason}. Figures elsewhere are of all of them.`);
    view.extend([0, Math.max(m.doc.result.duration_s, ...(m.doc.stages ?? []).map((s) => s.end), 0.001)]);
    build(m, rows);
    select(true);
    return rows.n > 0;
  };
  return { id: "requests", title: "Requests", element, update };
}
