// The plan, the machine and the command that runs it again.
import { button, h, replace } from "../dom";
import { save } from "../chart/export";
import { words } from "../format";
import type { Model } from "../model";
import { say } from "../say";
import { yaml } from "../yaml";
import { frame, type Section } from "./section";

export function setup(): Section {
  const box = h("div", { class: "setup" });
  const element = frame("setup", "Run it again", "", box);
  let shown = "";
  return { id: "setup", title: "Setup", element, update: (m: Model) => {
    const r = m.doc.result;
    const now = JSON.stringify([r.plan, m.doc.plan, m.doc.command, r.host, r.version]);
    if (now !== shown) { shown = now; replace(box, ...content(m)); }
    return true;
  } };
}

function content(m: Model): (HTMLElement | null)[] {
  const r = m.doc.result;
  const plan = m.doc.plan || yaml(r.plan);
  const facts: [string, string][] = [
    ["Seed", m.seed], ["Inferometer", r.version], ["Result format", r.schema],
    ...Object.entries(r.host).filter(([, v]) => v !== "" && v !== 0).map(([k, v]): [string, string] => [hostNames[k] ?? words(k), String(v)]),
    ...Object.entries(r.connection ?? {}).map(([k, v]): [string, string] => [words(k), String(v)]),
  ];
  return [
    m.doc.command ? h("div", { class: "command" }, h("pre", { tabindex: 0, "aria-label": "Command" }, h("code", {}, m.doc.command)), copy("command", m.doc.command)) : null,
    h("div", { class: "columns" },
      h("div", {}, h("h3", {}, "Plan"), h("pre", { class: "plan", tabindex: 0, role: "region", "aria-label": "Plan" }, h("code", {}, plan)),
        h("p", { class: "tools" }, copy("plan", plan), button("Download plan.yaml", () => save("plan.yaml", "application/yaml", plan)))),
      h("div", {}, h("h3", {}, "Client and versions"), h("dl", { class: "facts" }, ...facts.flatMap(([k, v]) => [h("dt", {}, k), h("dd", {}, v)])))),
  ];
}

const hostNames: Record<string, string> = { os: "System", arch: "Architecture", kernel: "Kernel", cpu: "Processor", cores: "Cores", go_version: "Go", gomaxprocs: "GOMAXPROCS" };

function copy(what: string, content: string): HTMLElement {
  const b = button("Copy " + what, async () => {
    try { await navigator.clipboard.writeText(content); b.textContent = "Copied"; say("Copied"); }
    catch { b.textContent = "Select and copy by hand"; }
    setTimeout(() => { b.textContent = "Copy " + what; }, 2000);
  });
  return b;
}
