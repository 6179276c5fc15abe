// The page of a comparison.
import { gates } from "../section/gates";
import { Shell } from "../shell";
import { capacities } from "./capacity";
import { doubts, heading, titleOf } from "./head";
import { latencies } from "./latency";
import { comparedLevels } from "./levels";
import type { Sides } from "./sides";
import { comparison } from "./table";
import { times } from "./time";

export function showComparison(m: Sides): void {
  const shell = new Shell<Sides>([heading(), doubts(), gates((x: Sides) => x.doc.gates), capacities(), comparison(), comparedLevels(), latencies(), times()], "Load",
    "Made by Inferometer. Every figure is the one of the comparison's JSON document; charts are drawn from reduced data.");
  const choose = (load: number): void => {
    shell.state.stage = load;
    shell.show(m, titleOf(m) + ": Inferometer comparison", m.loads.map((l) => l.name), choose);
  };
  choose(0);
}
