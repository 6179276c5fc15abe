// Elements. Text is only ever set as text, so nothing in a result is read as markup.
import { visible } from "./format";

type Attributes = Record<string, string | number | boolean | undefined>;
export type Child = Node | string | null | undefined | false;

const svgSpace = "http://www.w3.org/2000/svg";

function fill<E extends Element>(e: E, attributes: Attributes, children: Child[]): E {
  for (const [name, v] of Object.entries(attributes)) {
    if (v === undefined || v === false) continue;
    e.setAttribute(name, v === true ? "" : String(v));
  }
  append(e, children);
  return e;
}

export function append(e: Element, children: Child[]): void {
  for (const c of children) if (c) e.append(typeof c === "string" ? visible(c) : c);
}

export function h<K extends keyof HTMLElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  return fill(document.createElement(tag), attributes, children);
}

export function s<K extends keyof SVGElementTagNameMap>(tag: K, attributes: Attributes = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  return fill(document.createElementNS(svgSpace, tag), attributes, children);
}

export function set(e: Element, attributes: Attributes): void {
  for (const [name, v] of Object.entries(attributes)) {
    if (v === undefined || v === false) e.removeAttribute(name);
    else e.setAttribute(name, v === true ? "" : String(v));
  }
}

export function replace(e: Element, ...children: Child[]): void {
  e.replaceChildren();
  append(e, children);
}

// refresh replaces the content of e, and leaves the reader where he was: the focus, and how far boxes were scrolled.
export function refresh(e: Element, ...children: Child[]): void {
  const boxes = () => [...e.querySelectorAll<HTMLElement>(".scroll")];
  const stops = () => [...e.querySelectorAll<HTMLElement>("button, a, .scroll, summary")];
  const places = boxes().map((b): [number, number] => [b.scrollLeft, b.scrollTop]);
  const focus = stops().indexOf(document.activeElement as HTMLElement);
  replace(e, ...children);
  boxes().forEach((b, i) => { [b.scrollLeft, b.scrollTop] = places[i] ?? [0, 0]; });
  if (focus >= 0) stops()[focus]?.focus({ preventScroll: true });
}

export function text(e: Node, value: string): void {
  const shown = visible(value);
  if (e.textContent !== shown) e.textContent = shown;
}

let ids = 0;
export const id = (prefix: string): string => prefix + "-" + ++ids;

export function button(label: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement {
  const b = h("button", { type: "button", ...attributes }, label);
  b.addEventListener("click", act);
  return b;
}

// choice is a labelled select.
export function choice(label: string, options: [value: string, text: string][], chosen: string, act: (value: string) => void): { element: HTMLElement; select: HTMLSelectElement } {
  const key = id("choice");
  const select = h("select", { id: key }, ...options.map(([v, t]) => h("option", { value: v, selected: v === chosen }, t)));
  select.addEventListener("change", () => act(select.value));
  return { element: h("span", { class: "choice" }, h("label", { for: key }, label), select), select };
}
