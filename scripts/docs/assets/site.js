// What pages of the site do: light and dark, the menu, the contents of a page, copying code, and the search.
"use strict";
(() => {
  const root = document.documentElement;
  const one = (selector) => document.querySelector(selector);
  const all = (selector) => [...document.querySelectorAll(selector)];
  const make = (name, attributes = {}, ...children) => {
    const e = document.createElement(name);
    for (const [k, v] of Object.entries(attributes)) e.setAttribute(k, v);
    e.append(...children);
    return e;
  };

  // Light or dark: as the system has it, unless the reader chose. The choice holds for report pages too.
  const key = "inferometer-theme";
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const theme = one(".theme");
  const showTheme = () => {
    const label = isDark() ? "Light" : "Dark";
    theme.replaceChildren(make("span", { "aria-hidden": "true" }, isDark() ? "☀" : "☾"), make("span", {}, label));
    theme.setAttribute("aria-label", `Switch to ${label.toLowerCase()} colours`);
  };
  theme.addEventListener("click", () => {
    root.dataset.theme = isDark() ? "light" : "dark";
    try { localStorage.setItem(key, root.dataset.theme); } catch { /* it lasts as long as the page */ }
    showTheme();
  });
  dark.addEventListener("change", showTheme);
  showTheme();

  // Chapters: beside the text, or behind a button where there is no room.
  const menu = one(".menu-button");
  const setMenu = (open) => { root.classList.toggle("menu-open", open); menu.setAttribute("aria-expanded", String(open)); };
  menu.addEventListener("click", () => setMenu(menu.getAttribute("aria-expanded") !== "true"));
  const here = one('.side [aria-current="page"]');
  const side = one(".side");
  if (here && here.offsetTop + here.offsetHeight > side.clientHeight) side.scrollTop = here.offsetTop - side.clientHeight / 2;

  // What is on this page, and where in it the reader is.
  const toc = one(".toc details");
  if (toc) {
    const wide = matchMedia("(min-width: 1241px)");
    const fit = () => { toc.open = wide.matches; };
    wide.addEventListener("change", fit);
    fit();
    one(".toc summary").addEventListener("click", (e) => { if (wide.matches) e.preventDefault(); });
    const entries = all(".toc a").map((a) => ({ a, to: document.getElementById(decodeURIComponent(a.hash.slice(1))) }));
    let waiting = false;
    const spy = () => {
      waiting = false;
      const end = innerHeight + scrollY >= root.scrollHeight - 2;
      let at = entries.findLastIndex((e) => e.to.getBoundingClientRect().top < 120);
      if (end && scrollY > 0) at = Math.max(at, entries.findLastIndex((e) => e.to.getBoundingClientRect().top < innerHeight * 0.6));
      entries.forEach((e, i) => (i === at ? e.a.setAttribute("aria-current", "true") : e.a.removeAttribute("aria-current")));
    };
    addEventListener("scroll", () => { if (!waiting) { waiting = true; requestAnimationFrame(spy); } }, { passive: true });
    spy();
  }

  // Code can be copied: of a session, the commands alone.
  for (const box of all(".code")) {
    const button = make("button", { type: "button" }, "Copy");
    button.addEventListener("click", async () => {
      const lines = box.querySelector("code").textContent.replace(/\n$/, "").split("\n");
      const session = lines.some((l) => l.startsWith("$ "));
      let goesOn = false;
      const commands = lines.filter((l) => { const is = l.startsWith("$ ") || goesOn; goesOn = is && l.endsWith("\\"); return is; });
      const text = (session ? commands.map((l) => l.replace(/^\$ /, "")) : lines).join("\n");
      button.textContent = (await copied(text)) ? "Copied" : "Not copied";
      button.classList.add("done");
      setTimeout(() => { button.textContent = "Copy"; button.classList.remove("done"); }, 1600);
    });
    box.append(button);
  }
  async function copied(text) {
    try { await navigator.clipboard.writeText(text); return true; } catch { /* the older way */ }
    const area = make("textarea", { style: "position:fixed;opacity:0" });
    area.value = text;
    document.body.append(area);
    area.select();
    const ok = document.execCommand("copy");
    area.remove();
    return ok;
  }

  // What can be scrolled sideways can be reached by keyboard.
  const reach = () => {
    for (const e of all(".scroll, .code pre")) {
      if (e.scrollWidth > e.clientWidth) e.tabIndex = 0; else e.removeAttribute("tabindex");
    }
  };
  addEventListener("resize", reach);
  reach();

  // Search
  const dialog = one("dialog.search");
  const input = dialog.querySelector("input");
  const found = one("#found");
  const said = one(".said");
  let loading;
  let chosen = -1;
  // The index is a script: a page from disk may not read files.
  const load = () => (loading ??= new Promise((done, failed) => {
    const script = make("script", { src: root.dataset.root + "assets/search.js" });
    script.addEventListener("load", () => done(window.inferometerRanking(window.inferometerDocs)));
    script.addEventListener("error", () => failed(new Error("assets/search.js is missing")));
    document.head.append(script);
  }));
  // marked is a text in which the terms stand out. Nothing of it is read as HTML.
  function marked(text, terms) {
    const escaped = terms.map((t) => t.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).sort((a, b) => b.length - a.length);
    if (!escaped.length) return [text];
    return text.split(new RegExp(`(${escaped.join("|")})`, "giu")).map((part, i) => (i % 2 ? make("mark", {}, part) : part));
  }
  function snippet(text, first) {
    const from = Math.max(0, first - 60);
    const begin = from === 0 ? 0 : text.indexOf(" ", from) + 1;
    return (begin > 0 ? "… " : "") + text.slice(begin, begin + 170) + (text.length > begin + 170 ? " …" : "");
  }

  function show({ terms, results, meant }, query) {
    chosen = -1;
    found.replaceChildren(...results.map(({ section, first }, i) => {
      const { of: page, id, title } = section;
      const to = `${root.dataset.root}${page.address}?q=${encodeURIComponent(query)}${id ? "#" + encodeURIComponent(id) : ""}`;
      const option = make("a", { role: "option", id: `found-${i}`, href: to, tabindex: "-1", "aria-selected": "false" },
        make("i", {}, page.chapter), make("b", {}, ...marked(page.title, terms), ...(title ? [make("span", {}, " › ", ...marked(title, terms))] : [])),
        make("span", {}, ...marked(snippet(section.text, first), terms)));
      option.addEventListener("mousemove", () => choose(i, false));
      option.addEventListener("click", close);
      return option;
    }));
    said.textContent = !terms.length ? "" : results.length ? `${results.length} places found${meant ? ` for “${meant}”` : ""}` : `Nothing found for “${query}”.`;
    input.setAttribute("aria-expanded", String(results.length > 0));
    found.scrollTop = 0;
    choose(results.length ? 0 : -1, true);
  }
  function choose(i, scroll) {
    if (i === chosen) return;
    found.children[chosen]?.setAttribute("aria-selected", "false");
    chosen = i;
    const option = found.children[i];
    option?.setAttribute("aria-selected", "true");
    if (option) input.setAttribute("aria-activedescendant", option.id); else input.removeAttribute("aria-activedescendant");
    if (scroll) option?.scrollIntoView({ block: "nearest" });
  }
  const look = () => {
    const query = input.value.trim().slice(0, 200);
    load().then((search) => { if (query === input.value.trim().slice(0, 200)) show(search(query), query); }, (e) => { said.textContent = `No search: ${e.message}`; });
  };
  const open = () => { if (!dialog.open) { setMenu(false); dialog.showModal(); input.select(); look(); } };
  const close = () => dialog.close();
  one(".search-button").addEventListener("click", open);
  dialog.querySelector(".close").addEventListener("click", close);
  dialog.addEventListener("click", (e) => { if (e.target === dialog) close(); });
  input.addEventListener("input", look);
  input.addEventListener("keydown", (e) => {
    const last = found.children.length - 1;
    const move = { ArrowDown: chosen >= last ? 0 : chosen + 1, ArrowUp: chosen <= 0 ? last : chosen - 1, PageDown: Math.min(last, chosen + 5), PageUp: Math.max(0, chosen - 5) }[e.key];
    if (move !== undefined && last >= 0) { e.preventDefault(); choose(move, true); }
    if (e.key === "Enter" && !e.isComposing) { e.preventDefault(); found.children[chosen]?.click(); }
  });
  addEventListener("keydown", (e) => {
    if (e.key === "Escape" && !dialog.open) setMenu(false);
    // The cursor may still be in a search that was just closed.
    const typing = dialog.open || (e.target instanceof Element && !dialog.contains(e.target) && e.target.closest("input, textarea, select, [contenteditable]"));
    if ((e.key === "/" && !typing && !e.ctrlKey && !e.metaKey && !e.altKey) || (e.key.toLowerCase() === "k" && (e.ctrlKey || e.metaKey))) { e.preventDefault(); open(); }
  });

  // Who comes from the search sees what was searched.
  const query = new URLSearchParams(location.search).get("q");
  if (query) {
    input.value = query;
    if (window.Highlight && CSS.highlights) {
      const terms = query.toLowerCase().split(/\s+/).filter((t) => t);
      const ranges = [];
      const texts = document.createTreeWalker(one("main"), NodeFilter.SHOW_TEXT);
      while (texts.nextNode()) {
        const node = texts.currentNode, lower = node.data.toLowerCase();
        if (lower.length !== node.data.length) continue;
        for (const term of terms) {
          for (let i = lower.indexOf(term); i >= 0; i = lower.indexOf(term, i + term.length)) {
            const range = new Range();
            range.setStart(node, i);
            range.setEnd(node, i + term.length);
            ranges.push(range);
          }
        }
      }
      CSS.highlights.set("searched", new Highlight(...ranges));
    }
  }
  root.dataset.ready = "true";
})();
