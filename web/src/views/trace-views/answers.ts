import type { Table } from "@uwdata/flechette";
import { csv } from "../../widgets/save.ts";
import type { TableColumn, TableSort } from "../../widgets/table.ts";
import { numberColumn, textAt, textColumn } from "../profile/columns.ts";
import { valueFormat, type ValueFormat } from "../profile/format.ts";
import { shortName } from "../timeline/catalog.ts";

/** A column of an answer of the engine, ready to be shown. */
export interface AnswerColumn {
  readonly id: string;
  readonly head: TableColumn;
  /** For texts. */
  readonly texts: readonly string[] | null;
  /** For numbers; NaN where there is none. */
  readonly numbers: Float64Array | null;
  readonly format: ValueFormat | null;
  /** Largest value, for bars; 0 for none. */
  readonly most: number;
}

/** What columns are called on screen, and what they mean. */
export type Heads = Readonly<Record<string, readonly [title: string, help: string]>>;

const HEADS: Heads = {
  kind: ["Kind", "What is waited for"],
  function: ["Function", ""],
  group: ["Group", ""],
  context: ["Call path", ""],
  location: ["Location", "Who waits"],
  waits_for: ["Waits for", "Who comes late"],
  name: ["Name", ""],
  slowest: ["Slowest", "The location that computes longest"],
  releases: ["Then", "What ends the stretch"],
  waits: ["Waits", "How often"],
  waiting_s: ["Waiting", "Time from coming, or from having nothing to do, until the other side is there"],
  longest_s: ["Longest", "The longest of them"],
  share_percent: ["Share", "Of the time of what is shown"],
  in_calls_s: ["In calls", "Time of the calls that wait, waiting included"],
  on_path_s: ["On the path", "Time on the critical path"],
  all_locations_s: ["All locations", "The same over all locations, on the path or not"],
  start_s: ["Start", "Since the first record"],
  length_s: ["Length", ""],
  context_percent: ["Of it", "Share of the stretch in this call path"],
  exclusive_s: ["Exclusive", "Time in it and in nothing below"],
  outside_s: ["Outside", "Time outside all functions"],
  idle_percent: ["Idle", "Waiting or outside, of all time"],
  calls: ["Calls", ""],
  mean_s: ["Mean", ""],
  max_s: ["Largest", ""],
  under_way_s: ["Under way", "Time in which messages are under way"],
  computing_s: ["Computing", "Time of it in which the location computes"],
  overlap_percent: ["Overlap", "Computing, of the time under way"],
  balance_ratio: ["Balance ratio", "Mean over largest; 1 is even"],
  imbalance_percent: ["Imbalance", "Largest less mean, of the largest"],
  saving_s: ["Saving", "Largest less mean: what an even spread would save"],
};

const UNITS: readonly (readonly [ending: string, unit: string])[] = [["_s", "s"], ["_percent", "%"], ["_bytes", "B"]];

/** The columns of an answer that people read, in its order: ids of contexts are left out. `heads` says what a view calls some of them. */
export function answerColumns(table: Table, heads: Heads = {}): readonly AnswerColumn[] {
  const columns: AnswerColumn[] = [];
  for (const id of table.names) {
    if (id === "context_id" || id === "end_s") continue;
    const [title, help] = heads[id] ?? HEADS[id] ?? [id.replaceAll("_", " "), ""];
    if (isText(table, id)) {
      const column = textColumn(table, id);
      const texts = Array.from({ length: table.numRows }, (_, row) => textAt(column, row));
      columns.push({ id, texts, numbers: null, format: null, most: 0, head: { id, title, width: columns.length === 0 ? 140 : 150, sortable: true, help } });
      continue;
    }
    const numbers = numberColumn(table, id);
    const most = numbers.reduce((best, value) => (Number.isFinite(value) ? Math.max(best, Math.abs(value)) : best), 0);
    const unit = UNITS.find(([ending]) => id.endsWith(ending))?.[1] ?? "";
    const format = unit === "%" ? { unit: "%", text: (value: number) => (Number.isNaN(value) ? "–" : value.toFixed(1)) } : valueFormat(unit, most);
    const shown = format.unit === "" ? title : `${title} (${format.unit})`;
    columns.push({ id, texts: null, numbers, format, most: unit === "%" ? 100 : most, head: { id, title: shown, width: 108, align: "right", sortable: true, help } });
  }
  return columns;
}

function isText(table: Table, id: string): boolean {
  const first = table.getChild(id)?.at(0);
  return typeof first === "string";
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
