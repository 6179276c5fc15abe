// The page of a run: its sections in order and what they share. A file may hold a comparison in place of a run.
import { closeMenus } from "./chart/menu";
import { View } from "./chart/view";
import type { ComparisonDocument } from "./comparison/document";
import { showComparison } from "./comparison/page";
import { readSides } from "./comparison/sides";
import type { Document } from "./document";
import { h, replace } from "./dom";
import { follow, type Status } from "./live";
import { firstShown, model, stageTitle, type Model } from "./model";
import { preparePrint } from "./print";
import { capacity } from "./section/capacity";
import { cost } from "./section/cost";
import { figures } from "./section/figures";
import { gates } from "./section/gates";
import { head, runTitle } from "./section/head";
import { latency } from "./section/latency";
import { levels } from "./section/levels";
import { requests } from "./section/requests";
import { server } from "./section/server";
import { setup } from "./section/setup";
import { sideBySide } from "./section/sidebyside";
import { tables } from "./section/tables";
import { time } from "./section/time";
import { verdict } from "./section/verdict";
import { Shell } from "./shell";

class Page {
  private model: Model;
  private readonly shell: Shell<Model>;

  constructor(m: Model) {
    this.model = m;
    const view = new View();
    const choose = (stage: number) => this.choose(stage);
    const sections = [head(), verdict(), gates((m: Model) => (m.doc.live ? [] : m.doc.result.gates)), capacity(), figures(), sideBySide(choose), levels(), cost(), latency(), time(view), server(), requests(view), tables(), setup()];
    this.shell = new Shell(sections, "Stage", "Made by Inferometer. Every figure is the one of result.json; charts are drawn from reduced data.");
    this.show(m);
    if (m.doc.live && location.protocol !== "file:") follow((next) => this.show(next), (s) => this.status(s));
  }

  // status says how it stands with the program that shows this page live.
  private status(s: Status): void {
    this.shell.say(s === "connected" ? "Live" : s === "reconnecting" ? "Connection lost, trying again" : "Run ended", s);
    const lost = s === "reconnecting";
    if (lost === (this.shell.state.lost ?? false)) return;
    this.shell.state.lost = lost;
    this.show(this.model);
  }

  private choose(stage: number): void { this.shell.state.stage = stage; this.show(this.model); }

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
