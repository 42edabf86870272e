/** A picture of tracks by bins, for painting: what has most of the time in each bin. */
export interface Strip {
  readonly rows: number;
  readonly bins: number;
  readonly firstNs: number;
  readonly binNs: number;
  /** By row, then by bin; 4294967295 where nothing ran. */
  readonly key: Uint32Array;
  /** Nanoseconds of all that ran. */
  readonly busy: Float64Array;
  /** Most that a cell of each row can have: the length of a bin times the tracks of the row. */
  readonly full: Float64Array;
}

const NOTHING = 0xffff_ffff;

/** How much of a cell something ran, 0 to 1. */
export function busyShare(strip: Strip, row: number, bin: number): number {
  const full = strip.full[row] ?? 0;
  return full > 0 ? Math.min(1, (strip.busy[row * strip.bins + bin] ?? 0) / full) : 0;
}

/** A cell's key; -1 where nothing ran. */
export function keyAt(strip: Strip, row: number, bin: number): number {
  if (row < 0 || bin < 0 || row >= strip.rows || bin >= strip.bins) return -1;
  const key = strip.key[row * strip.bins + bin] ?? NOTHING;
  return key === NOTHING ? -1 : key;
}

/** At most `most` rows of about the same number of tracks that hold `tracks` tracks together. */
export function rowsFor(tracks: number, most: number): { readonly from: number; readonly to: number }[] {
  const rows = Math.max(1, Math.min(tracks, most));
  return Array.from({ length: rows }, (_, row) => ({ from: Math.floor((row * tracks) / rows), to: Math.floor(((row + 1) * tracks) / rows) })).filter(({ from, to }) => to > from);
}
