// say has a screen reader read a text, without moving the focus.
import { h, text } from "./dom";

let region: HTMLElement | null = null;

export function say(words: string): void {
  if (!region) {
    region = h("div", { class: "unseen", "aria-live": "polite", role: "status" });
    document.body.append(region);
  }
  text(region, words);
}
