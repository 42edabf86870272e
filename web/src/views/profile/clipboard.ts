import { csv } from "../../widgets/save.ts";
import { textAt } from "../../view-kit/columns.ts";
import { nameOf, pathTo, type ContextTable } from "../../view-kit/context-table.ts";
import type { CostColumn } from "../../view-kit/cost-columns.ts";

const FIXED = ["depth", "context_id", "kind", "name", "place"] as const;

function titles(columns: readonly CostColumn[]): string[] {
  // Files have the values as measured, so the unit is the metric's own and not the one on screen.
  return columns.map((column) => {
    const title = column.title.replace(/ \([^()]*\)$/, "");
    return column.unit === "" ? title : `${title} (${column.unit})`;
  });
}

function cells(tree: ContextTable, row: number, columns: readonly CostColumn[]): (string | number | null)[] {
  const values = columns.map((column) => column.values[row] ?? Number.NaN);
  return [
    tree.depth[row] ?? 0, tree.contextId[row] ?? 0, textAt(tree.kind, row), nameOf(tree, row), textAt(tree.place, row),
    ...values.map((value) => (Number.isNaN(value) ? null : value)),
  ];
}

/** Rows with exact values as CSV. */
export function rowsCsv(tree: ContextTable, rows: Iterable<number>, columns: readonly CostColumn[]): string {
  function* lines(): Generator<(string | number | null)[]> {
    yield [...FIXED, ...titles(columns)];
    for (const row of rows) yield cells(tree, row, columns);
  }
  return csv(lines());
}

/** Rows for pasting into a spreadsheet: names and values between tabs. */
export function rowsText(tree: ContextTable, rows: Iterable<number>, columns: readonly CostColumn[]): string {
  const lines = [["name", ...titles(columns)].join("\t")];
  for (const row of rows) lines.push([nameOf(tree, row), ...columns.map((column) => String(column.values[row] ?? ""))].join("\t"));
  return lines.join("\n");
}

/** The call path of a row, one name on each line. */
export function pathText(tree: ContextTable, row: number): string {
  return pathTo(tree, row).map((step) => nameOf(tree, step)).join("\n");
}
