/** Where the bars of lanes lie: calls over time, one below what calls it, one lane below the other. Pure. */

import { frameAt, type FlameLayout, type FlamePiece } from "../plots/flame-layout.ts";
import { pixelOf, type TimeRange, type TimeScale } from "../timeline/axis.ts";

/** Calls, and executions of loops, in depth-first order. Times are in nanoseconds on the lane's axis. */
export interface LaneRows {
  readonly length: number;
  /** 0 for the top; a loop has the level of the call that it is in. */
  readonly level: Uint32Array;
  readonly isLoop: Uint8Array;
  readonly start: Float64Array;
  readonly span: Float64Array;
}

/** Rows with their places. */
export interface Lane extends LaneRows {
  /** The call around each row; -1 at the top. */
  readonly parent: Int32Array;
  /** Calls alone, level by level. */
  readonly layout: FlameLayout;
  /** Loops of each level, by start. */
  readonly loops: readonly Int32Array[];
  /** How many loops of the same level each loop is in; 0 for calls. */
  readonly nesting: Uint8Array;
  /** Lines that the loops of each level need below each other. */
  readonly lines: Uint8Array;
}

/** Heights in pixels. */
export const HEAD_PIXELS = 26;
export const LEVEL_PIXELS = 19;
export const LOOP_PIXELS = 13;
const LANE_GAP = 10;
const EMPTY_PIXELS = 22;
/** Loops that lie deeper in each other than this share a line. */
const MOST_NESTED = 3;

/** Places the rows of one lane. */
export function lane(rows: LaneRows): Lane {
  const { length, level, isLoop, start, span } = rows;
  const parent = new Int32Array(length).fill(-1);
  const nesting = new Uint8Array(length);
  let levels = 0;
  let shown = 0;
  // The call that is open on each level, and where the loops that are open in it end.
  const open: number[] = [];
  const openLoops: number[][] = [];
  const loops: number[][] = [];
  for (let row = 0; row < length; row += 1) {
    const at = level[row] ?? 0;
    if (isLoop[row] === 1) {
      const from = start[row] ?? 0;
      const around = (openLoops[at] ?? []).filter((end) => end > from);
      nesting[row] = Math.min(around.length, MOST_NESTED - 1);
      openLoops[at] = [...around, from + (span[row] ?? 0)];
      parent[row] = open[at] ?? -1;
      (loops[at] ??= []).push(row);
    } else {
      parent[row] = at === 0 ? -1 : (open[at - 1] ?? -1);
      open.length = at;
      open[at] = row;
      openLoops[at] = [];
      shown += 1;
      levels = Math.max(levels, at + 1);
    }
  }
  const lines = Uint8Array.from({ length: levels }, (_, at) => (loops[at] ?? []).reduce((most, row) => Math.max(most, (nesting[row] ?? 0) + 1), 0));
  return { ...rows, parent, nesting, lines, layout: placed(rows, levels, shown), loops: Array.from({ length: levels }, (_, at) => byStart(loops[at] ?? [], start)) };
}

function byStart(rows: readonly number[], start: Float64Array): Int32Array {
  return Int32Array.from(rows).sort((a, b) => (start[a] ?? 0) - (start[b] ?? 0));
}

/** Depth-first order by time keeps each level from left to right; calls without length stay, to be drawn as slivers. */
function placed({ length, level, isLoop, start, span }: LaneRows, levels: number, shown: number): FlameLayout {
  const starts = new Int32Array(levels + 1);
  for (let row = 0; row < length; row += 1) {
    if (isLoop[row] !== 1) starts[(level[row] ?? 0) + 1] = (starts[(level[row] ?? 0) + 1] ?? 0) + 1;
  }
  for (let at = 0; at < levels; at += 1) starts[at + 1] = (starts[at + 1] ?? 0) + (starts[at] ?? 0);
  const fill = starts.slice();
  const rows = new Int32Array(shown);
  let total = 0;
  for (let row = 0; row < length; row += 1) {
    if (isLoop[row] === 1) continue;
    const of = level[row] ?? 0;
    const at = fill[of] ?? 0;
    rows[at] = row;
    fill[of] = at + 1;
    total = Math.max(total, (start[row] ?? 0) + (span[row] ?? 0));
  }
  const sums = new Float64Array(shown + 1);
  for (let at = 0; at < shown; at += 1) sums[at + 1] = (sums[at] ?? 0) + (span[rows[at] ?? 0] ?? 0);
  return { left: start, width: span, total, levels, rows, starts, sums };
}

