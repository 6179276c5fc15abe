// What tokens cost in money and energy, stage by stage, and over how quick they come.
import { h, refresh } from "../dom";
import type { Cost, Stage } from "../document";
import { inScale, plural, scaleFor, seconds, value } from "../format";
import { stageTitle, type Model } from "../model";
import { costs } from "../names";
import { Charts } from "./charts";
import { front, type Front } from "./front";
import { avg, type Level, levelsOf } from "./level";
import { frame, type Section } from "./section";

export function cost(): Section {
  const box = h("div");
  const grid = h("div", { class: "pairs" });
  const element = frame("cost", "Cost and energy", "", box, grid);
  const charts = new Charts(grid);
  return { id: "cost", title: "Cost", element, update: (m: Model) => {
    const stages = m.stages.filter((s) => s.cost);
    if (stages.length === 0) { charts.show([]); return false; }
    refresh(box, ...sources(stages, m.stages.length > 1), table(stages));
    charts.show(fronts.map((f) => front(levelsOf(m), f)));
    return true;
  } };
}

// interactivity is how quick tokens come to the median user: InferenceX's x axis.
const interactivity = (l: Level): number => l.stage.metrics["output_token_throughput_per_user"]?.p50 ?? NaN;
const label = "output tokens/s per user, median";
const over = (metric: string, title: string, unit: string, lower: boolean): Front => ({ name: metric, title: title + " against tokens/s per user", label, x: interactivity, y: (l) => avg(l, metric), unit, lower });
const fronts: Front[] = [
  over("total_token_throughput_per_gpu", "Tokens/s per GPU", "tokens/s per GPU", false),
  over("cost_per_million_total_tokens", "$ per million tokens", "$ per million tokens", true),
  over("cost_per_million_output_tokens", "$ per million output tokens", "$ per million output tokens", true),
  over("energy_per_total_token", "Joules per token", "J per token", true),
  over("total_tokens_per_second_per_megawatt", "Tokens/s per MW", "tokens/s per MW", false),
];

// sources say what the figures stand on, once where it is the same for all stages.
function sources(stages: Stage[], several: boolean): HTMLElement[] {
  const told = new Map<string, string[]>();
  for (const s of stages) { const t = source(s.cost as Cost); told.set(t, [...(told.get(t) ?? []), stageTitle(s)]); }
  const lines = [...told].map(([t, of]) => h("p", { class: "lead" }, (several && told.size > 1 ? of.join("; ") + ": " : "") + t));
  const doubts = stages.flatMap((s) => (s.cost?.power?.reasons ?? []).map((r) => (several ? `Stage ${stageTitle(s)}: ` : "") + r));
  return [...lines, ...(doubts.length > 0 ? [h("ul", { class: "doubts" }, ...doubts.map((d) => h("li", {}, d)))] : [])];
}

const methods: Record<string, string> = { given: "as given in the plan", counter: "from the GPUs\u2019 own energy counters", integral: "integrated from power readings" };

function source(c: Cost): string {
  const p = c.power;
  const price = c.gpu_hour_price ? ` at $${value(c.gpu_hour_price, "")} per GPU hour` : "";
  const power = !p ? "Power is not known." : `Energy ${methods[p.method] ?? p.method}${p.source && p.method !== "given" ? ` (${p.source})` : ""}${p.valid ? "" : ", not valid"}` + (p.readings ? `, ${plural(p.readings, "reading")}, at most ${seconds(p.longest_gap_s ?? 0)} apart` : "") + ".";
  return `${plural(c.gpus, "GPU")}${price}. ${power}`;
}

// table has a row for each figure and a column for each stage.
function table(stages: Stage[]): HTMLElement | null {
  const rows = costs.filter((r) => stages.some((s) => s.metrics[r.metric]));
  if (rows.length === 0) return null;
  const body = rows.map((r) => {
    const scale = scaleFor("", Math.max(...stages.map((s) => s.metrics[r.metric]?.avg ?? 0)));
    return h("tr", {}, h("th", { scope: "row" }, r.label), ...stages.map((s) => { const v = s.metrics[r.metric]; return h("td", { class: "number" }, v ? inScale(scale, v.avg) : "–"); }));
  });
  return h("div", { class: "scroll", tabindex: 0, role: "region", "aria-label": "Cost and energy" }, h("table", { class: stages.length > 2 ? "" : "narrow" },
    h("thead", {}, h("tr", {}, h("th", { scope: "col" }, "Figure"), ...stages.map((s) => h("th", { scope: "col", class: "number" }, stages.length > 1 ? stageTitle(s) : s.load)))), h("tbody", {}, ...body)));
}
