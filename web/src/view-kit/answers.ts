import { Type, type Table } from "@uwdata/flechette";
import { count } from "../base/format.ts";
import { csv } from "../widgets/save.ts";
import type { TableColumn, TableSort } from "../widgets/table.ts";
import { nameWidth, numberColumn, textAt, textColumn } from "./columns.ts";
import { valueFormat, type ValueFormat } from "./format.ts";
import { distinguish, shortName } from "./catalog.ts";

/** A column of an answer of the engine, ready to be shown. */
export interface AnswerColumn {
  readonly id: string;
  /** Its display name, without the unit. */
  readonly title: string;
  readonly head: TableColumn;
  /** For texts. */
  readonly texts: readonly string[] | null;
  /** For numbers; NaN where there is none. */
  readonly numbers: Float64Array | null;
  readonly format: ValueFormat | null;
  /** Largest value, for bars; 0 where there are none: texts, and numbers that say which one (a line, a rank), not how much. */
  readonly most: number;
}

/** What a column is called on screen, what it means and in which unit it is, as the engine's schema has it. */
export function headOf(table: Table, id: string): { readonly title: string; readonly help: string; readonly unit: string; readonly isLabel: boolean } {
  const said = table.schema.fields.find((field) => field.name === id)?.metadata;
  return { title: said?.get("head") ?? id, help: said?.get("doc") ?? "", unit: said?.get("unit") ?? "", isLabel: said?.get("role") === "label" };
}

/** The columns of an answer that are shown, in its order: ids of contexts are omitted, unless it is shown as it is. */
export function answerColumns(table: Table, isWhole = false): readonly AnswerColumn[] {
  const columns: AnswerColumn[] = [];
  for (const id of table.names) {
    if (!isWhole && (id === "context_id" || id === "end_s")) continue;
    const { title, help, unit, isLabel } = headOf(table, id);
    if (isText(table, id)) {
      const column = textColumn(table, id);
      const texts = Array.from({ length: table.numRows }, (_, row) => textAt(column, row));
      distinguish(texts.flatMap((text) => text.split(" > ")));
      columns.push({ id, title, texts, numbers: null, format: null, most: 0, head: { id, title, width: nameWidth(texts.map((text) => text.split(" > ").map((part) => shortName(part)).join(" › "))), sortable: true, help } });
      continue;
    }
    const numbers = numberColumn(table, id);
    if (isLabel) {
      columns.push({ id, title, texts: null, numbers, format: LABEL, most: 0, head: { id, title, width: 80, align: "right", sortable: true, help } });
      continue;
    }
    const most = numbers.reduce((best, value) => (Number.isFinite(value) ? Math.max(best, Math.abs(value)) : best), 0);
    const format = isCount(table, id, unit) ? WHOLE : unit === "%" ? { unit: "%", text: (value: number) => (Number.isNaN(value) ? "–" : value.toFixed(1)) } : valueFormat(unit, most);
    columns.push({ id, title, texts: null, numbers, format, most: unit === "%" ? 100 : most, head: { id, title: withUnit(title, format), width: 108, align: "right", sortable: true, help } });
  }
  return columns;
}

/** What stands above a column of numbers. */
export function withUnit(title: string, format: ValueFormat): string {
  return format.unit === "" ? title : `${title} (${format.unit})`;
}

/** Counts have no digits behind the point, and are written in full. */
const WHOLE: ValueFormat = { unit: "", text: (value) => (Number.isNaN(value) ? "–" : count(value)) };

/** Names of things that are numbers: no separators of thousands. */
const LABEL: ValueFormat = { unit: "", text: (value) => (Number.isNaN(value) ? "–" : String(value)) };

/** Whether a column holds whole numbers without a unit: Arrow says it by the type. */
function isCount(table: Table, id: string, unit: string): boolean {
  const type = table.schema.fields.find((field) => field.name === id)?.type;
  return unit === "" && type?.typeId === Type.Int;
}

