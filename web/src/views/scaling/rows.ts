import type { Table } from "@uwdata/flechette";
import { count, number } from "../../base/format.ts";
import type { TableColumn, TableSort } from "../../widgets/table.ts";
import { headOf } from "../../view-kit/answers.ts";
import { numbersOf, textsOf } from "./data.ts";

/** A column of an engine's table. */
export interface RowColumn {
  readonly name: string;
  /** Its display name, without the unit. */
  readonly title: string;
  readonly unit: string;
  readonly help: string;
  /** Null for texts. */
  readonly numbers: Float64Array | null;
  /** Null for numbers. */
  readonly texts: readonly string[] | null;
  /** Whether all numbers are whole, such as cores and repetitions. */
  readonly isWhole: boolean;
}

/** An engine's table as columns of plain values. */
export function columnsOf(table: Table): readonly RowColumn[] {
  return table.schema.fields.map((field) => {
    const column = table.getChild(field.name);
    const first = firstValue(column);
    const isText = typeof first === "string" || (first === null && isTextType(column?.type));
    const numbers = isText ? null : numbersOf(column);
    return {
      name: field.name,
      ...headOf(table, field.name),
      numbers,
      texts: isText ? textsOf(column) : null,
      isWhole: numbers !== null && numbers.every((value) => Number.isNaN(value) || Number.isInteger(value)) && numbers.some((value) => !Number.isNaN(value)),
    };
  });
}

function firstValue(column: { length: number; get(at: number): unknown } | null | undefined): unknown {
  for (let at = 0; column !== null && column !== undefined && at < column.length; at += 1) {
    const value = column.get(at);
    if (value !== null && value !== undefined) return value;
  }
  return null;
}

/** Arrow's numbers for Utf8, LargeUtf8, Utf8View and Dictionary. */
const TEXT_TYPES: readonly number[] = [5, 20, 24, -1];

function isTextType(type: { typeId: number } | undefined): boolean {
  return type !== undefined && TEXT_TYPES.includes(type.typeId);
}

/** What a header says: the display name and the unit. */
export function headerOf(column: Pick<RowColumn, "title" | "unit">): string {
  return column.unit === "" ? column.title : `${column.title} (${column.unit})`;
}

/** How wide each column has to be for what is in it. */
export function tableColumns(columns: readonly RowColumn[]): readonly TableColumn[] {
  return columns.map((column) => {
    const title = headerOf(column);
    const longest = column.texts === null ? 9 : Math.min(34, Math.max(4, ...column.texts.slice(0, 200).map((text) => text.length)));
    return {
      id: column.name,
      title,
      width: Math.round(Math.max(title.length * 6.8 + 30, longest * 7 + 18)),
      align: column.texts === null ? "right" as const : "left" as const,
      sortable: true,
      ...(column.help === "" ? {} : { help: column.help }),
    };
  });
}

/** The order of rows; the table's own without a sort. Unknown values are last either way. */
export function sortedRows(columns: readonly RowColumn[], length: number, sort: TableSort | null): Int32Array {
  const order = Int32Array.from({ length }, (_, at) => at);
  const column = sort === null ? undefined : columns.find((one) => one.name === sort.column);
  if (sort === null || column === undefined) return order;
  const sign = sort.descending ? -1 : 1;
  const { numbers, texts } = column;
  return order.sort((a, b) => {
    if (texts !== null) {
      const [x, y] = [texts[a] ?? "", texts[b] ?? ""];
      if (x === "" || y === "") return (x === "" ? 1 : 0) - (y === "" ? 1 : 0) || a - b;
      return sign * x.localeCompare(y, undefined, { numeric: true }) || a - b;
    }
    const [x, y] = [numbers?.[a] ?? Number.NaN, numbers?.[b] ?? Number.NaN];
    if (Number.isNaN(x) || Number.isNaN(y)) return (Number.isNaN(x) ? 1 : 0) - (Number.isNaN(y) ? 1 : 0) || a - b;
    return sign * (x - y) || a - b;
  });
}

/** A value as it is shown; the exact one is in the tooltip and in the CSV. */
export function valueText(column: RowColumn, row: number): string {
  if (column.texts !== null) return column.texts[row] ?? "";
  const value = column.numbers?.[row] ?? Number.NaN;
  if (Number.isNaN(value)) return "–";
  return column.isWhole && Math.abs(value) < 1e9 ? count(value) : number(value, 5);
}

/** A value as it is: for copies and tests. */
export function exactText(column: RowColumn, row: number): string {
  if (column.texts !== null) return column.texts[row] ?? "";
  const value = column.numbers?.[row] ?? Number.NaN;
  return Number.isNaN(value) ? "" : String(value);
}
