/** What takes the time on screen. Pure. */
import type { TimeRange } from "./axis.ts";
import { NO_KEY, type TilePiece } from "./tiles.ts";
import type { Span } from "./rows.ts";

/** A function or group on screen. */
export interface LegendEntry {
  readonly key: number;
  readonly ns: number;
  /** Of all time in which anything ran; NaN where that is not known, and for helper threads, which are no part of it. */
  readonly share: number;
  /** Only helper threads run it. */
  readonly isHelper?: boolean;
}

/** Entries from the largest, as cells say: without shares, for a cell knows one function only. */
export function legendEntries(sums: ReadonlyMap<number, number>): readonly LegendEntry[] {
  return [...sums]
    .filter(([key]) => key !== NO_KEY)
    .map(([key, ns]) => ({ key, ns, share: Number.NaN }))
    .sort((a, b) => b.ns - a.ns || a.key - b.key);
}

/** Time of what dominates each cell on screen, added up by what it is; `tracksOf` says how many tracks a row has. */
export function sumsOnScreen(pieces: readonly TilePiece[], range: TimeRange, rows: Span, tracksOf: (row: number) => number): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const { tile, firstRow } of pieces) {
    const fromBin = Math.max(0, Math.floor((range[0] - tile.firstNs) / tile.binNs));
    const toBin = Math.min(tile.bins, Math.ceil((range[1] - tile.firstNs) / tile.binNs));
    for (let row = Math.max(0, rows.from - firstRow); row < Math.min(tile.rows, rows.to - firstRow); row += 1) {
      const tracks = tracksOf(firstRow + row);
      for (let bin = fromBin; bin < toBin; bin += 1) {
        const cell = row * tile.bins + bin;
        const key = tile.key[cell] ?? NO_KEY;
        if (key === NO_KEY) continue;
        sums.set(key, (sums.get(key) ?? 0) + ((tile.dominant[cell] ?? 0) / 255) * tile.binNs * tracks);
      }
    }
  }
  return sums;
}
