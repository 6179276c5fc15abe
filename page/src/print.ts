// What changes for paper, and changes back.

// preparePrint: paper has no summaries to click on, so what is folded is opened. Notes and checks then stand at the end
// of the report, so that the figures stay on the first page.
export function preparePrint(): void {
  let undo: (() => void)[] = [];
  const all = (selector: string) => [...document.querySelectorAll<HTMLDetailsElement>(selector)];
  addEventListener("beforeprint", () => {
    for (const d of all("main :is(details.notes, details.checks)")) {
      if (!d.open) { d.open = true; undo.push(() => { d.open = false; }); }
      const place = document.createComment("");
      d.replaceWith(place);
      document.getElementById("main")?.append(d);
      undo.push(() => { if (place.isConnected) place.replaceWith(d); else d.remove(); });
    }
  });
  addEventListener("afterprint", () => { for (const f of undo.reverse()) f(); undo = []; });
}
