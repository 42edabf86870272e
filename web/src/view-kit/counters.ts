import type { Table } from "@uwdata/flechette";
import { numberColumn, wholeColumn } from "./columns.ts";
import { NONE } from "./asks.ts";

/** A counter of one track by bins; a value holds until the next one. NaN before the first. */
export interface CounterSeries {
  readonly track: number;
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly last: Float64Array;
}

/** What several tracks have in each bin; NaN where none has a value. */
export interface CounterBand {
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly mean: Float64Array;
  readonly sum: Float64Array;
}

/** The table `values`, one series for each track that has values. */
export function counterSeries(table: Table, bins: number): readonly CounterSeries[] {
  const [track, bin] = [wholeColumn(table, "track"), wholeColumn(table, "bin")];
  const [min, max, last] = [numberColumn(table, "min"), numberColumn(table, "max"), numberColumn(table, "last")];
  const byTrack = new Map<number, CounterSeries>();
  const before = new Map<number, number>();
  for (let row = 0; row < track.length; row += 1) {
    const of = track[row] ?? 0;
    let series = byTrack.get(of);
    if (series === undefined) {
      const make = (): Float64Array => new Float64Array(bins).fill(Number.NaN);
      series = { track: of, min: make(), max: make(), last: make() };
      byTrack.set(of, series);
    }
    const at = bin[row] ?? NONE;
    if (at === NONE) before.set(of, last[row] ?? Number.NaN);
    else if (at < bins) {
      series.min[at] = min[row] ?? Number.NaN;
      series.max[at] = max[row] ?? Number.NaN;
      series.last[at] = last[row] ?? Number.NaN;
    }
  }
  for (const [of, series] of byTrack) hold(series, before.get(of) ?? Number.NaN);
  return [...byTrack.values()].sort((a, b) => a.track - b.track);
}

/** Fills the bins in which no value came with the one that still holds. */
function hold(series: CounterSeries, before: number): void {
  let value = before;
  for (let bin = 0; bin < series.last.length; bin += 1) {
    if (Number.isNaN(series.last[bin] ?? Number.NaN)) {
      series.min[bin] = series.max[bin] = series.last[bin] = value;
    } else {
      // The bin begins with the value from before it.
      if (value < (series.min[bin] ?? Number.NaN)) series.min[bin] = value;
      if (value > (series.max[bin] ?? Number.NaN)) series.max[bin] = value;
      value = series.last[bin] ?? Number.NaN;
    }
  }
}

/** Smallest, mean and largest value and the sum over tracks, bin by bin. */
export function counterBand(series: readonly CounterSeries[], bins: number): CounterBand {
  const make = (): Float64Array => new Float64Array(bins).fill(Number.NaN);
  const band = { min: make(), max: make(), mean: make(), sum: make() };
  for (let bin = 0; bin < bins; bin += 1) {
    let [least, most, sum, tracks] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 0, 0];
    for (const one of series) {
      const value = one.last[bin] ?? Number.NaN;
      if (Number.isNaN(value)) continue;
      least = Math.min(least, one.min[bin] ?? value);
      most = Math.max(most, one.max[bin] ?? value);
      sum += value;
      tracks += 1;
    }
    if (tracks === 0) continue;
    band.min[bin] = least;
    band.max[bin] = most;
    band.sum[bin] = sum;
    band.mean[bin] = sum / tracks;
  }
  return band;
}

/** The smallest and the largest of all values; null where there is none. */
export function rangeOf(lists: readonly Float64Array[]): readonly [least: number, most: number] | null {
  let [least, most] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const list of lists) {
    for (const value of list) {
      if (value < least) least = value;
      if (value > most) most = value;
    }
  }
  return most === Number.NEGATIVE_INFINITY ? null : [least, most];
}
