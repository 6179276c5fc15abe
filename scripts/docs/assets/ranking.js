// The ranking of the search, apart from any page: internal/clidoc has the same rules for inferometer help WORDS, and the
// same table of searches tests both.
"use strict";
globalThis.inferometerRanking = (index) => {
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
  // What questions are padded with.
  const filler = new Set("a an and are can do does for how i in is it my of on or the to use want what when where which why with".split(" "));
  // How often a word is written, and far more if it names a page or a section.
  const known = new Map();
  const count = (list, worth) => { for (const w of list) known.set(w, (known.get(w) ?? 0) + worth); };

  for (const p of index.pages) {
    p.words = words(p.title); p.names = words(p.name); p.told = words(p.about ?? "");
    for (const list of [p.words, p.names, p.told]) count(list, 1000 * p.weight);
  }
  for (const s of index.sections) {
    s.words = words(s.title ?? ""); s.lower = s.text.toLowerCase(); s.of = index.pages[s.page];
    count(s.words, 100 * s.of.weight); count(words(s.text), s.of.weight);
  }

  const isWord = (c) => c !== undefined && /[\p{L}\p{N}_]/u.test(c);
  // occurrences gives where a term stands in a text, and what that is worth: whole words more than beginnings of words, and those more than parts. Only the best kind counts.
  function occurrences(text, term) {
    let worth = 0, first = -1, count = 0;
    for (let i = text.indexOf(term); i >= 0 && count < 20; i = text.indexOf(term, i + term.length)) {
      const begins = !isWord(text[i - 1]) || !isWord(term[0]);
      const w = !begins ? 1 : isWord(text[i + term.length]) ? 4 : 10;
      if (w > worth) { worth = w; first = i; count = 0; }
      if (w === worth) count++;
    }
    return { worth: worth && worth + Math.min(4, Math.log2(count)), first };
  }
  // among says how well a term fits a few words: 1 is one of them, 0 none.
  const among = (list, term) => list.reduce((best, w) => Math.max(best, w === term ? 1 : w === term + "s" ? 0.9 : w.startsWith(term) ? (term.length > 3 ? 0.4 : 0.2) * (term.length / w.length) : 0), 0);

  // score gives what a section is worth for one term; a plural finds its singular.
  function score(section, term) {
    const forms = [term];
    if (term.length > 3 && term.endsWith("s")) forms.push(term.slice(0, -1));
    let best = { worth: 0, first: -1 };
    forms.forEach((form, i) => {
      const parts = words(form);
      const fit = (list) => parts.length ? Math.min(...parts.map((p) => among(list, p))) : 0;
      const { of: page, id } = section;
      const title = Math.max(fit(page.words) * (0.6 + 0.4 * parts.length / page.words.length), fit(page.names) * 0.9);
      const heading = fit(section.words) * (0.7 + 0.3 * parts.length / Math.max(1, section.words.length));
      const text = occurrences(section.lower, form);
      const told = fit(page.told) * (60 + 20 * Math.min(3, page.told.filter((w) => w === form).length));
      const worth = ((id ? 20 : 150) * title + (id ? 0 : told) + 60 * heading + text.worth) * (i ? 0.9 : 1);
      if (worth > best.worth) best = { worth, first: text.first >= 0 ? text.first : best.first };
    });
    return best;
  }

  // near: one letter more, less, another one, or two that have changed places.
  function near(a, b) {
    if (Math.abs(a.length - b.length) > 1) return false;
    let i = 0;
    while (i < a.length && a[i] === b[i]) i++;
    if (a.length < b.length) return a.slice(i) === b.slice(i + 1);
    if (a.length > b.length) return a.slice(i + 1) === b.slice(i);
    return a.slice(i + 1) === b.slice(i + 1) || (a[i] === b[i + 1] && a[i + 1] === b[i] && a.slice(i + 2) === b.slice(i + 2));
  }
  // correct gives the word that was meant by one that is written nowhere: the best known of those one typing error away.
  function correct(term) {
    if (term.length < 4 || words(term)[0] !== term || [...known.keys()].some((w) => w.includes(term))) return term;
    let best = term, most = 0;
    for (const [w, n] of known) if ((n > most || (n === most && w < best)) && near(term, w)) { best = w; most = n; }
    return best;
  }

  return (query) => {
    const typed = [...new Set(query.toLowerCase().split(/\s+/).filter((t) => t))];
    const telling = typed.filter((t) => !filler.has(t.replace(/\?$/, "")));
    const asked = (telling.length ? telling : typed).slice(0, 8);
    const terms = asked.map(correct);
    const phrase = terms.join(" ");
    const rank = (needed) => {
      const results = [];
      for (const section of index.sections) {
        let sum = 0, hits = 0, first = -1;
        for (const term of terms) {
          const s = score(section, term);
          if (s.worth > 0) { hits++; sum += s.worth; if (first < 0) first = s.first; }
        }
        if (hits < needed) continue;
        if (terms.length > 1) {
          const whole = section.lower.indexOf(phrase);
          if (whole >= 0) { sum += 25; first = whole; }
          if (section.of.title.toLowerCase().includes(phrase)) sum += section.id ? 20 : 150;
          if ((section.title ?? "").toLowerCase().includes(phrase)) sum += 60;
        }
        results.push({ section, first, worth: sum * (hits / terms.length) ** 2 * section.of.weight });
      }
      results.sort((a, b) => b.worth - a.worth);
      const perPage = new Map();
      return results.filter(({ section }) => { const n = (perPage.get(section.page) ?? 0) + 1; perPage.set(section.page, n); return n <= 3; }).slice(0, 24);
    };
    const results = terms.length ? rank(terms.length) : [];
    return { terms, results: results.length || terms.length < 2 ? results : rank(1), meant: phrase === asked.join(" ") ? "" : phrase };
  };
};
