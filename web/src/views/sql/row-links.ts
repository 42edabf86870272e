/** What a row of a result names that other views show as well. Pure. */
import type { ItemKind } from "../../wire/protocol.ts";

/** A cell as the engine sent it. */
export type Cell = string | number | bigint | boolean | null | undefined;

/** When something was. */
export interface RowTime {
  readonly startNs: bigint;
  readonly endNs: bigint;
  /** Whether it is on the clock of the trace, as tables have it; answers of questions count from the first record, in fractions. */
  readonly isClock: boolean;
}

/** The place of a row in other views. */
export interface RowPlace {
  readonly context: number | null;
  /** A profile. */
  readonly location: number | null;
  /** Number of a region of an ensemble. */
  readonly regionId: number | null;
  /** Id of a region of an ensemble. */
  readonly region: string | null;
  readonly time: RowTime | null;
}

/** Pairs of columns that say when something was; of one moment both are the same. */
const TIMES: readonly (readonly [start: string, end: string])[] = [["start_ns", "end_ns"], ["send_ns", "receive_ns"], ["time_ns", "time_ns"], ["begins", "begins"], ["end_ns", "end_ns"], ["start_ns", "start_ns"]];

/** Whether rows with these columns lead anywhere. */
export function areLinked(columns: readonly string[], kind: ItemKind): boolean {
  const place = placeOfRow(columns, kind, (column) => (column === "region" ? "0" : 0));
  return Object.values(place).some((one) => one !== null);
}

/** Where a row leads: `cell` gives the value of one of its columns. */
export function placeOfRow(columns: readonly string[], kind: ItemKind, cell: (column: string) => Cell): RowPlace {
  const whole = (column: string): bigint | null => (columns.includes(column) ? wholeOf(cell(column)) : null);
  const id = (column: string): number | null => {
    const value = whole(column);
    return value === null ? null : Number(value);
  };
  if (kind === "ensemble") {
    const region = columns.includes("region") ? cell("region") : null;
    return { context: null, location: null, regionId: id("region_id"), region: typeof region === "string" ? region : null, time: null };
  }
  const times = TIMES.find(([start, end]) => whole(start) !== null && whole(end) !== null);
  const [start, end] = [whole(times?.[0] ?? ""), whole(times?.[1] ?? "")];
  return {
    context: id("context_id"),
    location: id("profile_id"),
    regionId: null,
    region: null,
    time: times === undefined || start === null || end === null ? null : { startNs: start <= end ? start : end, endNs: start <= end ? end : start, isClock: typeof cell(times[0]) === "bigint" },
  };
}

function wholeOf(value: Cell): bigint | null {
  if (typeof value === "bigint") return value;
  return typeof value === "number" && Number.isFinite(value) ? BigInt(Math.round(value)) : null;
}
