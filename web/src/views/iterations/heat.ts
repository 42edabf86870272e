import type { Table } from "@uwdata/flechette";
import type { Ramp, Rgb } from "../../base/palettes.ts";
import { numberColumn } from "../../view-kit/columns.ts";
import type { IterationsMeasure } from "./states.ts";

/** A number for each location and iteration. */
export interface Heat {
  readonly locations: number;
  readonly iterations: number;
  /** Location by location, seconds. */
  readonly values: Float64Array;
  /** Ends of the colour ramp; the same distance from 0 on both sides where differences are shown. */
  readonly low: number;
  readonly high: number;
  /** Cells beyond the ramp, and the value farthest from 0 among them; 0 where there are none. */
  readonly outliers: number;
  readonly farthest: number;
}

const COLUMNS: Readonly<Record<IterationsMeasure, string>> = { time: "time_s", difference: "difference_s" };

/** Where each of the locations goes on the map: by name, numbers by their size, as tools list them in any order. */
export function rowsByName(names: readonly string[]): readonly number[] {
  const order = names.map((_, at) => at).sort((a, b) => (names[a] ?? "").localeCompare(names[b] ?? "", "en", { numeric: true }) || a - b);
  const rows = new Array<number>(names.length).fill(0);
  order.forEach((location, row) => { rows[location] = row; });
  return rows;
}

/** A list by location as a list by row of the map. */
export function byRow<T>(list: readonly T[], rows: readonly number[]): readonly T[] {
  const out = [...list];
  list.forEach((one, location) => { out[rows[location] ?? location] = one; });
  return out;
}

/** The map of a table `cells`; `rowOf` says where each location goes. */
export function heatOf(table: Table, rowOf: readonly number[], iterations: number, measure: IterationsMeasure): Heat {
  const locations = rowOf.length;
  const values = new Float64Array(locations * iterations).fill(Number.NaN);
  const rows = numberColumn(table, "location");
  const columns = numberColumn(table, "iteration");
  const numbers = numberColumn(table, COLUMNS[measure]);
  for (let row = 0; row < numbers.length; row += 1) {
    const [location, iteration, value] = [rows[row] ?? 0, columns[row] ?? 0, numbers[row] ?? Number.NaN];
    if (location >= locations || iteration >= iterations) continue;
    values[(rowOf[location] ?? location) * iterations + iteration] = value;
  }
  const scale = robustScale(values);
  return { locations, iterations, values, low: measure === "time" ? 0 : -scale.high, ...scale };
}

/** Beyond this many interquartile ranges above the third quartile a value is far out (Tukey 1977). */
const FAR_OUT = 3;

/**
 * The end of a colour ramp that one outlier does not take from all others: the largest size of a value that is not far
 * out, and what lies beyond it.
 */
export function robustScale(values: Float64Array): Pick<Heat, "high" | "outliers" | "farthest"> {
  const sizes = values.map((value) => Math.abs(value)).filter((size) => Number.isFinite(size)).toSorted();
  const most = sizes.at(-1) ?? 0;
  const [first, third] = [quantile(sizes, 0.25), quantile(sizes, 0.75)];
  const fence = third + FAR_OUT * (third - first);
  const within = sizes.findLastIndex((size) => size <= fence);
  const high = sizes[within] ?? most;
  // Where most are alike the fence is on them: what differs then is what the map is about.
  if (third === first || high === 0 || within + 1 === sizes.length) return { high: most, outliers: 0, farthest: 0 };
  const beyond = values.reduce((far, value) => (Math.abs(value) > Math.abs(far) ? value : far), 0);
  return { high, outliers: sizes.length - within - 1, farthest: beyond };
}

function quantile(sorted: Float64Array, part: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(part * sorted.length))] ?? 0;
}

/** Whether a value lies beyond the ends of the ramp. */
export function isOutlier(heat: Pick<Heat, "high" | "outliers">, value: number): boolean {
  return heat.outliers > 0 && Math.abs(value) > heat.high;
}

/** Where a value lies on the colour ramp, 0 to 1; 0 where all are 0. */
export function heatShare(heat: Pick<Heat, "low" | "high">, value: number): number {
  return heat.high > heat.low ? (value - heat.low) / (heat.high - heat.low) : 0;
}

/** More cells than this in a row or column are more than a screen has dots. */
const MOST_DOTS = 4096;

/** Dots of a map: one for each cell, or for several neighbours of which the one farthest from 0 counts. */
export interface HeatDots {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and opacity, row by row. */
  readonly pixels: Uint8ClampedArray<ArrayBuffer>;
}

