// What a link to a part of the page keeps: the section, the stage, what is zoomed to, and which requests are wanted.
import type { Span } from "./chart/view";
import { everything, type Wanted } from "./request/rows";

export interface Place { section: string; stage: number; zoom: Span | null; wanted: Wanted } // stage -1: none is named

// fragment is a place as the part of an address behind the #: "levels&stage=2&zoom=1.5_3".
export function fragment(p: Place): string {
  const v = new URLSearchParams();
  const w = p.wanted;
  if (p.stage >= 0) v.set("stage", String(p.stage + 1));
  if (p.zoom) v.set("zoom", p.zoom.map((s) => +s.toFixed(3)).join("_"));
  if (w.outcome) v.set("result", w.outcome);
  if (w.stage >= 0) v.set("of", String(w.stage + 1));
  if (w.target >= 0) v.set("target", String(w.target + 1));
  if (w.session >= 0) v.set("session", String(w.session + 1));
  if (!w.warmup) v.set("warmup", "no");
  if (w.latency > 0) v.set("latency", String(w.latency));
  if (w.ttft > 0) v.set("ttft", String(w.ttft));
  if (w.zoomed) v.set("zoomed", "yes");
  return [p.section, v.toString()].filter(Boolean).join("&");
}

// place reads that; null where it names a section at most.
export function place(hash: string): Place | null {
  const [section = "", ...rest] = hash.replace(/^#/, "").split("&");
  const named = !section.includes("=");
  const v = new URLSearchParams(named ? rest.join("&") : hash.replace(/^#/, ""));
  if (v.size === 0) return null;
  const number = (key: string) => { const n = Number(v.get(key)); return Number.isFinite(n) && n > 0 ? n : 0; };
  const from = (key: string) => Math.floor(number(key)) - 1;
  const [a = NaN, b = NaN] = (v.get("zoom") ?? "").split("_").map(Number);
  return {
    section: named ? section : "", stage: from("stage"), zoom: b > a ? [a, b] : null,
    wanted: { ...everything(), outcome: v.get("result") ?? "", stage: from("of"), target: from("target"), session: from("session"), warmup: v.get("warmup") !== "no", latency: number("latency"), ttft: number("ttft"), zoomed: v.get("zoomed") === "yes" },
  };
}
