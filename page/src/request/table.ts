// The table of requests. Only the rows that are seen are there, so any number of them scrolls.
import { h, replace, set } from "../dom";
import { count, inScale, micros, scaleFor, type Scale } from "../format";
import { say } from "../say";
import type { Field, Rows } from "./rows";

const rowHeight = 30;
const seenRows = 14;

const columns: { field: Field; title: string; help: string; time?: boolean }[] = [
  { field: "index", title: "Request", help: "its number in the run, or that of its session and its turn there" },
  { field: "stage", title: "Stage", help: "" },
  { field: "due", title: "Due, s", help: "since the start of the run" },
  { field: "wait", title: "Waited", help: "from due to sent", time: true },
  { field: "ttft", title: "First token", help: "after sent", time: true },
  { field: "latency", title: "Latency", help: "from sent to end", time: true },
  { field: "stall", title: "Longest gap", help: "between two events", time: true },
  { field: "in", title: "In", help: "tokens" },
  { field: "out", title: "Out", help: "tokens" },
  { field: "failure", title: "Result", help: "" },
];

export class RequestTable {
  readonly element: HTMLElement;
  private readonly scroller: HTMLElement;
  private readonly table: HTMLTableElement;
  private readonly body = h("tbody");
  private readonly headers: HTMLElement[];
  private rows: Rows | null = null;
  order: number[] = [];
  private by: Field = "latency";
  private down = true;
  private active = 0;
  private scales: Partial<Record<Field, Scale>> = {};
  private shown = columns.length;

  constructor(private readonly open: (row: number) => void) {
    this.headers = columns.map((c) => {
      const b = h("button", { type: "button", title: c.help || undefined }, c.title);
      b.addEventListener("click", () => this.sort(c.field));
      return h("th", { scope: "col", class: c.field === "failure" ? undefined : "number" }, b);
    });
    this.table = h("table", { class: "requests", "aria-label": "Requests" }, h("thead", {}, h("tr", {}, ...this.headers)), this.body);
    this.scroller = h("div", { class: "scroll virtual", role: "region", "aria-label": "Table of requests", tabindex: 0 }, this.table);
    this.scroller.addEventListener("scroll", () => this.draw(), { passive: true });
    this.scroller.addEventListener("keydown", (e) => { if (this.key(e)) e.preventDefault(); });
    this.body.addEventListener("click", (e) => {
      const at = (e.target as Element).closest("tr")?.dataset["at"];
      if (at !== undefined) { this.active = Number(at); this.choose(); }
    });
    this.element = this.scroller;
  }

  show(rows: Rows, chosen: number[]): void {
    if (rows !== this.rows) this.measure(rows);
    this.rows = rows;
    this.order = rows.sort([...chosen], this.by, this.down);
    this.active = 0;
    this.scroller.scrollTop = 0;
    const several = chosen.some((i) => rows.value("stage", i) > 0);
    this.table.classList.toggle("one-stage", !several);
    this.shown = columns.length - (several ? 0 : 1);
    this.mark();
    this.draw();
  }

  // measure picks one unit for each column, that of its average.
  private measure(rows: Rows): void {
    columns.forEach((c, k) => {
      if (!c.time) return;
      let [sum, n] = [0, 0];
      for (let i = 0; i < rows.n; i++) { const v = rows.value(c.field, i); if (v >= 0) { sum += v; n++; } }
      const scale = scaleFor("ms", n > 0 ? sum / n / 1e3 : 0);
      this.scales[c.field] = scale;
      replace(this.headers[k]?.querySelector("button") as Element, `${c.title}, ${scale.unit}`);
    });
  }

  private sort(by: Field): void {
    this.down = by === this.by ? !this.down : by !== "index" && by !== "due";
    this.by = by;
    if (this.rows) this.show(this.rows, this.order);
    say(`Sorted by ${columns.find((c) => c.field === by)?.title}, ${this.down ? "greatest" : "least"} first`);
  }

  private mark(): void {
    columns.forEach((c, i) => set(this.headers[i] as HTMLElement, { "aria-sort": c.field === this.by ? (this.down ? "descending" : "ascending") : undefined }));
    set(this.table, { "aria-rowcount": this.order.length + 1 });
  }

  private draw(): void {
    const from = Math.max(0, Math.floor(this.scroller.scrollTop / rowHeight) - 4);
    const to = Math.min(this.order.length, from + seenRows + 10);
    const spacer = (rows: number) => {
      const cell = h("td", { colspan: this.shown });
      cell.style.height = rows * rowHeight + "px";
      return h("tr", { class: "spacer", "aria-hidden": "true" }, cell);
    };
    const rows: HTMLElement[] = [];
    for (let k = from; k < to; k++) rows.push(this.row(k));
    if (this.order.length === 0) rows.push(h("tr", {}, h("td", { colspan: this.shown, class: "none" }, "No request matches.")));
    replace(this.body, from > 0 && spacer(from), ...rows, to < this.order.length && spacer(this.order.length - to));
  }

  private row(k: number): HTMLElement {
    const r = this.rows as Rows;
    const i = this.order[k] as number;
    const time = (f: Field) => h("td", { class: "number" }, this.time(f, r.value(f, i)));
    const tokens = (f: Field) => { const v = r.value(f, i); return h("td", { class: "number" }, v < 0 ? "–" : count(v)); };
    const outcome = r.outcome(i) + (!r.failed(i) && r.phase[i] === 1 ? ", warm-up" : "");
    return h("tr", { "data-at": k, "aria-rowindex": k + 2, class: (r.failed(i) ? "failed" : "") + (k === this.active ? " active" : "") },
      h("td", { class: "number" }, r.name(i)), h("td", { class: "number" }, String(r.value("stage", i) + 1)), h("td", { class: "number" }, ((r.due[i] as number) / 1e6).toFixed(3)),
      time("wait"), time("ttft"), time("latency"), time("stall"), tokens("in"), tokens("out"), h("td", { title: r.failure(i).message }, outcome));
  }

  private time(f: Field, us: number): string {
    const scale = this.scales[f];
    return us < 0 || !scale ? "–" : inScale(scale, us / 1e3);
  }

  private choose(): void {
    const i = this.order[this.active];
    this.draw();
    if (i !== undefined) this.open(i);
  }

  private key(e: KeyboardEvent): boolean {
    if ((e.target as Element).tagName === "BUTTON") return false;
    const steps: Record<string, number> = { ArrowDown: 1, ArrowUp: -1, PageDown: seenRows - 2, PageUp: 2 - seenRows, Home: -Infinity, End: Infinity };
    if (e.key === "Enter" || e.key === " ") { this.choose(); return true; }
    const step = steps[e.key];
    if (step === undefined) return false;
    this.active = Math.min(Math.max(this.active + step, 0), Math.max(0, this.order.length - 1));
    const top = this.active * rowHeight;
    const room = this.scroller.clientHeight - 2 * rowHeight;
    if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
    else if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
    this.draw();
    const r = this.rows;
    const i = this.order[this.active];
    if (r && i !== undefined) say(`Request ${r.name(i)}, latency ${micros(r.value("latency", i))}, ${r.outcome(i)}`);
    return true;
  }
}
