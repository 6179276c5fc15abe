// A section of the page: made once, and updated with each new document.
import { h } from "../dom";
import type { Model } from "../model";
import type { Wanted } from "../request/rows";

export interface State {
  stage: number;
  lost?: boolean; // the program of a live page does not answer
  wanted?: Wanted; // of the requests one by one
}

export interface Section<M = Model> {
  id: string;
  title: string;
  element: HTMLElement;
  // update shows the model, and reports whether there is anything to show.
  update(m: M, state: State): boolean;
}

export function frame(id: string, title: string, lead: string, ...children: (Node | string)[]): HTMLElement {
  return h("section", { id, "aria-labelledby": id + "-title" },
    h("div", { class: "section-head" }, h("h2", { id: id + "-title" }, title), lead !== "" && h("p", { class: "lead" }, lead)), ...children);
}
