import type { TableSort } from "../../widgets/table.ts";

/** How a result is drawn. */
export type SqlChart = "bars" | "line";

/** What a link keeps of statements: what was asked, not what it gave. */
export interface SqlState {
  readonly statement: string;
  /** Rows that are asked for at most. */
  readonly rows: number;
  readonly show: "table" | "chart";
  readonly chart: SqlChart;
  /** Columns of the chart; empty for those that fit. */
  readonly x: string;
  readonly y: string;
  /** An empty column for the order of the result. */
  readonly sort: TableSort;
}

export const MOST_ROWS = 100_000;

export const SQL_STATE: SqlState = {
  statement: "",
  rows: 1000,
  show: "table",
  chart: "bars",
  x: "",
  y: "",
  sort: { column: "", descending: false },
};

/** A number of rows that may be asked for, out of what was typed; null where it is none. */
export function rowsTyped(text: string): number | null {
  const digits = text.replace(/[\s,._']/g, "");
  if (!/^\d+$/.test(digits)) return null;
  return Math.max(1, Math.min(Number(digits), MOST_ROWS));
}
