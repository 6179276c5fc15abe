// Writes example pages to the directory named, from the built page: node .build/fixtures.mjs DIR PAGE
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { makeComparison, type Sided } from "../fixture/comparison";
import { makeRun, type Options } from "../fixture/run";

const [, , dir, page] = process.argv;
if (dir && page) {
  const template = readFileSync(page, "utf8");
  const safe = (v: unknown) => JSON.stringify(v).replace(/[<>&\u2028\u2029]/g, (c) => "\\u" + c.charCodeAt(0).toString(16).padStart(4, "0"));
  const runs: Record<string, Options> = {
    one: { loads: [32], perStage: 3000, failures: 0.004, objectives: true, servers: true },
    levels: { loads: [1, 4, 8, 16, 32, 64], perStage: 500, objectives: true, servers: true, failures: 0.002 },
    decide: { loads: [1, 4, 8, 16, 32, 64], perStage: 300, objectives: true, costs: true, gates: true, capacity: true },
    open: { loads: [20, 60], perStage: 1500, open: true, status: "invalid", failures: 0.05 },
    small: { loads: [4], perStage: 12, status: "inconclusive" },
    large: { loads: [64], perStage: 30000, failures: 0.001, traces: 2000 },
    hostile: { loads: [8], perStage: 100, name: '<img src=x onerror="alert(1)"></script><script>alert(2)</script>\u202etxt\u0007' },
    live: { loads: [16], perStage: 600, live: true },
  };
  const comparisons: Record<string, Sided[]> = {
    pair: [{ name: "vLLM 0.11", slower: [1] }, { name: "vLLM 0.12", slower: [1.25] }],
    repeats: [{ name: "main", slower: [1, 1.02, 0.98, 1.01] }, { name: "branch", slower: [0.9, 0.92, 0.89, 0.91] }, { name: "another branch", slower: [1.01, 0.99] }],
    summaries: [{ name: "ours", slower: [1] }, { name: "theirs", slower: [] }],
    hostiles: [{ name: '<img src=x onerror="alert(1)"></script>\u202etxt', slower: [1] }, { name: "a".repeat(200), slower: [1.1] }],
  };
  mkdirSync(dir, { recursive: true });
  const write = (name: string, doc: unknown, planes: string) => {
    const data = `<script type="application/json" id="document">${safe(doc)}</script>\n<script type="application/octet-stream" id="planes">${planes}</script>\n`;
    writeFileSync(`${dir}/${name}.html`, template.replace("<!--data-->", () => data));
  };
  for (const [name, options] of Object.entries(runs)) { const { doc, planes } = makeRun(options); write(name, doc, planes); }
  for (const [name, sides] of Object.entries(comparisons)) { const { doc, planes } = makeComparison(sides); write("compare-" + name, doc, planes); }
}
