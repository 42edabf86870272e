import type { Table } from "@uwdata/flechette";
import { numberColumn, textAt, textColumn, type TextColumn } from "../../view-kit/columns.ts";
import { shape, type ContextTable } from "../../view-kit/context-table.ts";

/** A list whose entries may have been replaced by trees that begin with them. */
export interface Joined {
  readonly tree: ContextTable;
  /** Row of each entry of the list. */
  readonly rows: Int32Array;
  /** Entry of the list that each row belongs to. */
  readonly entries: Int32Array;
}

/** Puts trees in the place of entries of a list; `parts` has a tree for some entries, with the entry as its first row. */
export function join(list: ContextTable, parts: ReadonlyMap<number, ContextTable>): Joined {
  const lengthOf = (entry: number): number => parts.get(entry)?.length ?? 1;
  let length = 0;
  const rows = new Int32Array(list.length);
  for (let entry = 0; entry < list.length; entry += 1) {
    rows[entry] = length;
    length += lengthOf(entry);
  }
  const depth = new Uint32Array(length);
  const entries = new Int32Array(length);
  const contextId = new Uint32Array(length);
  const costs = list.costs.map(() => ({ inclusive: new Float64Array(length), exclusive: new Float64Array(length) }));
  const kind = new Texts(length);
  const name = new Texts(length);
  const place = new Texts(length);
  for (let entry = 0; entry < list.length; entry += 1) {
    const part = parts.get(entry);
    const source = part ?? list;
    const begin = part === undefined ? entry : 0;
    for (let at = 0; at < lengthOf(entry); at += 1) {
      const row = (rows[entry] ?? 0) + at;
      const from = begin + at;
      depth[row] = at === 0 ? 0 : (source.depth[from] ?? 0);
      entries[row] = entry;
      contextId[row] = source.contextId[from] ?? 0;
      costs.forEach((cost, metric) => {
        // An entry's own line keeps the list's numbers, whatever was loaded below it.
        const given = (at === 0 ? list : source).costs[metric];
        const costRow = at === 0 ? entry : from;
        cost.inclusive[row] = given?.inclusive[costRow] ?? Number.NaN;
        cost.exclusive[row] = given?.exclusive[costRow] ?? Number.NaN;
      });
      kind.put(row, source.kind, from);
      name.put(row, source.name, from);
      place.put(row, source.place, from);
    }
  }
  return {
    rows,
    entries,
    tree: table(depth, contextId, { kind: kind.column, name: name.column, place: place.column }, costs),
  };
}

/** The rows of `flat` as a list: every row stands at the top; ids are their positions. */
export function flatTable(answer: Table, by: string): ContextTable {
  const length = answer.numRows;
  return table(
    new Uint32Array(length),
    Uint32Array.from({ length }, (_, row) => row),
    {
      kind: { codes: new Int32Array(length), texts: [by] },
      name: textColumn(answer, "name"),
      place: textColumn(answer, "place"),
    },
    [{ inclusive: numberColumn(answer, "inclusive"), exclusive: numberColumn(answer, "exclusive") }],
  );
}

/**
 * One tree of several, each of which has one cost: rows are the same where their names and places are, from the top
 * down. What only a later one has comes after what the first has; a cost that a tree lacks is 0.
 */
