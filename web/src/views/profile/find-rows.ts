import { textAt } from "../../view-kit/columns.ts";
import type { ContextTable } from "../../view-kit/context-table.ts";

/** The nearest function at or above a row; -1 where there is none. */
export function functionAround(tree: ContextTable, row: number): number {
  for (let at = row; at >= 0; at = tree.parent[at] ?? -1) if (textAt(tree.kind, at) === "function") return at;
  return -1;
}

/** Rows of a tree that a group of the flat view is made of, those that cost most first; at most `most`. */
export function rowsOfGroup(tree: ContextTable, by: string, name: string, most: number): readonly number[] {
  const column = by === "module" ? tree.module : by === "file" ? tree.definitionFile : tree.name;
  const codes = new Set<number>();
  column.texts.forEach((text, code) => {
    if (text === name || (by !== "function" && text.endsWith(`/${name}`))) codes.add(code);
  });
  const rows: number[] = [];
  for (let row = 0; row < tree.length; row += 1) {
    if (!codes.has(column.codes[row] ?? -1)) continue;
    if ((by === "function" || by === "loop" || by === "line") && textAt(tree.kind, row) !== by) continue;
    rows.push(row);
  }
  const cost = tree.costs[0]?.inclusive;
  return rows.sort((a, b) => (cost?.[b] ?? 0) - (cost?.[a] ?? 0)).slice(0, most);
}