/** The map as dots; iterations that do not count are paler, outliers have a colour of their own. */
export function heatDots(heat: Heat, colours: Ramp, isLeftOut: (iteration: number) => boolean, outlier: Rgb = colours.rgb(1)): HeatDots {
  const [width, height] = [Math.min(heat.iterations, MOST_DOTS), Math.min(heat.locations, MOST_DOTS)];
  const chosen = new Float64Array(width * height).fill(Number.NaN);
  for (let location = 0; location < heat.locations; location += 1) {
    const line = Math.floor((location * height) / heat.locations) * width;
    for (let iteration = 0; iteration < heat.iterations; iteration += 1) {
      const value = heat.values[location * heat.iterations + iteration] ?? Number.NaN;
      const at = line + Math.floor((iteration * width) / heat.iterations);
      if (!(Math.abs(chosen[at] ?? Number.NaN) >= Math.abs(value))) chosen[at] = Number.isNaN(value) ? (chosen[at] ?? value) : value;
    }
  }
  const pixels = new Uint8ClampedArray(width * height * 4);
  chosen.forEach((value, at) => {
    if (Number.isNaN(value)) return;
    pixels.set(isOutlier(heat, value) ? outlier : colours.rgb(heatShare(heat, value)), at * 4);
    pixels[at * 4 + 3] = isLeftOut(Math.floor(((at % width) * heat.iterations) / width)) ? PALE : 255;
  });
  return { width, height, pixels };
}

/** Opacity of iterations that do not count. */
const PALE = 90;

/** Where the parts of the picture lie, in pixels. */
export interface HeatLayout {
  readonly left: number;
  readonly top: number;
  readonly cellWidth: number;
  readonly cellHeight: number;
  /** Height of the strip above the map; 0 where it would leave less to the map than it takes. */
  readonly strip: number;
}

/** Height of the strip with the imbalance of each iteration. */
const STRIP = 44;
const ABOVE = 22;
/** Above the map where there is no strip. */
const EDGE = 8;
const BELOW = 46;
const TALLEST = 44;
const WIDEST = 64;

/** Puts the map into a picture of a size, below the strip with the imbalance of each iteration. */
export function heatLayout(heat: Pick<Heat, "locations" | "iterations">, width: number, height: number, longestName: number): HeatLayout {
  const left = Math.min(width * 0.3, Math.max(64, longestName * 6.3 + 14));
  const hasStrip = height - ABOVE - STRIP - BELOW >= STRIP;
  const top = hasStrip ? ABOVE + STRIP : EDGE;
  return {
    left,
    top,
    strip: hasStrip ? STRIP : 0,
    cellWidth: Math.min(WIDEST, Math.max(1, width - left - 12) / Math.max(1, heat.iterations)),
    cellHeight: Math.min(TALLEST, Math.max(1, height - top - BELOW) / Math.max(1, heat.locations)),
  };
}

/** The cell at a place of the picture; the strip above counts as the first location. Null outside. */
export function cellAt(layout: HeatLayout, heat: Pick<Heat, "locations" | "iterations">, x: number, y: number): readonly [location: number, iteration: number] | null {
  const iteration = Math.floor((x - layout.left) / layout.cellWidth);
  const location = y < layout.top && y >= layout.top - layout.strip ? 0 : Math.floor((y - layout.top) / layout.cellHeight);
  return location < 0 || iteration < 0 || location >= heat.locations || iteration >= heat.iterations ? null : [location, iteration];
}

/** The iteration nearest to a place, whatever is there. */
export function iterationAt(layout: HeatLayout, heat: Pick<Heat, "iterations">, x: number): number {
  return Math.max(0, Math.min(heat.iterations - 1, Math.floor((x - layout.left) / layout.cellWidth)));
}

/** The end of an axis of percent: the largest value, rounded up to tens. */
export function percentEnd(values: ArrayLike<number>): number {
  let most = 0;
  for (let at = 0; at < values.length; at += 1) most = Math.max(most, Number.isFinite(values[at]) ? (values[at] ?? 0) : 0);
  return Math.min(100, Math.max(10, Math.ceil(most / 10) * 10));
}

/** From when to when iterations are, in nanoseconds since the first record: the last one ends where the next begins, or after its mean length. */
export function timeOf(first: number, last: number, starts: ArrayLike<number>, lengths: ArrayLike<number>): readonly [fromNs: number, toNs: number] | null {
  const [from, start, length] = [starts[first], starts[last], lengths[last]];
  if (from === undefined || start === undefined || length === undefined) return null;
  const to = Math.max(starts[last + 1] ?? 0, start + length);
  return to > from ? [Math.floor(from * 1e9), Math.ceil(to * 1e9)] : null;
}
