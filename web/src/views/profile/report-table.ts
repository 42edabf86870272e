import type { TableReply } from "../../wire/protocol.ts";
import { valueFormat, type ValueFormat } from "../../view-kit/format.ts";

/** A column of a table inside a reply, ready to show. */
export interface ReportColumn {
  readonly index: number;
  readonly name: string;
  readonly title: string;
  readonly isNumber: boolean;
  readonly format: ValueFormat;
}

const TITLES: Readonly<Record<string, string>> = {
  group: "Group",
  class: "Class",
  cost: "Value",
  percent: "Share",
  contexts: "Contexts",
  function: "Function",
  module: "Load module",
  exclusive: "Exclusive",
  inclusive: "Inclusive",
  what: "What",
  metric: "Metric",
  value: "Value",
  routine: "Routine",
  context: "Context",
  name: "Context",
  balance_ratio: "Balance",
  saving: "Saving",
  mean: "Mean",
  max: "Max",
  slowest: "Slowest",
  location: "Thread",
  total: "Total",
  unit: "Unit",
};

/** The columns of a table that are wanted, in the order they are wanted; those it lacks are left out. */
export function reportColumns(table: TableReply, wanted: readonly string[]): readonly ReportColumn[] {
  return wanted.flatMap((name) => {
    const index = table.columns.findIndex((column) => column.name === name);
    const column = table.columns[index];
    if (column === undefined) return [];
    const isNumber = column.type !== "string" && column.type !== "bool";
    const largest = table.rows.reduce((most, row) => Math.max(most, Math.abs(Number(row[index] ?? 0))), 0);
    const format: ValueFormat = column.unit === "%" ? { unit: "%", text: (value) => (value > 0 && value < 0.05 ? "<0.1" : value.toFixed(1)) } : valueFormat(column.unit, isNumber ? largest : 0);
    const title = TITLES[name] ?? name;
    return [{ index, name, title: format.unit === "" || !isNumber ? title : `${title} (${format.unit})`, isNumber, format }];
  });
}
