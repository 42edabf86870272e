import type { Table } from "@uwdata/flechette";
import { numberColumn, wholeColumn } from "../../view-kit/columns.ts";
import { NONE } from "../../view-kit/asks.ts";

/** Calls of one track by depth, each depth by start. */
export interface Levels {
  /** One list of positions for each depth, the outermost first. */
  readonly levels: readonly Int32Array[];
  /** Row of the catalog's contexts of each call. */
  readonly context: Uint32Array;
  readonly start: Float64Array;
  readonly end: Float64Array;
}

/** What a depth of a track shows where its calls are too many: the key that has most of the time in each bin. */
export interface LevelBins {
  readonly firstNs: number;
  readonly binNs: number;
  /** 4294967295 where nothing that deep ran. */
  readonly key: Uint32Array;
  /** 0 to 1: how much of the bin something that deep ran; an estimate where calls of several depths share a bin. */
  readonly busy: Float64Array;
}

/** The table `calls` of one track, by depth. */
export function levelsOf(table: Table): Levels {
  const depth = wholeColumn(table, "depth");
  const lists: number[][] = [];
  for (let row = 0; row < depth.length; row += 1) {
    const level = Math.max(0, (depth[row] ?? 1) - 1);
    while (lists.length <= level) lists.push([]);
    lists[level]?.push(row);
  }
  return {
    levels: lists.map((list) => Int32Array.from(list)),
    context: wholeColumn(table, "context"),
    start: numberColumn(table, "start_ns"),
    end: numberColumn(table, "end_ns"),
  };
}

/** The call of a depth that is active at a moment; -1 where none is. */
export function callAt(levels: Levels, level: number, ns: number): number {
  const list = levels.levels[level];
  if (list === undefined) return -1;
  let low = 0;
  let high = list.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((levels.start[list[middle] ?? 0] ?? 0) <= ns) low = middle + 1;
    else high = middle;
  }
  const row = list[low - 1] ?? -1;
  return row >= 0 && ns < (levels.end[row] ?? 0) ? row : -1;
}

/** A picture in which contexts below `level` (1 for the outermost) count as the one above: only what is that deep. */
export function levelBins(table: Table, firstNs: number, binNs: number, level: number): LevelBins {
  const depth = wholeColumn(table, "depth");
  const key = wholeColumn(table, "key").slice();
  const busy = numberColumn(table, "busy_ns");
  for (let bin = 0; bin < key.length; bin += 1) if ((depth[bin] ?? 0) < level) key[bin] = NONE;
  return { firstNs, binNs, key, busy: Float64Array.from(busy, (nanos, bin) => (key[bin] === NONE ? 0 : Math.min(1, nanos / binNs))) };
}

/** The deepest context of any bin. */
export function deepest(table: Table): number {
  let most = 0;
  for (const depth of wholeColumn(table, "depth")) if (depth > most) most = depth;
  return most;
}
