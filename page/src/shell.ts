// What every page has around its sections: the bar with links to them, what part is shown, and the footer.
import { choice, h, replace, text } from "./dom";
import type { Section, State } from "./section/section";
import { themeSwitch } from "./theme";

export class Shell<M> {
  readonly state: State = { stage: -1 };
  private readonly links = h("ul");
  private readonly choices = h("span", { class: "stages" });
  private readonly status = h("span", { class: "status", role: "status" });
  private known = "";

  constructor(private readonly sections: Section<M>[], private readonly part: string, footer: string) {
    const bar = h("nav", { class: "bar", "aria-label": "Sections" }, h("a", { class: "brand", href: "#page" }, "Inferometer"), this.links, this.choices, this.status, themeSwitch());
    const root = document.getElementById("page") ?? document.body;
    replace(root, h("a", { class: "skip", href: "#main" }, "Skip to the report"), h("header", {}, bar), h("main", { id: "main", tabindex: -1 }, ...sections.map((s) => s.element)), h("footer", {}, footer));
  }

  // say writes what is going on.
  say(words: string, kind: string): void {
    text(this.status, words);
    this.status.className = "status " + kind;
  }

  // show updates all sections. Parts are what one can be chosen of, where there are several.
  show(m: M, title: string, parts: string[], choose: (part: number) => void): void {
    document.title = title;
    const there = this.sections.filter((s) => { const any = s.update(m, this.state); s.element.hidden = !any; return any; });
    const linked = there.filter((s) => s.element.tagName === "SECTION");
    const now = JSON.stringify([linked.map((s) => s.id), parts, this.state.stage]);
    if (now === this.known) return;
    this.known = now;
    replace(this.links, ...linked.map((s) => h("li", {}, h("a", { href: "#" + s.id }, s.title))));
    this.choices.replaceChildren();
    if (parts.length < 2) return;
    this.choices.append(choice(this.part, parts.map((t, i) => [String(i), t]), String(this.state.stage), (v) => choose(Number(v))).element);
  }
}
