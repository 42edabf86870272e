import type { TableSort } from "../../widgets/table.ts";
import type { ContextTable } from "../../view-kit/context-table.ts";
import { childrenOf } from "../../view-kit/context-table.ts";
import type { ColumnChoice, CostColumn } from "../../view-kit/cost-columns.ts";

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

/** The default order of a list: by its first exclusive column. */
export function listOrder(columns: readonly CostColumn[], chosen: readonly ColumnChoice[], wanted: TableSort): { readonly sort: TableSort; readonly order: Order } {
  const { descending } = wanted;
  if (wanted.column === "name") return { sort: wanted, order: { by: "name", descending } };
  const column = columns.find((one) => one.id === wanted.column) ?? columns.find((_, index) => chosen[index]?.scope === "exclusive") ?? columns[0];
  const order: Order = column === undefined ? { by: "table" } : { by: "cost", values: column.values, descending };
  return { sort: { column: column?.id ?? "0", descending }, order };
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

/**
 * What a fresh view opens: below every row of the top that matters, down as long as one child bears most of its
 * parent's cost, up to the first level that divides it.
 */
export function firstOpen(tree: ContextTable, cost: Float64Array): Uint8Array {
  const open = new Uint8Array(tree.length);
  const DEEPEST = 12;
  const LEAST = 0.05;
  const MOST = 0.8;
  const top = childrenOf(tree, -1);
  const total = top.reduce((sum, row) => sum + (cost[row] ?? 0), 0);
  for (const row of top) {
    if (!((cost[row] ?? 0) >= LEAST * total)) continue;
    let at = row;
    for (let level = 0; level < DEEPEST && (tree.end[at] ?? 0) > at + 1; level += 1) {
      open[at] = 1;
      const best = childrenOf(tree, at).reduce((most, child) => (most < 0 || (cost[child] ?? 0) > (cost[most] ?? 0) ? child : most), -1);
      if (best < 0 || (cost[best] ?? 0) < MOST * (cost[at] ?? 0)) break;
      at = best;
    }
  }
  return open;
}