export function uniteCosts(trees: readonly ContextTable[]): ContextTable {
  const first = trees[0];
  if (first === undefined) throw new Error("There is no tree to unite.");
  if (trees.length === 1) return first;
  const known = new Map<string, number>();
  const children = new Map<number, number[]>();
  const origins: { tree: ContextTable; row: number; costs: (readonly [number, number] | undefined)[] }[] = [];
  trees.forEach((tree, metric) => {
    const nodes = new Int32Array(tree.length);
    const times = new Map<string, number>();
    for (let row = 0; row < tree.length; row += 1) {
      const above = tree.parent[row] ?? -1;
      const parent = above < 0 ? -1 : (nodes[above] ?? -1);
      const name = `${String(parent)}\u0000${textAt(tree.name, row)}\u0000${textAt(tree.place, row)}`;
      // Functions of one name in several libraries are rows of their own.
      const time = (times.get(name) ?? 0) + 1;
      times.set(name, time);
      const key = `${name}\u0000${String(time)}`;
      let node = known.get(key);
      if (node === undefined) {
        node = origins.push({ tree, row, costs: [] }) - 1;
        known.set(key, node);
        const siblings = children.get(parent);
        if (siblings === undefined) children.set(parent, [node]);
        else siblings.push(node);
      }
      nodes[row] = node;
      const origin = origins[node];
      if (origin !== undefined) origin.costs[metric] = [tree.costs[0]?.inclusive[row] ?? Number.NaN, tree.costs[0]?.exclusive[row] ?? Number.NaN];
    }
  });
  const length = origins.length;
  const depth = new Uint32Array(length);
  const contextId = new Uint32Array(length);
  const costs = trees.map(() => ({ inclusive: new Float64Array(length), exclusive: new Float64Array(length) }));
  const kind = new Texts(length);
  const name = new Texts(length);
  const place = new Texts(length);
  const stack = (children.get(-1) ?? []).toReversed().map((node) => ({ node, level: 0 }));
  let row = 0;
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const origin = origins[next.node];
    if (origin === undefined) break;
    depth[row] = next.level;
    contextId[row] = origin.tree.contextId[origin.row] ?? 0;
    costs.forEach((cost, metric) => {
      const [inclusive, exclusive] = origin.costs[metric] ?? [0, 0];
      cost.inclusive[row] = inclusive;
      cost.exclusive[row] = exclusive;
    });
    kind.put(row, origin.tree.kind, origin.row);
    name.put(row, origin.tree.name, origin.row);
    place.put(row, origin.tree.place, origin.row);
    const level = next.level + 1;
    stack.push(...(children.get(next.node) ?? []).toReversed().map((node) => ({ node, level })));
    row += 1;
  }
  return table(depth, contextId, { kind: kind.column, name: name.column, place: place.column }, costs);
}

function table(
  depth: Uint32Array,
  contextId: Uint32Array,
  texts: Pick<ContextTable, "kind" | "name" | "place">,
  costs: ContextTable["costs"],
): ContextTable {
  const none: TextColumn = { codes: new Int32Array(depth.length).fill(-1), texts: [] };
  const noLine = new Uint32Array(depth.length);
  return {
    length: depth.length, depth, ...shape(depth), contextId, ...texts,
    definitionFile: none, definitionLine: noLine, file: none, line: noLine, module: none, costs,
  };
}

/** A text column that is filled from others. */
class Texts {
  readonly column: { readonly codes: Int32Array; readonly texts: string[] };
  readonly #known = new Map<string, number>();

  constructor(length: number) {
    this.column = { codes: new Int32Array(length).fill(-1), texts: [] };
  }

  put(row: number, source: TextColumn, from: number): void {
    const text = source.texts[source.codes[from] ?? -1];
    if (text === undefined) return;
    let code = this.#known.get(text);
    if (code === undefined) {
      code = this.column.texts.push(text) - 1;
      this.#known.set(text, code);
    }
    this.column.codes[row] = code;
  }
}

/** Carries over which rows are open from one joined list to the next, in which other entries are loaded. */
export function carryOpen(before: Joined, open: Uint8Array, after: Joined): Uint8Array {
  const next = new Uint8Array(after.tree.length);
  for (let row = 0; row < open.length; row += 1) {
    if (open[row] !== 1) continue;
    const entry = before.entries[row] ?? 0;
    const to = (after.rows[entry] ?? 0) + row - (before.rows[entry] ?? 0);
    if (after.entries[to] === entry) next[to] = 1;
  }
  return next;
}
