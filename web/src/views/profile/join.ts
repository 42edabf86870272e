import type { Table } from "@uwdata/flechette";
import { numberColumn, textColumn, type TextColumn } from "./columns.ts";
import { shape, type ContextTable } from "./context-table.ts";

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
  const inclusive = new Float64Array(length);
  const exclusive = new Float64Array(length);
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
      // An entry's own line keeps the list's numbers, whatever was loaded below it.
      const cost = at === 0 ? list.costs[0] : source.costs[0];
      const costRow = at === 0 ? entry : from;
      depth[row] = at === 0 ? 0 : (source.depth[from] ?? 0);
      entries[row] = entry;
      contextId[row] = source.contextId[from] ?? 0;
      inclusive[row] = cost?.inclusive[costRow] ?? Number.NaN;
      exclusive[row] = cost?.exclusive[costRow] ?? Number.NaN;
      kind.put(row, source.kind, from);
      name.put(row, source.name, from);
      place.put(row, source.place, from);
    }
  }
  return {
    rows,
    entries,
    tree: table(depth, contextId, { kind: kind.column, name: name.column, place: place.column }, [{ inclusive, exclusive }]),
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
    [
      { inclusive: numberColumn(answer, "inclusive"), exclusive: numberColumn(answer, "exclusive") },
      { inclusive: numberColumn(answer, "contexts"), exclusive: numberColumn(answer, "contexts") },
    ],
  );
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
