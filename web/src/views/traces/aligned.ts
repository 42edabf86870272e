/** Two runs whose iterations lie over each other: from moments of one to those of the other, and what each iteration takes more or less. Pure. */
import { percent, plural } from "../../base/format.ts";
import { csv } from "../../widgets/save.ts";
import type { TableSort } from "../../widgets/table.ts";
import { lengthText, type TimeRange } from "../../widgets/timeline/axis.ts";
import type { Strip } from "../../widgets/trace/strips.ts";

/** Rows of a picture of one run; more tracks than these share rows. */
export const MOST_ROWS = 48;

/** A picture of a time window of one run, on its own clock; bins may begin before the window and end after it. */
export interface RunStrip {
  readonly range: TimeRange;
  readonly strip: Strip;
}

/** The iterations of one run, in order of time. */
export interface RunIterations {
  /** Nanoseconds since the first record, when the first location begins each. */
  readonly beginNs: Float64Array;
  /** Mean over locations. */
  readonly lengthSeconds: Float64Array;
  /** As the engine says it: `whole`, `warm-up`, `partial`. */
  readonly states: readonly string[];
}

/**
 * Moments of this run and the same moments of the other one, both strictly ascending and at least one; straight
 * between them. Before the first and after the last, time passes equally fast in both.
 */
export interface TimeMap {
  readonly own: Float64Array;
  readonly other: Float64Array;
}

/** The other run is later by an amount of time, everywhere. */
export function movedBy(shiftNs: number): TimeMap {
  return { own: Float64Array.of(0), other: Float64Array.of(shiftNs) };
}

/** When an iteration ends: where the next one begins; the last after its length. */
export function endOf(run: RunIterations, iteration: number): number {
  return run.beginNs[iteration + 1] ?? Math.round((run.beginNs[iteration] ?? Number.NaN) + (run.lengthSeconds[iteration] ?? Number.NaN) * 1e9);
}

/** Puts the begins of the iterations that both runs have over each other, and the end of the last of these; null where there is none. */
export function alignedBy(own: RunIterations, other: RunIterations): TimeMap | null {
  const matched = Math.min(own.beginNs.length, other.beginNs.length);
  const knots: (readonly [own: number, other: number])[] = [];
  for (let at = 0; at <= matched && matched > 0; at += 1) {
    const next = at < matched ? ([own.beginNs[at] ?? Number.NaN, other.beginNs[at] ?? Number.NaN] as const) : ([endOf(own, matched - 1), endOf(other, matched - 1)] as const);
    const last = knots.at(-1);
    // Iterations without a length in one run would give a moment of the other no place of its own.
    if (last === undefined ? Number.isFinite(next[0] + next[1]) : next[0] > last[0] && next[1] > last[1]) knots.push(next);
  }
  return knots.length === 0 ? null : { own: Float64Array.from(knots, ([ns]) => ns), other: Float64Array.from(knots, ([, ns]) => ns) };
}

/** The moment of the other run that lies over one of this run. */
export function toOther(map: TimeMap, ns: number): number {
  return between(map.own, map.other, ns);
}

/** The moment of this run that lies over one of the other run. */
export function toOwn(map: TimeMap, ns: number): number {
  return between(map.other, map.own, ns);
}

function between(from: Float64Array, to: Float64Array, ns: number): number {
  const at = Math.max(0, lastNotAfter(from, ns));
  const [start, image] = [from[at] ?? 0, to[at] ?? 0];
  const [next, nextImage] = [from[at + 1], to[at + 1]];
  if (ns < start || next === undefined || nextImage === undefined) return image + (ns - start);
  return image + ((ns - start) * (nextImage - image)) / (next - start);
}

