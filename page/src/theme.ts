// Light or dark: as the system has it, unless the reader chose.
import { button, h } from "./dom";

const key = "inferometer-theme";

// remembered may not be allowed for a page from disk; then the choice lasts as long as the page.
function remembered(): string | null { try { return localStorage.getItem(key); } catch { return null; } }
function remember(v: string): void { try { localStorage.setItem(key, v); } catch { /* it lasts as long as the page */ } }

export function themeSwitch(): HTMLElement {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  let chosen = remembered();
  const isDark = () => (chosen ? chosen === "dark" : dark.matches);
  const b = button("", () => { chosen = isDark() ? "light" : "dark"; remember(chosen); show(); }, { class: "theme" });
  const show = () => {
    if (chosen) root.dataset["theme"] = chosen;
    const label = isDark() ? "Light" : "Dark";
    b.replaceChildren(h("span", { class: "theme-icon", "aria-hidden": "true" }, isDark() ? "☀" : "☾"), h("span", {}, label));
    b.setAttribute("aria-label", `Switch to ${label.toLowerCase()} colours`);
  };
  dark.addEventListener("change", show);
  show();
  return b;
}
