// The page of a run: its sections in order and what they share. A file may hold a comparison in place of a run.
import { closeMenus } from "./chart/menu";
import { View } from "./chart/view";
import type { ComparisonDocument } from "./comparison/document";
import { showComparison } from "./comparison/page";
import { readSides } from "./comparison/sides";
import type { Document } from "./document";
import { h, replace } from "./dom";
import { fragment, place } from "./link";
import { follow, type Status } from "./live";
import { firstShown, model, stageTitle, type Model } from "./model";
import { preparePrint } from "./print";
import { everything, type Wanted } from "./request/rows";
import { capacity } from "./section/capacity";
import { cost } from "./section/cost";
import { figures } from "./section/figures";
import { gates } from "./section/gates";
import { head, runTitle } from "./section/head";
import { latency } from "./section/latency";
import { levels } from "./section/levels";
import { requests } from "./section/requests";
import { server } from "./section/server";
import { sessions } from "./section/sessions";
import { setup } from "./section/setup";
import { sideBySide } from "./section/sidebyside";
import { tables } from "./section/tables";
import { targets } from "./section/targets";
import { time } from "./section/time";
import { verdict } from "./section/verdict";
import { Shell } from "./shell";

class Page {
  private model: Model;
  private readonly shell: Shell<Model>;

  private readonly view = new View();
  private section = "";
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(m: Model) {
    this.model = m;
    const { view } = this;
    const choose = (stage: number) => this.choose(stage);
    const wanted = (w: Wanted) => { this.shell.state.wanted = w; this.keep(); };
    const requestsOf = (some: Partial<Wanted>) => { wanted({ ...everything(), ...some }); this.show(this.model); document.getElementById("requests")?.scrollIntoView(); };
    const judged = [verdict(), gates((m: Model) => (m.doc.live ? [] : m.doc.result.gates))];
    // What goes on comes first, how far it is. What is over has its figures first, and then whether and why they can be trusted.
    const top = m.doc.live ? [...judged, figures()] : [figures(), ...judged];
    const sections = [head(), ...top, capacity(), sideBySide(choose), targets((target) => requestsOf({ target })), levels(), cost(), latency(), sessions(view, (session) => requestsOf({ session })), time(view), server(), requests(view, wanted), tables(), setup()];
    this.shell = new Shell(sections, "Stage", "Made by Inferometer. Every figure is the one of result.json; charts are drawn from reduced data.");
    this.go(location.hash);
    view.watch((what) => { if (what === "span") this.keep(); });
    addEventListener("hashchange", () => this.go(location.hash));
    if (m.doc.live && location.protocol !== "file:") follow((next) => this.show(next), (s) => this.status(s));
  }

  // go shows what a link is to. One to a section leaves the rest as it is.
  private go(hash: string): void {
    const to = place(hash);
    this.section = to?.section ?? hash.slice(1);
    if (to) { this.shell.state.stage = to.stage; this.shell.state.wanted = to.wanted; }
    this.show(this.model);
    if (to?.zoom) this.view.zoom(...to.zoom);
    else if (to) this.view.reset();
    if (to) document.getElementById(this.section)?.scrollIntoView();
    else this.keep();
  }

  // keep has the address say what is shown, so that it can be passed on. Browsers refuse when that is too often.
  private keep(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      const { stage, wanted } = this.shell.state;
      const now = fragment({ section: this.section, stage: stage === firstShown(this.model) ? -1 : stage, zoom: this.view.zoomed ? this.view.span : null, wanted: wanted ?? everything() });
      if (now !== location.hash.slice(1)) history.replaceState(null, "", "#" + now);
    }, 200);
  }

  // status says how it stands with the program that shows this page live.
  private status(s: Status): void {
    this.shell.say(s === "connected" ? "Live" : s === "reconnecting" ? "Connection lost, trying again" : "Run ended", s);
    const lost = s === "reconnecting";
    if (lost === (this.shell.state.lost ?? false)) return;
    this.shell.state.lost = lost;
    this.show(this.model);
  }

  private choose(stage: number): void { this.shell.state.stage = stage; this.show(this.model); this.keep(); }

  private show(m: Model): void {
    this.model = m;
    const { state } = this.shell;
    const n = m.stages.length;
    if (state.stage < 0 || state.stage >= n) state.stage = m.doc.live ? Math.max(0, n - 1) : firstShown(m);
    this.shell.show(m, runTitle(m) + ": Inferometer report", m.stages.map(stageTitle), (stage) => this.choose(stage));
  }
}

// draw shows what the data elements of the page hold, and reports whether there is anything.
async function draw(): Promise<boolean> {
  const data = document.getElementById("document")?.textContent;
  if (!data) return false;
  const doc = JSON.parse(data) as Document | ComparisonDocument;
  const planes = document.getElementById("planes")?.textContent ?? "";
  if ("comparison" in doc) showComparison(await readSides(doc, planes));
  else new Page(await model(doc, planes));
  return true;
}

async function start(): Promise<void> {
  if (await draw()) { preparePrint(); closeMenus(); document.documentElement.dataset["ready"] = "true"; return; }
  replace(document.getElementById("page") ?? document.body, h("p", { class: "plain" }, "This file holds no result. Make a report with inferometer report DIR --format html."));
}

start().catch((e: unknown) => {
  const box = document.getElementById("page") ?? document.body;
  box.prepend(h("p", { class: "plain warn" }, "This report could not be drawn: " + String(e) + ". The figures are in result.json."));
  throw e;
});
