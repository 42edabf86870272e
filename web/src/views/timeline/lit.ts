/** What stands out in a picture of time: everything, or what lies at and below some contexts. Pure. */
import type { TimelineBy } from "../../view-kit/asks.ts";
import type { TimelineCatalog } from "../../view-kit/catalog.ts";

/** What stands out. */
export interface Lit {
  isContext(context: number): boolean;
  isKey(key: number): boolean;
}

/** The contexts at and below some rows, and the functions or groups of these. */
export function litBelow(catalog: Pick<TimelineCatalog, "contexts" | "keyOf">, rows: readonly number[], by: TimelineBy): Lit {
  const { contexts } = catalog;
  const isLit = new Uint8Array(contexts.length);
  const keys = new Set<number>();
  for (const row of rows) {
    const end = contexts.end[row] ?? row;
    for (let at = row; at < end; at += 1) {
      if (isLit[at] === 1) continue;
      isLit[at] = 1;
      keys.add(catalog.keyOf(at, by));
    }
  }
  return { isContext: (context) => isLit[context] === 1, isKey: (key) => keys.has(key) };
}

/** One function or group, wherever it is called. */
export function litKey(catalog: Pick<TimelineCatalog, "keyOf">, key: number, by: TimelineBy): Lit {
  return { isContext: (context) => catalog.keyOf(context, by) === key, isKey: (other) => other === key };
}
