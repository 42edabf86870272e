import type { Table } from "@uwdata/flechette";
import { count } from "../../base/format.ts";
import type { TreeSource } from "../../base/tree-rows.ts";
import { csv } from "../../widgets/save.ts";
import type { TableSort } from "../../widgets/table.ts";
import { numberColumn, textAt, textColumn } from "../../view-kit/columns.ts";
import { valueText } from "../../view-kit/format.ts";

/** A value with its unit. Sizes of messages are whole: `8 B`, not `8.000 B`. */
export function eventText(value: number, unit: string): string {
  return unit === "B" && Number.isInteger(value) && Math.abs(value) < 1024 ? `${count(value)}\u202fB` : valueText(value, unit);
}

/** The numbers of a row, as the engine calls them. */
export const NUMBERS = ["count", "sum", "mean", "min", "max", "std_dev", "locations"] as const;
export type NumberName = (typeof NUMBERS)[number];

/** An event, or a context that it happened in. NaN stands for what is not known. */
export interface EventRow extends Readonly<Record<NumberName, number>> {
  /** Name of the event. */
  readonly event: string;
  /** The event, or the context. */
  readonly name: string;
  /** Call path of the context; empty for an event. */
  readonly path: string;
  /** Id of the context; NaN for an event, and for no known context. */
  readonly context: number;
  readonly unit: string;
}

/** Events, then contexts; nodes of trees are positions in `rows`. */
export interface EventTable {
  readonly rows: readonly EventRow[];
  /** How many of the rows are events; they come first. */
  readonly events: number;
  /** The contexts of each event. */
  readonly below: readonly (readonly number[])[];
}

/** Both tables of the engine as one. */
export function eventTable(events: Table, contexts: Table): EventTable {
  const rows = [...readRows(events), ...readRows(contexts)];
  const at = new Map(rows.slice(0, events.numRows).map((row, index) => [row.event, index]));
  const below: number[][] = Array.from({ length: events.numRows }, () => []);
  for (let node = events.numRows; node < rows.length; node += 1) below[at.get(rows[node]?.event ?? "") ?? -1]?.push(node);
  return { rows, events: events.numRows, below };
}

function readRows(table: Table): EventRow[] {
  const [event, name, path, unit] = ["event", "name", "path", "unit"].map((column) => textColumn(table, column));
  const context = table.names.includes("context_id") ? numberColumn(table, "context_id") : new Float64Array(table.numRows).fill(Number.NaN);
  const numbers = NUMBERS.map((column) => [column, numberColumn(table, column)] as const);
  return Array.from({ length: table.numRows }, (_, row) => {
    const of = (column: typeof event): string => (column === undefined ? "" : textAt(column, row));
    return {
      ...(Object.fromEntries(numbers.map(([column, values]) => [column, values[row] ?? Number.NaN])) as Record<NumberName, number>),
      event: of(event), name: of(name) === "" ? of(event) : of(name), path: of(path), unit: of(unit), context: context[row] ?? Number.NaN,
    };
  });
}

/** The rows that contain a text, in order. A context that contains it keeps its event; an event that does keeps all its contexts. */
export function shownEvents(table: EventTable, sort: TableSort, find: string): TreeSource {
  const wanted = find.trim().toLowerCase();
  const has = (text: string): boolean => wanted === "" || text.toLowerCase().includes(wanted);
  const order = compare(table, sort);
  const below = table.below.map((nodes, event) => {
    const all = has(table.rows[event]?.event ?? "");
    return nodes.filter((node) => all || has(table.rows[node]?.path ?? "")).sort(order);
  });
  const roots = Array.from({ length: table.events }, (_, event) => event)
    .filter((event) => has(table.rows[event]?.event ?? "") || (below[event]?.length ?? 0) > 0)
    .sort(order);
  return { roots, children: (node) => below[node] ?? [], hasChildren: (node) => (below[node]?.length ?? 0) > 0 };
}

/** Events that a text opens: their contexts contain it and they do not. */
export function openedBy(table: EventTable, find: string): readonly number[] {
  const wanted = find.trim().toLowerCase();
  if (wanted === "") return [];
  return Array.from({ length: table.events }, (_, event) => event).filter((event) => !(table.rows[event]?.event ?? "").toLowerCase().includes(wanted));
}

function compare(table: EventTable, sort: TableSort): (a: number, b: number) => number {
  const sign = sort.descending ? -1 : 1;
  const column = NUMBERS.find((name) => name === sort.column);
  return (a, b) => {
    const [first, second] = [table.rows[a], table.rows[b]];
    if (first === undefined || second === undefined) return a - b;
    // What happened in no known context comes last, whichever way, and so does what is not known.
    const unknown = (node: number, row: EventRow): number => Number(node >= table.events && Number.isNaN(row.context));
    if (unknown(a, first) !== unknown(b, second)) return unknown(a, first) - unknown(b, second);
    if (column === undefined) return sign * first.name.localeCompare(second.name) || a - b;
    const [x, y] = [first[column], second[column]];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
    return sign * (x - y) || a - b;
  };
}

/** The node of what was chosen: an event, or one of its contexts; the first event where it is not there. */
export function chosenNode(table: EventTable, event: string, context: number | null): number {
  const at = table.rows.findIndex((row, node) => node < table.events && row.event === event);
  if (at < 0) return table.events > 0 ? 0 : -1;
  return (context === null ? undefined : table.below[at]?.find((node) => table.rows[node]?.context === context)) ?? at;
}

/** Events with their contexts, unrounded, in the order on screen; closed events too. */
export function eventsCsv(table: EventTable, source: TreeSource): string {
  const known = (value: number): number | null => (Number.isNaN(value) ? null : value);
  const line = (node: number): (string | number | null)[] => {
    const row = table.rows[node];
    if (row === undefined) return [];
    return [row.event, known(row.context), row.path, row.unit, ...NUMBERS.map((name) => known(row[name]))];
  };
  return csv([["event", "context_id", "path", "unit", ...NUMBERS], ...source.roots.flatMap((event) => [line(event), ...(source.children(event) ?? []).map(line)])]);
}
