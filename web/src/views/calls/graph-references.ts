/** Which references are on screen, and which nodes they are linked to. */

/** What a node does with a reference. */
export type Deed = "reads" | "writes" | "both";

/** A line between a node and a reference. */
export interface ReferenceLink {
  /** Node by its key. */
  readonly node: number;
  /** Place of the reference in the list of those shown. */
  readonly reference: number;
  readonly deed: Deed;
  readonly reads: number;
  readonly writes: number;
}

/** What a node touches, as far as that is to be seen. */
export interface Touched {
  readonly node: number;
  /** Numbers of references, with how often each is read and written. */
  readonly references: readonly number[];
  readonly reads: ArrayLike<number>;
  readonly writes: ArrayLike<number>;
  /** Only these; null for all. */
  readonly only: ReadonlySet<number> | null;
}

export interface ShownReferences {
  /** Numbers of references, in the order of the nodes that they were shown for. */
  readonly references: readonly number[];
  readonly links: readonly ReferenceLink[];
  /** References that did not fit. */
  readonly omitted: number;
}

/** More would be neither distinguished nor moved in time. */
export const MOST_REFERENCES = 600;

/** What one does that reads and writes so often. */
export function deedOf(reads: number, writes: number): Deed {
  return writes > 0 ? (reads > 0 ? "both" : "writes") : "reads";
}

/** References and links of all nodes together; those that are used most stay where there are too many. */
export function shownReferences(touched: readonly Touched[], most = MOST_REFERENCES): ShownReferences {
  const uses = new Map<number, number>();
  for (const { references, reads, writes, only } of touched) {
    references.forEach((reference, at) => {
      if (only !== null && !only.has(reference)) return;
      uses.set(reference, (uses.get(reference) ?? 0) + (reads[at] ?? 0) + (writes[at] ?? 0));
    });
  }
  const kept = uses.size <= most ? [...uses.keys()] : [...uses].sort((a, b) => b[1] - a[1]).slice(0, most).map(([reference]) => reference);
  const places = new Map(kept.map((reference, place) => [reference, place]));
  const links: ReferenceLink[] = [];
  const seen = new Set<string>();
  for (const { node, references, reads: readCounts, writes: writeCounts, only } of touched) {
    references.forEach((reference, at) => {
      const place = places.get(reference);
      const key = `${String(node)} ${String(reference)}`;
      if (place === undefined || (only !== null && !only.has(reference)) || seen.has(key)) return;
      seen.add(key);
      const [reads, writes] = [readCounts[at] || 0, writeCounts[at] || 0];
      links.push({ node, reference: place, deed: deedOf(reads, writes), reads, writes });
    });
  }
  return { references: kept, links, omitted: uses.size - kept.length };
}

/** Places of the references that all of these nodes are linked to; none where there are fewer than two nodes. */
export function sharedByAll(shown: ShownReferences, nodes: readonly number[]): ReadonlySet<number> {
  if (nodes.length < 2) return new Set();
  const wanted = new Set(nodes);
  const counts = new Map<number, number>();
  for (const { node, reference } of shown.links) if (wanted.has(node)) counts.set(reference, (counts.get(reference) ?? 0) + 1);
  return new Set([...counts].filter(([, count]) => count === wanted.size).map(([reference]) => reference));
}
