// Charts of a section: made when they are first there, hidden while they are not.
import { Chart, type ChartSpec } from "../chart/chart";
import type { View } from "../chart/view";

export class Charts {
  private readonly all = new Map<string, Chart>();

  constructor(private readonly box: HTMLElement, private readonly view?: View) {}

  // show shows these and no others, and reports whether there are any.
  show(specs: (ChartSpec | null)[]): boolean {
    const there = specs.filter((s) => s !== null);
    for (const [name, chart] of this.all) chart.element.hidden = !there.some((s) => s.name === name);
    for (const spec of there) {
      const chart = this.all.get(spec.name);
      if (chart) { chart.update(spec); continue; }
      const made = new Chart(spec, this.view);
      this.all.set(spec.name, made);
      this.box.append(made.element);
    }
    return there.length > 0;
  }
}
