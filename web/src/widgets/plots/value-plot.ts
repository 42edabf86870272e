import { ticks } from "d3-array";

/** A value axis from 0 (or below it) to a round number above the largest value. */
export interface ValueAxis {
  readonly low: number;
  readonly high: number;
  readonly ticks: readonly number[];
}

/** An axis for values of which the smallest and the largest are known; about one tick for each 40 pixels. */
export function valueAxis(least: number, most: number, pixels: number): ValueAxis {
  const low = Math.min(0, least);
  const high = most > low ? most : low + 1;
  const marks = ticks(low, high, Math.max(2, Math.floor(pixels / 40)));
  const step = (marks[1] ?? high) - (marks[0] ?? low);
  const top = Math.ceil((high - 1e-9 * step) / step) * step;
  return { low: Math.min(low, marks[0] ?? low), high: Math.max(high, top), ticks: marks.at(-1) === top ? marks : [...marks, top] };
}

/** What is drawn in one column of pixels: the smallest and the largest of the values that fall into it. */
export interface PixelColumn {
  readonly from: number;
  /** After the last position. */
  readonly to: number;
  readonly least: number;
  readonly most: number;
}

/** Puts values into at most `columns` columns of pixels; fewer values than columns keep one each. */
export function pixelColumns(values: Float64Array, columns: number): readonly PixelColumn[] {
  const count = Math.min(values.length, Math.max(1, Math.floor(columns)));
  return Array.from({ length: count }, (_, column) => {
    const from = Math.floor((column * values.length) / count);
    const to = Math.max(from + 1, Math.floor(((column + 1) * values.length) / count));
    let least = Number.POSITIVE_INFINITY;
    let most = Number.NEGATIVE_INFINITY;
    for (let at = from; at < to; at += 1) {
      const value = values[at] ?? Number.NaN;
      if (value < least) least = value;
      if (value > most) most = value;
    }
    return { from, to, least, most };
  });
}

/** Positions in order of their values, the smallest first; undefined values come last. */
export function sortedPositions(values: Float64Array): Int32Array {
  const positions = Int32Array.from(values, (_, at) => at);
  return positions.sort((a, b) => {
    const first = values[a] ?? Number.NaN;
    const second = values[b] ?? Number.NaN;
    if (Number.isNaN(first) || Number.isNaN(second)) return Number(Number.isNaN(first)) - Number(Number.isNaN(second)) || a - b;
    return first - second || a - b;
  });
}

/** Runs of equal numbers, such as the ranks of one node side by side. */
export function runs(groups: ArrayLike<number>): readonly { readonly from: number; readonly to: number; readonly group: number }[] {
  const out: { from: number; to: number; group: number }[] = [];
  for (let at = 0; at < groups.length; at += 1) {
    const group = groups[at] ?? 0;
    const last = out.at(-1);
    if (last !== undefined && Object.is(last.group, group)) last.to = at + 1;
    else out.push({ from: at, to: at + 1, group });
  }
  return out;
}
