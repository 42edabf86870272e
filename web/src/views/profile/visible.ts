import type { ContextTable } from "./context-table.ts";
import { childrenOf } from "./context-table.ts";

/** How siblings are put in order. */
export type Order =
  | { readonly by: "table" }
  | { readonly by: "name"; readonly descending: boolean }
  | { readonly by: "cost"; readonly values: Float64Array; readonly descending: boolean };

/** The rows of a partly opened tree from top to bottom. */
export interface Visible {
  readonly length: number;
  /** Row of the table. */
  readonly rows: Int32Array;
  /** Position of the parent's row; -1 at the top. */
  readonly parents: Int32Array;
}

/** Puts siblings in order; undefined costs come last, equal ones stay as they were. */
export function sortSiblings(tree: ContextTable, rows: number[], order: Order): number[] {
  if (order.by === "table" || rows.length < 2) return rows;
  const sign = order.descending ? -1 : 1;
  if (order.by === "name") {
    const { codes, texts } = tree.name;
    const text = (row: number): string => texts[codes[row] ?? -1] ?? "";
    return rows.sort((a, b) => sign * COLLATOR.compare(text(a), text(b)) || a - b);
  }
  const { values } = order;
  return rows.sort((a, b) => {
    const first = values[a] ?? Number.NaN;
    const second = values[b] ?? Number.NaN;
    if (Number.isNaN(first) || Number.isNaN(second)) return Number(Number.isNaN(first)) - Number(Number.isNaN(second)) || a - b;
    return sign * (first - second) || a - b;
  });
}

const COLLATOR = new Intl.Collator("en", { numeric: true });

/**
 * Lays out the rows below `root` (-1: everything), the root itself first. `open` has a 1 for each open row.
 * With the table's own order and everything open it is one pass over the columns.
 */
export function visibleRows(tree: ContextTable, open: Uint8Array, root: number, order: Order): Visible {
  const rows = new Int32Array(Math.max(0, root < 0 ? tree.length : (tree.end[root] ?? 0) - root));
  const parents = new Int32Array(rows.length);
  let length = 0;
  if (order.by === "table") {
    // Rows below a closed one are stepped over by its end, so closed parts cost nothing.
    const first = Math.max(0, root);
    const last = root < 0 ? tree.length : (tree.end[root] ?? 0);
    const positions = new Int32Array(rows.length);
    for (let row = first; row < last; row = open[row] === 1 ? row + 1 : (tree.end[row] ?? last)) {
      rows[length] = row;
      positions[row - first] = length;
      parents[length] = row === root ? -1 : (positions[(tree.parent[row] ?? -1) - first] ?? -1);
      length += 1;
    }
  } else {
    const stack: number[] = [];
    const above: number[] = [];
    const push = (list: number[], parent: number): void => {
      for (let index = list.length - 1; index >= 0; index -= 1) {
        stack.push(list[index] ?? 0);
        above.push(parent);
      }
    };
    push(root < 0 ? sortSiblings(tree, childrenOf(tree, -1), order) : [root], -1);
    for (let row = stack.pop(); row !== undefined; row = stack.pop()) {
      const position = length;
      rows[position] = row;
      parents[position] = above.pop() ?? -1;
      length += 1;
      if (open[row] === 1) push(sortSiblings(tree, childrenOf(tree, row), order), position);
    }
  }
  return { length, rows: rows.subarray(0, length), parents: parents.subarray(0, length) };
}

/** Opens or closes a row, or with `deep` it and everything below. Returns a new array. */
export function withOpen(tree: ContextTable, open: Uint8Array, row: number, isOpen: boolean, deep: boolean): Uint8Array {
  const next = open.slice();
  const last = deep ? (row < 0 ? tree.length : (tree.end[row] ?? row + 1)) : row + 1;
  for (let at = Math.max(0, row); at < last; at += 1) next[at] = isOpen && (tree.end[at] ?? 0) > at + 1 ? 1 : 0;
  return next;
}

/** Opens everything above the given rows. */
export function withRevealed(tree: ContextTable, open: Uint8Array, rows: Iterable<number>): Uint8Array {
  const next = open.slice();
  for (const row of rows) for (let at = tree.parent[row] ?? -1; at >= 0 && next[at] !== 1; at = tree.parent[at] ?? -1) next[at] = 1;
  return next;
}

/** What a fresh view opens: down the tree as long as a level has only one row that matters, and one level more. */
export function firstOpen(tree: ContextTable, cost: Float64Array): Uint8Array {
  const open = new Uint8Array(tree.length);
  const MOST = 24;
  let level = childrenOf(tree, -1);
  for (let opened = 0; level.length > 0 && opened < MOST; opened += 1) {
    let best = level[0] ?? -1;
    for (const row of level) if ((cost[row] ?? 0) > (cost[best] ?? 0)) best = row;
    if ((tree.end[best] ?? 0) <= best + 1) break;
    open[best] = 1;
    const below = childrenOf(tree, best);
    const top = below.reduce((most, row) => Math.max(most, cost[row] ?? 0), 0);
    // A level that divides the cost is what people came to see.
    if (top < 0.9 * (cost[best] ?? 0)) break;
    level = below;
  }
  return open;
}
