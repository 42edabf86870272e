import type { Table } from "@uwdata/flechette";
import { numberColumn, textAt, textColumn, wholeColumn, type TextColumn } from "./columns.ts";

/** The cost of one metric in every row. */
export interface Costs {
  /** With everything below; NaN where undefined. */
  readonly inclusive: Float64Array;
  /** Its own code; NaN where undefined. */
  readonly exclusive: Float64Array;
}

/**
 * A tree as columns, one entry for each row, in depth-first order: what is below row `r` are the rows from `r + 1` up
 * to, but not including, `end[r]`. Nothing is an object for each row, so a million of them are a few arrays.
 */
export interface ContextTable {
  readonly length: number;
  /** 0 at the top. */
  readonly depth: Uint32Array;
  /** -1 at the top. */
  readonly parent: Int32Array;
  readonly end: Int32Array;
  /** Id of the context in the database. */
  readonly contextId: Uint32Array;
  readonly kind: TextColumn;
  readonly name: TextColumn;
  /** `file:line` of the definition, short. */
  readonly place: TextColumn;
  readonly definitionFile: TextColumn;
  readonly definitionLine: Uint32Array;
  readonly file: TextColumn;
  readonly line: Uint32Array;
  readonly module: TextColumn;
  /** One for each metric that was requested. */
  readonly costs: readonly Costs[];
}

/** A table that `tree_table` or `callers` answered with. */
export function contextTable(table: Table, metrics = 1): ContextTable {
  const depth = wholeColumn(table, "depth");
  const { parent, end } = shape(depth);
  const single = table.getChild("inclusive") !== undefined;
  return {
    length: depth.length,
    depth,
    parent,
    end,
    contextId: wholeColumn(table, "context_id"),
    kind: textColumn(table, "kind"),
    name: textColumn(table, "name"),
    place: textColumn(table, "place"),
    definitionFile: textColumn(table, "definition_file"),
    definitionLine: wholeColumn(table, "definition_line"),
    file: textColumn(table, "file"),
    line: wholeColumn(table, "line"),
    module: textColumn(table, "module"),
    costs: Array.from({ length: single ? 1 : metrics }, (_, metric) => ({
      inclusive: numberColumn(table, single ? "inclusive" : `inclusive:${String(metric)}`),
      exclusive: numberColumn(table, single ? "exclusive" : `exclusive:${String(metric)}`),
    })),
  };
}

/** Parents and ends of subtrees, from the depths of rows in depth-first order. */
export function shape(depth: Uint32Array): { parent: Int32Array; end: Int32Array } {
  const parent = new Int32Array(depth.length).fill(-1);
  const end = new Int32Array(depth.length).fill(depth.length);
  const path: number[] = [];
  for (let row = 0; row < depth.length; row += 1) {
    // A damaged depth cannot be deeper than one below the row before.
    const level = Math.min(depth[row] ?? 0, path.length);
    for (let open = path.pop(); open !== undefined; open = path.pop()) {
      if (path.length < level) {
        path.push(open);
        break;
      }
      end[open] = row;
    }
    parent[row] = path.at(-1) ?? -1;
    path.push(row);
  }
  return { parent, end };
}

/** Whether a row has rows below it. */
export function hasChildren(tree: ContextTable, row: number): boolean {
  return (tree.end[row] ?? 0) > row + 1;
}

/** The rows directly below a row (-1: the top), in the order of the table. */
export function childrenOf(tree: Pick<ContextTable, "length" | "end">, row: number): number[] {
  const children: number[] = [];
  const last = row < 0 ? tree.length : (tree.end[row] ?? 0);
  for (let child = row + 1; child < last; child = tree.end[child] ?? last) children.push(child);
  return children;
}

/** The rows from the top down to a row, itself included. */
export function pathTo(tree: Pick<ContextTable, "parent">, row: number): number[] {
  const path: number[] = [];
  for (let at = row; at >= 0; at = tree.parent[at] ?? -1) path.push(at);
  return path.reverse();
}

/** Rows by id: directly where ids are dense, else ids in order with their rows. */
type RowIndex = { readonly direct: Int32Array } | { readonly ids: Uint32Array; readonly rows: Uint32Array };

const indexes = new WeakMap<ContextTable, RowIndex>();
/** Ids may be this many times as many as rows before a direct table wastes too much. */
const SPARSEST = 16;

function rowIndex(tree: ContextTable): RowIndex {
  const known = indexes.get(tree);
  if (known !== undefined) return known;
  let most = 0;
  for (const id of tree.contextId) if (id > most) most = id;
  const index = most < SPARSEST * tree.length + 1024 ? directIndex(tree, most) : sortedIndex(tree);
  indexes.set(tree, index);
  return index;
}

function directIndex(tree: ContextTable, most: number): RowIndex {
  const direct = new Int32Array(most + 1).fill(-1);
  for (let row = tree.length - 1; row >= 0; row -= 1) direct[tree.contextId[row] ?? 0] = row;
  return { direct };
}

function sortedIndex(tree: ContextTable): RowIndex {
  // Sorting pairs as one 64-bit number each keeps many ids within a few arrays.
  const pairs = BigUint64Array.from(tree.contextId, (id, row) => (BigInt(id) << 32n) | BigInt(row)).sort();
  return {
    ids: Uint32Array.from(pairs, (pair) => Number(pair >> 32n)),
    rows: Uint32Array.from(pairs, (pair) => Number(pair & 0xffff_ffffn)),
  };
}

/** The first row of a context; -1 where it is not in the table. */
export function rowOf(tree: ContextTable, contextId: number): number {
  const index = rowIndex(tree);
  if ("direct" in index) return index.direct[contextId] ?? -1;
  let low = 0;
  let high = index.ids.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((index.ids[middle] ?? 0) < contextId) low = middle + 1;
    else high = middle;
  }
  return index.ids[low] === contextId ? (index.rows[low] ?? -1) : -1;
}

/** What a row is called. */
export function nameOf(tree: ContextTable, row: number): string {
  return textAt(tree.name, row);
}

/**
 * From a row down the most expensive children, as long as each bears at least `share` of its parent's cost.
 * From -1 the path begins at the most expensive row of the top, whatever its share.
 */
export function hotPath(tree: ContextTable, cost: Float64Array, from: number, share: number): number[] {
  const path = from < 0 ? [] : [from];
  let at = from;
  for (;;) {
    let best = -1;
    let most = Number.NEGATIVE_INFINITY;
    for (const child of childrenOf(tree, at)) {
      const value = cost[child] ?? Number.NaN;
      if (value > most) {
        best = child;
        most = value;
      }
    }
    if (best < 0 || most <= 0) return path;
    if (at >= 0 && most < share * (cost[at] ?? 0)) return path;
    path.push(best);
    at = best;
  }
}
