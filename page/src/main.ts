// The page: its sections in order, the bar above them, and what they share.
import { closeMenus } from "./chart/menu";
import { View } from "./chart/view";
import { choice, h, replace, text } from "./dom";
import { follow } from "./live";
import { read, stageTitle, type Model } from "./model";
import { figures } from "./section/figures";
import { head, runTitle } from "./section/head";
import { latency } from "./section/latency";
import { levels } from "./section/levels";
import { requests } from "./section/requests";
import type { Section, State } from "./section/section";
import { server } from "./section/server";
import { setup } from "./section/setup";
import { met, sideBySide } from "./section/sidebyside";
import { tables } from "./section/tables";
import { time } from "./section/time";
import { verdict } from "./section/verdict";
import { themeSwitch } from "./theme";

// best is the stage to begin with: the last that met the objectives, or else the first.
function best(m: Model): number { return Math.max(0, m.stages.findLastIndex((s) => met(s) === true)); }

class Page {
  private model: Model;
  private readonly state: State = { stage: -1 };
  private readonly sections: Section[];
  private readonly links = h("ul");
  private readonly stages = h("span", { class: "stages" });
  private readonly status = h("span", { class: "status", role: "status" });
  private known = "";

  constructor(m: Model) {
    this.model = m;
    const view = new View();
    const choose = (stage: number) => { this.state.stage = stage; this.show(this.model); };
    const top = [head(), verdict()];
    const rest = [figures(), sideBySide(choose), levels(), latency(), time(view), server(), requests(view), tables(), setup()];
    this.sections = [...top, ...rest];
    const bar = h("nav", { class: "bar", "aria-label": "Sections" }, h("a", { class: "brand", href: "#page" }, "Inferometer"), this.links, this.stages, this.status, themeSwitch());
    const root = document.getElementById("page") ?? document.body;
    replace(root, h("a", { class: "skip", href: "#main" }, "Skip to the report"), h("header", {}, bar), h("main", { id: "main", tabindex: -1 }, ...this.sections.map((s) => s.element)), h("footer", {}, "Made by Inferometer. Every figure is the one of result.json; charts are drawn from reduced data."));
    this.show(m);
    if (m.doc.live && location.protocol !== "file:") follow((next) => this.show(next), (s) => this.follow(s));
  }

  private follow(s: "connected" | "reconnecting" | "ended"): void {
    text(this.status, s === "connected" ? "Live" : s === "reconnecting" ? "Connection lost, trying again" : "Run ended");
    this.status.className = "status " + s;
  }

  private show(m: Model): void {
    this.model = m;
    const n = m.stages.length;
    if (this.state.stage < 0 || this.state.stage >= n) this.state.stage = m.doc.live ? Math.max(0, n - 1) : best(m);
    document.title = runTitle(m) + ": Inferometer report";
    const there = this.sections.filter((s) => { const any = s.update(m, this.state); s.element.hidden = !any; return any; });
    this.offer(m, there);
  }

  // offer lists the sections that there are, and the stages where there are several.
  private offer(m: Model, there: Section[]): void {
    const linked = there.filter((s) => s.element.tagName === "SECTION");
    const now = JSON.stringify([linked.map((s) => s.id), m.stages.map(stageTitle), this.state.stage]);
    if (now === this.known) return;
    this.known = now;
    replace(this.links, ...linked.map((s) => h("li", {}, h("a", { href: "#" + s.id }, s.title))));
    this.stages.replaceChildren();
    if (m.stages.length < 2) return;
    this.stages.append(choice("Stage", m.stages.map((s, i) => [String(i), stageTitle(s)]), String(this.state.stage), (v) => { this.state.stage = Number(v); this.show(this.model); }).element);
  }
}

// Paper has no summaries to click on: what is folded is opened for it, and folded again.
function openForPrint(): void {
  let folded: HTMLDetailsElement[] = [];
  addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll<HTMLDetailsElement>("details.checks, details.notes")].filter((d) => !d.open);
    for (const d of folded) d.open = true;
  });
  addEventListener("afterprint", () => { for (const d of folded) d.open = false; });
}

async function start(): Promise<void> {
  const m = await read();
  if (m) { new Page(m); openForPrint(); closeMenus(); document.documentElement.dataset["ready"] = "true"; return; }
  replace(document.getElementById("page") ?? document.body, h("p", { class: "plain" }, "This file holds no result. Make a report with inferometer report DIR --format html."));
}

start().catch((e: unknown) => {
  const box = document.getElementById("page") ?? document.body;
  box.prepend(h("p", { class: "plain warn" }, "This report could not be drawn: " + String(e) + ". The figures are in result.json."));
  throw e;
});
