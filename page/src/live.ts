// The run while it goes on: each event is a whole new document, so a lost connection loses nothing.
import type { Document } from "./document";
import { model, type Model } from "./model";

export type Status = "connected" | "reconnecting" | "ended";

export function follow(show: (m: Model) => void, status: (s: Status) => void): void {
  const events = new EventSource("events" + location.search);
  let busy = false; // a document is being unpacked
  let next: (() => Promise<void>) | null = null;
  const take = async (data: string, last: boolean) => {
    const job = async () => {
      const { document: doc, planes } = JSON.parse(data) as { document: Document; planes: string };
      if (last) doc.live = false;
      show(await model(doc, planes));
      if (last) status("ended");
    };
    next = job; // one that came meanwhile is out of date
    if (busy) return;
    busy = true;
    try {
      while (next) {
        const now: () => Promise<void> = next;
        next = null;
        await now();
      }
    } finally { busy = false; }
  };
  events.addEventListener("open", () => status("connected"));
  events.addEventListener("error", () => status("reconnecting"));
  events.addEventListener("document", (e) => { status("connected"); void take(e.data as string, false); });
  events.addEventListener("end", (e) => { events.close(); void take(e.data as string, true); });
}