/** From where the first call of a lane begins until the last one ends; null where there is none. */
export function extentOf({ layout }: Lane): TimeRange | null {
  const [from, end] = [layout.starts[0] ?? 0, layout.starts[1] ?? 0];
  let extent: TimeRange | null = null;
  for (let at = from; at < end; at += 1) {
    const row = layout.rows[at] ?? 0;
    const [left, right] = [layout.left[row] ?? 0, (layout.left[row] ?? 0) + (layout.width[row] ?? 0)];
    extent = extent === null ? [left, right] : [Math.min(extent[0], left), Math.max(extent[1], right)];
  }
  return extent;
}

/** From the earliest to the latest of several time windows; null where there are none. */
export function unionOf(ranges: readonly (TimeRange | null)[]): TimeRange | null {
  return ranges.reduce((all, one) => (all === null || one === null ? (all ?? one) : [Math.min(all[0], one[0]), Math.max(all[1], one[1])]), null);
}

/** The rows that are active at a moment, outermost first. */
export function activeAt({ layout }: Lane, ns: number): readonly number[] {
  const rows: number[] = [];
  for (let level = 0; level < layout.levels; level += 1) {
    const row = frameAt(layout, level, ns);
    if (row < 0) break;
    rows.push(row);
  }
  return rows;
}

/** The longest call directly in a row; -1 where there is none. */
export function longestIn(of: Lane, row: number): number {
  let best = -1;
  const above = of.level[row] ?? 0;
  for (let child = row + 1; child < of.length; child += 1) {
    if (of.isLoop[child] === 1) continue;
    if ((of.level[child] ?? 0) <= above) break;
    if (of.parent[child] === row && (best < 0 || (of.span[child] ?? 0) > (of.span[best] ?? 0))) best = child;
  }
  return best;
}

/** Heights of lanes, in pixels from the upper edge of all of them. */
export interface LaneGeometry {
  /** Upper edge of each lane, with its head. */
  readonly tops: readonly number[];
  /** Upper edge of each level of each lane that has calls in its time window, and below the last one. */
  readonly levelTops: readonly (readonly number[])[];
  readonly height: number;
}

/** How many levels of a lane have calls in a time window. */
export function levelsIn({ layout }: Lane, [from, to]: TimeRange): number {
  let levels = 0;
  while (levels < layout.levels && isBusy(layout, levels, from, to)) levels += 1;
  return levels;
}

function isBusy({ left, width, rows, starts }: FlameLayout, level: number, from: number, to: number): boolean {
  let low = starts[level] ?? 0;
  let high = starts[level + 1] ?? 0;
  // The last call that begins before the end is the one that ends last.
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((left[rows[middle] ?? 0] ?? 0) <= to) low = middle + 1;
    else high = middle;
  }
  const row = rows[low - 1];
  return low > (starts[level] ?? 0) && row !== undefined && (left[row] ?? 0) + (width[row] ?? 0) >= from;
}