/** By the type and not by the first value, which may be absent. */
function isText(table: Table, id: string): boolean {
  const type = table.schema.fields.find((field) => field.name === id)?.type;
  return type?.typeId === Type.Utf8 || type?.typeId === Type.Bool || (type?.typeId === Type.Dictionary && type.dictionary.typeId === Type.Utf8);
}

/** The cell of a text column: call paths and functions without what tools put behind names. */
export function answerText(column: AnswerColumn, row: number): string {
  return (column.texts?.[row] ?? "").split(" > ").map((part) => shortName(part)).join(" › ");
}

/** The rows of an answer in the order of a column; texts by alphabet, nothing last. */
export function answerOrder(columns: readonly AnswerColumn[], rows: number, id: string, descending: boolean): readonly number[] {
  const order = Array.from({ length: rows }, (_, row) => row);
  const column = columns.find((one) => one.id === id);
  if (column === undefined) return order;
  const sign = descending ? -1 : 1;
  const { texts, numbers } = column;
  return order.sort((a, b) => {
    if (texts !== null) return sign * (texts[a] ?? "").localeCompare(texts[b] ?? "") || a - b;
    const [first, second] = [numbers?.[a] ?? Number.NaN, numbers?.[b] ?? Number.NaN];
    if (Number.isNaN(first) || Number.isNaN(second)) return Number(Number.isNaN(first)) - Number(Number.isNaN(second)) || a - b;
    return sign * (first - second) || a - b;
  });
}

/** The whole answer as a file, unrounded, in the order on screen. */
export function answerCsv(columns: readonly AnswerColumn[], rows: number, sort: TableSort): string {
  const cell = (of: AnswerColumn, row: number): string | number | null => {
    const value = of.numbers?.[row] ?? Number.NaN;
    return of.texts?.[row] ?? (Number.isNaN(value) ? null : value);
  };
  return csv([columns.map((one) => one.id), ...answerOrder(columns, rows, sort.column, sort.descending).map((row) => columns.map((one) => cell(one, row)))]);
}

/** A number for each bin of one function, group or location. */
export interface Series {
  readonly name: string;
  readonly values: Float64Array;
}

/** The numbers of an answer over time, one series for each name, in the order in which `names` has them; at most `most` of them. */
export function seriesOf(rows: Table, names: readonly string[] | null, nameColumn: string, valueColumn: string, binNs: number, most: number): { readonly firstNs: number; readonly bins: number; readonly series: readonly Series[] } {
  const starts = numberColumn(rows, "start_s");
  const values = numberColumn(rows, valueColumn);
  const labels = names === null ? null : textColumn(rows, nameColumn);
  const bin = binNs / 1e9;
  // The first bin may be cut at the beginning of the trace, so that bins are counted from the second start.
  let last = 0;
  let first = Number.POSITIVE_INFINITY;
  for (const start of starts) {
    first = Math.min(first, start);
    last = Math.max(last, start);
  }
  if (!Number.isFinite(first)) return { firstNs: 0, bins: 0, series: [] };
  const base = last - Math.round((last - first) / bin) * bin;
  const origin = base > first + bin / 2 ? base - bin : base;
  const bins = Math.round((last - origin) / bin) + 1;
  const chosen = (names ?? [valueColumn]).slice(0, most);
  const series = chosen.map((name): Series => ({ name, values: new Float64Array(bins).fill(names === null ? Number.NaN : 0) }));
  const byName = new Map(series.map((one) => [one.name, one.values]));
  for (let row = 0; row < starts.length; row += 1) {
    const into = byName.get(labels === null ? valueColumn : textAt(labels, row));
    const at = Math.max(0, Math.round(((starts[row] ?? 0) - origin) / bin));
    if (into !== undefined && at < bins) into[at] = values[row] ?? Number.NaN;
  }
  return { firstNs: origin * 1e9, bins, series };
}
