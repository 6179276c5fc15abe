// What is compared with what, and what speaks against it.
import { h, replace } from "../dom";
import { plural } from "../format";
import type { Section } from "../section/section";
import type { Clash, RunFacts } from "./document";
import type { Side, Sides } from "./sides";
import { relative } from "./table";

export const titleOf = (m: Sides): string => m.all.map((s) => s.name).join(" vs ");

export function heading(): Section<Sides> {
  const box = h("div", { class: "head" });
  return { id: "top", title: "Top", element: box, update: (m) => {
    replace(box, h("p", { class: "eyebrow" }, "Inferometer comparison"), h("h1", {}, titleOf(m)),
      h("p", { class: "meta" }, [m.doc.capacity ? "capacities compared" : plural(m.loads.length, "load") + " compared", m.doc.version].filter(Boolean).join("  ·  ")),
      h("div", { class: "sides" }, ...m.all.map((s) => card(s, m))));
    return true;
  } };
}

function card(side: Side, m: Sides): HTMLElement {
  const runs = m.doc.sides[side.index]?.runs ?? [];
  const first = runs[0];
  const drawn = side.runs.length < side.of && side.of > 1 && side.runs.length > 0 ? `; ${side.runs.length} of them drawn` : "";
  const subjects = [...new Set(runs.map((r) => r.subject).filter(Boolean))];
  const notes = [...new Set(runs.flatMap((r) => r.notes ?? []))];
  return h("div", { class: "side" },
    h("h2", {}, h("i", { class: "swatch points " + side.tone }), " ", side.name),
    h("p", {}, subjects.slice(0, 3).join(", ") + (subjects.length > 3 ? ` and ${subjects.length - 3} more` : "")),
    h("p", { class: "quiet" }, [runs.length > 1 ? plural(runs.length, "run") + drawn : first?.path ?? "", first?.by ? "measured by " + first.by : first?.version ?? "", started(first)].filter(Boolean).join("  ·  ")),
    h("p", {}, ...verdicts(runs)),
    runs.length > 1 ? h("details", { class: "notes" }, h("summary", {}, plural(runs.length, "run")), h("ul", {}, ...runs.map((r) => h("li", {}, `${r.path}: ${r.verdict}`)))) : null,
    notes.length > 0 ? h("details", { class: "notes" }, h("summary", {}, plural(notes.length, "note")), h("ul", {}, ...notes.map((n) => h("li", {}, n)))) : null);
}

function started(r: RunFacts | undefined): string {
  const t = new Date(r?.started ?? "");
  return Number.isNaN(t.valueOf()) || t.getUTCFullYear() < 1971 ? "" : t.toISOString().replace("T", " ").replace(/\.\d+Z|Z$/, " UTC");
}

// verdicts are the runs' own, each word with its number.
function verdicts(runs: RunFacts[]): (HTMLElement | string)[] {
  const words = [...new Set(runs.map((r) => r.verdict))];
  const tones: Record<string, string> = { valid: "ok", invalid: "over", inconclusive: "undecided" };
  return words.flatMap((w) => {
    const n = runs.filter((r) => r.verdict === w).length;
    return [h("span", { class: "badge " + (tones[w] ?? "none") }, (runs.length > 1 ? `${n} ` : "") + w), " "];
  });
}

// few is how many reasons are seen before the rest is folded: many runs may have many.
const few = 6;
const list = (all: string[]): HTMLElement => h("ul", {}, ...all.map((r) => h("li", {}, r)));

export function doubts(): Section<Sides> {
  const box = h("div", { class: "verdict" });
  return { id: "doubts", title: "Doubts", element: box, update: (m) => {
    const clashes = m.doc.plan_differences ?? [];
    const reasons = [...(m.doc.doubts ?? []), ...(m.doc.unmatched ?? []).map((u) => `${m.short(u.side)} at ${u.load}: no other side was measured at this load.`)];
    const [tone, word, text] = judged(m, reasons, clashes);
    box.className = "verdict " + tone;
    replace(box,
      h("p", { class: "verdict-word" }, word),
      h("div", { class: "verdict-text" }, h("p", {}, text),
        reasons.length > 0 && list(reasons.slice(0, few)), reasons.length > few && h("details", { class: "notes" }, h("summary", {}, `${reasons.length - few} more`), list(reasons.slice(few)))),
      differences(clashes, m), summary(m));
    return true;
  } };
}

// judged is whether the sides can be compared, in a word: what speaks against single tables counts, too.
function judged(m: Sides, reasons: string[], clashes: Clash[]): [tone: string, word: string, text: string] {
  if (m.loads.some((l) => !l.same_load)) return ["invalid", "LOADS DIFFER", "The sides were measured under different loads: that alone makes figures differ."];
  if (!m.doc.trusted || clashes.some((c) => c.matters)) return ["invalid", "DOUBTFUL", "Do not decide by this comparison alone."];
  if (reasons.length > 0) return ["inconclusive", "WITH CARE", "The runs are valid; read this first."];
  if (m.loads.some((l) => (l.tables ?? []).some((t) => (t.doubts ?? []).length > 0))) return ["inconclusive", "WITH CARE", "The runs are valid; read what stands above the tables first."];
  return ["valid", "COMPARABLE", "All runs are complete and valid."];
}

// differences are those of the plans, those that matter first.
function differences(all: Clash[], m: Sides): HTMLElement | null {
  if (all.length === 0) return null;
  const matter = all.filter((c) => c.matters).length;
  const rows = [...all].sort((a, b) => Number(b.matters) - Number(a.matters)).map((c) => h("tr", {}, h("th", { scope: "row" }, h("code", {}, c.field)), h("td", { class: "why" }, c.first || "–"), h("td", { class: "why" }, c.other || "–"), h("td", {}, m.short(c.side)), h("td", {}, c.matters && h("span", { class: "badge over" }, "matters"))));
  return h("details", { class: "checks", open: matter > 0 },
    h("summary", {}, `${plural(all.length, "difference")} between the plans` + (matter > 0 ? `, ${matter} of which ${matter === 1 ? "matters" : "matter"}` : "")),
    h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Differences between the plans" },
      h("table", {}, h("thead", {}, h("tr", {}, ...["Field", m.short(0), "Other side", "Side", "Weight"].map((t) => h("th", { scope: "col" }, t)))), h("tbody", {}, ...rows))));
}

// summary says for each side but the first what was found, load by load.
function summary(m: Sides): HTMLElement {
  const lines = m.loads.flatMap((l) => (l.tables ?? []).map((t) => ({ l, t })));
  return h("ul", { class: "found" }, ...lines.slice(0, 24).map(({ l, t }) => h("li", {}, h("b", {}, m.loads.length > 1 || m.all.length > 2 ? `${l.name}, ${m.short(t.side)}: ` : m.short(t.side) + ": "), (t.headline ?? "") + main(t))));
}

// main are the differences of the figures that most look at first.
function main(t: NonNullable<NonNullable<Sides["loads"][number]["tables"]>[number]>): string {
  const wanted = [["time_to_first_token", "p99", "TTFT p99"], ["inter_token_latency", "p99", "ITL p99"], ["output_token_throughput", "avg", "output tokens/s"]];
  const said = wanted.flatMap(([metric, stat, name]) => {
    const r = t.rows?.find((x) => x.metric === metric && x.stat === stat);
    return r?.difference?.relative !== undefined && ["better", "worse"].includes(r.verdict) ? [`${name} ${relative(r.difference.relative)} (${r.verdict})`] : [];
  });
  return said.length > 0 ? " " + said.join(", ") + "." : "";
}