/** Place of the last of ascending moments that is not after one; -1 where all are. */
function lastNotAfter(moments: Float64Array, ns: number): number {
  let [low, high] = [0, moments.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((moments[middle] ?? 0) <= ns) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The iteration in which a moment lies; null outside all. */
export function iterationAt(run: RunIterations, ns: number): number | null {
  const at = lastNotAfter(run.beginNs, ns);
  return at < 0 || ns >= endOf(run, at) ? null : at;
}

/** The time window of the other run that lies over one of this run, kept inside its span. */
export function otherWindow(map: TimeMap, window: TimeRange, otherSpan: number): TimeRange {
  const inside = (ns: number): number => Math.max(0, Math.min(toOther(map, ns), otherSpan));
  return [inside(window[0]), inside(window[1])];
}

/**
 * The time windows of the other run that lie in one of this run, in each of which time passes evenly: they are asked
 * for one by one, so that no bin of a picture lies across the begin of an iteration. More than `most` are one.
 */
export function otherWindows(map: TimeMap, window: TimeRange, otherSpan: number, most: number): readonly TimeRange[] {
  const [from, to] = otherWindow(map, window, otherSpan);
  // Where time passes equally fast everywhere, there is nothing to cut.
  const cuts = map.other.length < 2 ? [] : [...map.other].filter((ns) => ns > from && ns < to);
  const ends = cuts.length >= most ? [from, to] : [from, ...cuts, to];
  return ends.slice(1).flatMap((end, at): TimeRange[] => (end > (ends[at] ?? 0) ? [[ends[at] ?? 0, end]] : []));
}

/** What an iteration takes in two runs. */
export interface IterationRow {
  /** Counted from 0. */
  readonly iteration: number;
  /** When it begins in this run, seconds; NaN where it has none. */
  readonly begin: number;
  /** Seconds in the other run, which is the old one; NaN where it does not have it. */
  readonly before: number;
  /** Seconds in this run. */
  readonly after: number;
  /** This run minus the other one; NaN where one does not have it. */
  readonly seconds: number;
  /** Of the length in the other run; NaN where there is none. */
  readonly ratio: number;
  /** What is special about it; empty for most. */
  readonly remark: string;
  /** Whether it counts in the sum: both runs have it to its end. */
  readonly isCounted: boolean;
}

/** The iterations of two runs by number; where one has more, the rest has no difference. */
export function iterationRows(own: RunIterations, other: RunIterations): readonly IterationRow[] {
  return Array.from({ length: Math.max(own.beginNs.length, other.beginNs.length) }, (_, iteration): IterationRow => {
    const [was, is] = [other.lengthSeconds[iteration] ?? Number.NaN, own.lengthSeconds[iteration] ?? Number.NaN];
    const [here, there] = [own.states[iteration] ?? "", other.states[iteration] ?? ""];
    const isMatched = iteration < own.beginNs.length && iteration < other.beginNs.length;
    return {
      iteration,
      begin: (own.beginNs[iteration] ?? Number.NaN) / 1e9,
      before: was,
      after: is,
      seconds: lessNoise(is - was),
      ratio: was > 0 ? lessNoise(is - was) / was : Number.NaN,
      remark: isMatched ? remarkOf(here, there) : iteration < own.beginNs.length ? "only in this run" : "only in the other run",
      isCounted: isMatched && here !== CUT_OFF && there !== CUT_OFF,
    };
  });
}

const CUT_OFF = "partial";
/** Less than this is what adding up leaves over: records are whole nanoseconds. */
const LEAST_SECONDS = 0.5e-9;

function lessNoise(seconds: number): number {
  return Math.abs(seconds) < LEAST_SECONDS ? 0 : seconds;
}

function remarkOf(here: string, there: string): string {
  const name = (state: string): string => (state === "whole" ? "" : state === CUT_OFF ? "cut off" : state);
  if (here === there) return name(here);
  return [[name(here), "in this run"], [name(there), "in the other run"]].flatMap(([state, where]) => (state === "" ? [] : [`${state ?? ""} ${where ?? ""}`])).join(", ");
}

/** The places of rows in the order of a column; nothing last, and equal ones by number. */
export function iterationOrder(rows: readonly IterationRow[], { column, descending }: TableSort): readonly number[] {
  const value = (row: IterationRow | undefined): number => {
    switch (column) {
      case "begin": return row?.begin ?? Number.NaN;
      case "before": return row?.before ?? Number.NaN;
      case "after": return row?.after ?? Number.NaN;
      case "seconds": return row?.seconds ?? Number.NaN;
      case "ratio": return row?.ratio ?? Number.NaN;
      default: return row?.iteration ?? Number.NaN;
    }
  };
  const sign = descending ? -1 : 1;
  return rows.map((_, at) => at).sort((a, b) => {
    const [first, second] = [value(rows[a]), value(rows[b])];
    if (Number.isNaN(first) || Number.isNaN(second)) return Number(Number.isNaN(first)) - Number(Number.isNaN(second)) || a - b;
    return sign * (first - second) || a - b;
  });
}

/** What all iterations that count take more or less together, and which differs most. */
export interface IterationSum {
  readonly counted: number;
  /** Seconds. */
  readonly before: number;
  readonly after: number;
  /** Null where nothing differs. */
  readonly largest: IterationRow | null;
}

/** The sum over the iterations that both runs have to their end. */
export function iterationSum(rows: readonly IterationRow[]): IterationSum {
  const counted = rows.filter((row) => row.isCounted);
  const sum = (of: (row: IterationRow) => number): number => counted.reduce((total, row) => total + of(row), 0);
  const largest = counted.reduce<IterationRow | null>((best, row) => (Math.abs(row.seconds) > Math.abs(best?.seconds ?? 0) ? row : best), null);
  return { counted: counted.length, before: sum((row) => row.before), after: sum((row) => row.after), largest };
}

/** Seconds with four digits, without what adding up leaves over. */
function shortText(seconds: number): string {
  return lengthText(Math.round(seconds * 1e12) / 1e3);
}

/** A difference in words: `400.0 µs more (+40.0 %)`. */
export function differenceText(before: number, after: number): string {
  const more = after - before;
  if (lessNoise(more) === 0) return "the same";
  const share = before > 0 ? ` (${more > 0 ? "+" : "\u2212"}${percent(Math.abs(more) / before)})` : "";
  return `${shortText(Math.abs(more))} ${more > 0 ? "more" : "less"}${share}`;
}

/** The sum and the largest difference, in one sentence. */
export function sumSentence({ counted, before, after, largest }: IterationSum): string {
  const all = `This run takes ${differenceText(before, after)} in the ${plural(counted, "iteration")} that both runs have`;
  if (largest === null) return `${all}; no iteration differs.`;
  const [was, is] = [shortText(largest.before), shortText(largest.after)];
  return `${all}; iteration ${String(largest.iteration)} differs most: ${is} instead of ${was}, ${differenceText(largest.before, largest.after)}.`;
}

/** What has no counterpart or does not count, one sentence each. */
export function unmatchedSentences(own: number, other: number, rows: readonly IterationRow[]): readonly string[] {
  const said: string[] = [];
  if (own !== other) {
    const [less, more] = [Math.min(own, other), Math.max(own, other)];
    const which = more - less === 1 ? `iteration ${String(less)}` : `iterations ${String(less)} to ${String(more - 1)}`;
    said.push(`This run has ${plural(own, "iteration")}, the other one ${String(other)}: ${which} of ${own > other ? "this run" : "the other run"} ${more - less === 1 ? "has" : "have"} no counterpart.`);
  }
  const cut = rows.filter((row) => !row.isCounted && !Number.isNaN(row.seconds)).length;
  if (cut > 0) said.push(`${plural(cut, "iteration")} ${cut === 1 ? "is" : "are"} cut off in one of the runs and excluded from the sum.`);
  return said;
}

/** The table as a file, unrounded, in the order on screen. */
export function iterationCsv(rows: readonly IterationRow[], sort: TableSort): string {
  const cell = (value: number): number | null => (Number.isNaN(value) ? null : value);
  return csv([
    ["iteration", "begin in this run (s)", "other run (s)", "this run (s)", "this - other (s)", "this - other (%)", "remark"],
    ...iterationOrder(rows, sort).flatMap((at) => {
      const row = rows[at];
      return row === undefined ? [] : [[row.iteration, cell(row.begin), cell(row.before), cell(row.after), cell(row.seconds), cell(row.ratio * 100), row.remark]];
    }),
  ]);
}
