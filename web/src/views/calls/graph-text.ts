import { bytes, count, percent, plural } from "../../base/format.ts";
import { lengthText } from "../../widgets/timeline/axis.ts";
import { shortName } from "../../view-kit/catalog.ts";
import type { Activation, Reference } from "./records.ts";

/** What stands in a node. */
export function nodeText(of: Activation): string {
  if (of.kind === "iteration") return of.number === null ? "iteration" : `#${String(of.number)}`;
  return of.name === "" ? (of.kind === "loop" ? "loop" : "unknown function") : shortName(of.name);
}

/** The number in the badge of a node; null where there is none. */
export function badgeOf(of: Activation): string | null {
  if (of.kind === "group") return `${count(of.count)}×`;
  return of.kind === "loop" ? count(of.iterations) : null;
}

/** What a node is, in words. */
export function kindText(of: Activation): string {
  switch (of.kind) {
    case "call": return "call";
    case "group": return plural(of.count, "call");
    case "loop": return `loop, ${plural(of.iterations, "iteration")}`;
    case "iteration": return "iteration";
  }
}

/** The share of the time of all threads, between 0 and 1; NaN where that is unknown. */
export function shareOf(of: Activation, wholeNs: number): number {
  return wholeNs > 0 ? of.lengthNs / wholeNs : Number.NaN;
}

/** One line about a node for screen readers. */
export function describeNode(of: Activation, wholeNs: number, isOpen: boolean, isMarked: boolean): string {
  const share = shareOf(of, wholeNs);
  return [
    of.kind === "iteration" ? `iteration ${String(of.number ?? "")}` : `${kindText(of)} ${nodeText(of)}`,
    lengthText(of.lengthNs),
    ...Number.isNaN(share) ? [] : [`${percent(share)} of all threads`],
    ...isOpen ? ["open"] : [],
    ...isMarked ? ["marked"] : [],
  ].join(", ");
}

/** Storage classes: what they are called, and the letter in their circle. */
export const STORAGE: readonly { readonly storage: string; readonly letter: string; readonly text: string; readonly colour: number }[] = [
  { storage: "stack", letter: "S", text: "Stack: local variable", colour: 4 },
  { storage: "heap", letter: "H", text: "Heap: allocation", colour: 0 },
  { storage: "static", letter: "T", text: "Static variable", colour: 3 },
  { storage: "global", letter: "G", text: "Global variable", colour: 5 },
];

/** Place in `STORAGE`; -1 for a class without a name. */
export function storageOf(storage: string): number {
  return STORAGE.findIndex((one) => storage.toLowerCase().includes(one.storage));
}

/** What a reference is called. */
export function referenceText(of: Reference): string {
  return of.name === "" ? `${of.storage === "" ? "reference" : of.storage} ${String(of.id)}` : of.name;
}

/** Size of a reference, in words. */
export function sizeText(of: Reference): string {
  return of.sizeBytes === null ? "unknown" : bytes(of.sizeBytes);
}