/** How high everything is: lanes are as high as what they have in their time window, and loops need room below the bars of their level. */
export function geometryOf(lanes: readonly Lane[], hasLoops: boolean, ranges: readonly TimeRange[] = []): LaneGeometry {
  let y = 0;
  const tops: number[] = [];
  const levelTops: number[][] = [];
  for (const [at, of] of lanes.entries()) {
    tops.push(y);
    y += HEAD_PIXELS;
    const levels: number[] = [];
    const range = ranges[at];
    const shown = range === undefined ? of.layout.levels : levelsIn(of, range);
    for (let level = 0; level < shown; level += 1) {
      levels.push(y);
      y += LEVEL_PIXELS + (hasLoops ? (of.lines[level] ?? 0) : 0) * LOOP_PIXELS;
    }
    if (shown === 0) y += EMPTY_PIXELS;
    levels.push(y);
    levelTops.push(levels);
    y += LANE_GAP;
  }
  return { tops, levelTops, height: y };
}

/** What is at a height. */
export interface LaneSpot {
  readonly lane: number;
  /** -1 in the head of the lane. */
  readonly level: number;
  /** Which line of loops below the bars; -1 on the bars. */
  readonly nesting: number;
}

export function spotAt(geometry: LaneGeometry, y: number): LaneSpot | null {
  const at = geometry.tops.findLastIndex((top) => top <= y);
  const levels = geometry.levelTops[at];
  if (levels === undefined || y >= (levels.at(-1) ?? 0)) return null;
  const level = levels.findLastIndex((top) => top <= y);
  // Without calls there is only room for a sentence.
  if (levels.length === 1) return { lane: at, level: -1, nesting: -1 };
  const below = y - (levels[level] ?? 0) - LEVEL_PIXELS;
  return { lane: at, level, nesting: level < 0 || below < 0 ? -1 : Math.floor(below / LOOP_PIXELS) };
}

/** Bars too narrow to be distinguished, by lane and level, as they were drawn. */
export type LaneSlivers = readonly ReadonlyMap<number, readonly FlamePiece[]>[];

/** A bar or loop under the pointer, or several calls that share its pixel. */
export interface LaneHit {
  readonly lane: number;
  /** -1 for a piece of several calls. */
  readonly row: number;
  readonly piece: FlamePiece | null;
}

/** What is under a place; `y` counts from the upper edge of all lanes. */
export function hitAt(lanes: readonly Lane[], geometry: LaneGeometry, scales: readonly TimeScale[], slivers: LaneSlivers, x: number, y: number): LaneHit | null {
  const spot = spotAt(geometry, y);
  const of = spot === null ? undefined : lanes[spot.lane];
  const scale = spot === null ? undefined : scales[spot.lane];
  if (spot === null || of === undefined || scale === undefined || spot.level < 0) return null;
  const ns = scale.fromNs + (x / Math.max(1, scale.pixels)) * (scale.toNs - scale.fromNs);
  if (spot.nesting >= 0) {
    const row = of.loops[spot.level]?.find((one) => of.nesting[one] === spot.nesting && isNear(of, one, scale, x));
    return row === undefined ? null : { lane: spot.lane, row, piece: null };
  }
  const piece = slivers[spot.lane]?.get(spot.level)?.find((one) => x >= pixelOf(scale, one.left) && x <= pixelOf(scale, one.right) + 1);
  if (piece !== undefined && piece.count > 1) return { lane: spot.lane, row: -1, piece };
  const row = piece?.row ?? frameAt(of.layout, spot.level, ns);
  return row < 0 ? null : { lane: spot.lane, row, piece: null };
}

/** Radius of what stands for a loop that is too short for a line, in pixels. */
export const CIRCLE = 3.5;

/** Whether a loop, or the circle that stands for a short one, is at a pixel. */
function isNear(of: Lane, row: number, scale: TimeScale, x: number): boolean {
  const left = pixelOf(scale, of.start[row] ?? 0);
  const right = pixelOf(scale, (of.start[row] ?? 0) + (of.span[row] ?? 0));
  const middle = (left + right) / 2;
  return (x >= left && x <= right) || Math.abs(x - middle) <= CIRCLE + 1;
}
