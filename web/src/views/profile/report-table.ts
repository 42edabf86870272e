import type { Table } from "@uwdata/flechette";
import { answerColumns, type AnswerColumn } from "../../view-kit/answers.ts";

/** The columns of a table that are wanted, in the order they are wanted; those it lacks are omitted. */
export function reportColumns(table: Table, wanted: readonly string[]): readonly AnswerColumn[] {
  const columns = answerColumns(table);
  return wanted.flatMap((name) => columns.find((column) => column.id === name) ?? []);
}

/** What a cell says: shares that would round to nothing are not nothing. */
export function reportText(column: AnswerColumn, row: number): string {
  if (column.texts !== null) return column.texts[row] ?? "";
  const value = column.numbers?.[row] ?? Number.NaN;
  if (Number.isNaN(value)) return "–";
  if (column.format?.unit === "%" && value > 0 && value < 0.05) return "<0.1";
  return column.format?.text(value) ?? String(value);
}
