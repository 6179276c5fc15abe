// Whether the figures can be trusted, in words, and the table of checks behind it.
import { h, replace } from "../dom";
import type { Check, StageVerdict, Underway, Verdict } from "../document";
import { plural, seconds, value, words } from "../format";
import type { Model } from "../model";
import type { Section, State } from "./section";

export function verdict(): Section {
  const box = h("div", { class: "verdict" });
  let opened: boolean | null = null; // by the reader
  let shown = "";
  const update = (m: Model, state: State) => {
    const lost = Boolean(m.doc.live && state.lost);
    const now = JSON.stringify([lost, m.doc.underway, m.doc.result.verdict, m.doc.result.notes, m.doc.live]);
    if (now === shown) return true;
    shown = now;
    const v = m.doc.result.verdict;
    const open = opened ?? false;
    const table = checks(v, m.stages.length > 1, open);
    table?.addEventListener("toggle", () => { opened = table.open; });
    box.className = "verdict " + (lost ? "inconclusive" : m.doc.live ? "running" : v.status);
    replace(box, ...sentence(m, v, lost), notes(m.doc.result.notes), table);
    return true;
  };
  return { id: "verdict", title: "Verdict", element: box, update };
}

function sentence(m: Model, v: Verdict, lost: boolean): Node[] {
  const n = (v.checks ?? []).length;
  if (lost) {
    return [h("p", { class: "verdict-word" }, "CONNECTION LOST"), h("p", { class: "verdict-text" }, "The program does not answer: it was stopped, or the network is down. The figures are the last that it reported. The page goes on when it answers again.")];
  }
  if (m.doc.live) {
    return [h("p", { class: "verdict-word" }, "RUNNING"), h("div", { class: "verdict-text" }, ...progress(m.doc.underway), h("p", {}, "The verdict follows when the run has ended. Until then figures are preliminary."))];
  }
  const text: Record<string, string> = {
    valid: `All ${plural(n, "check")} passed: these results can be trusted.`,
    invalid: "Do not use these results: a check failed.",
    inconclusive: "Too little was measured to tell whether to trust these figures.",
  };
  const reasons = [...(v.reasons ?? []), ...(v.undecided ?? []).map((u) => "Undecided: " + u)];
  return [
    h("p", { class: "verdict-word" }, v.status.toUpperCase()),
    h("div", { class: "verdict-text" }, h("p", {}, v.summary || (text[v.status] ?? "")), reasons.length > 0 && h("ul", {}, ...reasons.map((r) => h("li", {}, r)))),
  ];
}

// underwayText is how far a run is, in words.
export function underwayText(u: Underway): string {
  const stage = u.stages > 1 ? `Stage ${u.stage} of ${u.stages}, ${u.phase}` : u.phase.charAt(0).toUpperCase() + u.phase.slice(1);
  if (!u.share) return stage;
  const left = u.left_s && u.left_s >= 0.5 ? `about ${seconds(Math.max(1, Math.round(u.left_s)))} left` : "nearly done";
  return `${stage}: ${Math.floor(u.share * 100)} %${u.whole && u.stages > 1 ? " of the run" : ""}, ${left}`;
}

function progress(u: Underway | undefined): HTMLElement[] {
  if (!u) return [];
  const bar = u.share ? [h("progress", { max: 100, value: Math.floor(u.share * 100), "aria-label": "Progress of the run" })] : [];
  return [h("p", { class: "underway" }, underwayText(u)), ...bar];
}

// verdictBadge says whether the figures of one stage can be trusted, and, pointed at, why not.
export function verdictBadge(v: StageVerdict | undefined): HTMLElement | null {
  if (!v) return null;
  const state: Record<string, string> = { valid: "ok", invalid: "over", inconclusive: "undecided" };
  const why = [...(v.reasons ?? []), ...(v.undecided ?? []).map((u) => "Undecided: " + u)].join("\n");
  return h("span", { class: "badge " + (state[v.status] ?? ""), title: why || undefined }, v.status.toUpperCase());
}

function notes(all: string[] | undefined): HTMLElement | null {
  if (!all || all.length === 0) return null;
  return h("details", { class: "notes" }, h("summary", {}, plural(all.length, "note")), h("ul", {}, ...all.map((n) => h("li", {}, n))));
}

function checks(v: Verdict, several: boolean, open: boolean): HTMLDetailsElement | null {
  const all = v.checks ?? [];
  if (all.length === 0) return null;
  const order = (c: Check) => (c.ok ? 2 : c.undecided ? 1 : 0);
  const rows = [...all].sort((a, b) => order(a) - order(b)).map((c) => {
    const state = c.ok ? "ok" : c.undecided ? "undecided" : "over";
    return h("tr", { class: state },
      h("td", { class: "state" }, h("span", { class: "badge " + state }, state === "ok" ? "OK" : state === "over" ? "Over budget" : "Undecided")),
      h("th", { scope: "row" }, words(c.name)), several && h("td", {}, c.stage < 0 ? "whole run" : String(c.stage + 1)),
      h("td", { class: "number" }, c.undecided ? "–" : value(c.value, c.unit)), h("td", { class: "number" }, value(c.budget, c.unit)),
      h("td", { class: "why" }, [c.reason, c.fix].filter(Boolean).join(" ")));
  });
  const head = ["Result", "Check", ...(several ? ["Stage"] : []), "Measured", "Budget", "What to do"];
  return h("details", { class: "checks", open },
    h("summary", {}, `Table of ${plural(all.length, "check")}`),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Table of checks" },
      h("table", {}, h("thead", {}, h("tr", {}, ...head.map((t) => h("th", { scope: "col", class: t === "Measured" || t === "Budget" ? "number" : undefined }, t)))), h("tbody", {}, ...rows))));
}
