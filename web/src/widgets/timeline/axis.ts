/** A line of time on the screen: from nanoseconds to pixels and back, and how a window of it is moved. Pure. */

/** A time window in nanoseconds since the first record, half-open. */
export type TimeRange = readonly [fromNs: number, toNs: number];

/** A window that fills a width. */
export interface TimeScale {
  readonly fromNs: number;
  readonly toNs: number;
  /** Width in CSS pixels. */
  readonly pixels: number;
}

/** A place on the axis with a number. */
export interface Tick {
  readonly ns: number;
  readonly text: string;
}

/** Shortest window: records are whole nanoseconds, so less shows nothing more. */
export const SHORTEST_NS = 10;

const THIN = "\u202f";
const STEPS = [1, 2, 5] as const;
const UNITS: readonly (readonly [unit: string, nanos: number, decimals: number])[] = [
  ["s", 1e9, 9],
  ["ms", 1e6, 6],
  ["µs", 1e3, 3],
  ["ns", 1, 0],
];

/** How much time one pixel is. */
export function nsPerPixel(scale: TimeScale): number {
  return (scale.toNs - scale.fromNs) / Math.max(1, scale.pixels);
}

/** Where a moment lies, in pixels from the left edge; may be outside. */
export function pixelOf(scale: TimeScale, ns: number): number {
  return (ns - scale.fromNs) / nsPerPixel(scale);
}

/** The moment under a pixel. */
export function nsAt(scale: TimeScale, pixel: number): number {
  return scale.fromNs + pixel * nsPerPixel(scale);
}

/** The window inside `bounds`, no shorter than a few nanoseconds; its length is kept where it can be. */
export function clampRange([from, to]: TimeRange, bounds: TimeRange, shortest = SHORTEST_NS): TimeRange {
  const whole = Math.max(bounds[1] - bounds[0], 1);
  const length = Math.min(Math.max(to - from, Math.min(shortest, whole)), whole);
  const start = Math.max(bounds[0], Math.min(from, bounds[0] + whole - length));
  return [start, start + length];
}

/** The window `factor` times as long, with the moment `aboutNs` staying where it is. */
export function zoomAbout([from, to]: TimeRange, factor: number, aboutNs: number, bounds: TimeRange): TimeRange {
  const whole = Math.max(bounds[1] - bounds[0], 1);
  const length = Math.min(Math.max((to - from) * factor, Math.min(SHORTEST_NS, whole)), whole);
  const share = to > from ? (aboutNs - from) / (to - from) : 0.5;
  const start = aboutNs - length * Math.max(0, Math.min(1, share));
  return clampRange([start, start + length], bounds);
}

/** The window moved by an amount of time, stopping at the edges. */
export function panRange([from, to]: TimeRange, byNs: number, bounds: TimeRange): TimeRange {
  return clampRange([from + byNs, to + byNs], bounds);
}

/** The window about another one, with some room on both sides. */
export function rangeAbout([from, to]: TimeRange, bounds: TimeRange, room = 0.15): TimeRange {
  const length = Math.max(to - from, 1);
  return clampRange([from - length * room, to + length * room], bounds);
}

/** The step between ticks that lie at least `least` pixels apart: 1, 2 or 5 times a power of ten, whole nanoseconds. */
export function tickStep(scale: TimeScale, least: number): number {
  const wanted = Math.max(1, nsPerPixel(scale) * least);
  const power = 10 ** Math.floor(Math.log10(wanted));
  return (STEPS.find((step) => step * power >= wanted * (1 - 1e-9)) ?? 10) * power;
}

/** Ticks at 1-2-5 steps with their times; `least` is the room that a text needs, in pixels. */
export function ticks(scale: TimeScale, least = 110): readonly Tick[] {
  const step = tickStep(scale, least);
  const first = Math.ceil(scale.fromNs / step);
  const last = Math.floor(scale.toNs / step);
  const out: Tick[] = [];
  for (let at = first; at <= last && out.length < 1000; at += 1) out.push({ ns: at * step, text: momentText(at * step, step, scale.toNs) });
  return out;
}

/**
 * A moment since the first record, exact to `stepNs`: `1.234 567 s`. The unit suits `largestNs`, so that all moments
 * of one axis have the same.
 */
export function momentText(ns: number, stepNs: number, largestNs = Math.abs(ns)): string {
  const [unit, nanos, most] = UNITS.find(([, from]) => largestNs >= from) ?? ["ns", 1, 0];
  const decimals = Math.max(0, Math.min(most, Math.ceil(Math.log10(nanos) - Math.log10(Math.max(stepNs, 1)) - 1e-9)));
  const [whole = "0", part = ""] = Math.abs(ns / nanos).toFixed(decimals).split(".");
  const sign = ns < 0 && Number(`${whole}.${part}`) !== 0 ? "\u2212" : "";
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  const after = part === "" ? "" : `.${part.replace(/(\d{3})(?=\d)/g, `$1${THIN}`)}`;
  return `${sign}${spaced}${after}${THIN}${unit}`;
}

/** How long something takes, with four digits: `262.1 µs`. */
export function lengthText(ns: number): string {
  if (!Number.isFinite(ns)) return "–";
  const size = Math.abs(ns);
  const [unit, nanos] = UNITS.find(([, from]) => size >= from) ?? ["ns", 1, 0];
  const value = ns / nanos;
  const decimals = unit === "ns" ? (Number.isInteger(value) ? 0 : 1) : Math.max(0, 3 - Math.floor(Math.log10(Math.max(1, Math.abs(value)))));
  const [whole = "0", part] = value.toFixed(decimals).split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  return `${part === undefined ? spaced : `${spaced}.${part}`}${THIN}${unit}`;
}

const TYPED_UNITS: Readonly<Record<string, number>> = { s: 1e9, ms: 1e6, us: 1e3, "µs": 1e3, "μs": 1e3, ns: 1, min: 60e9, h: 3600e9 };

/** A moment as it is typed: `1.5s`, `200 ms`, `1 234.5 µs`; a bare number has `unit`. Null when it is none. */
export function parseMoment(text: string, unit = "s"): number | null {
  const match = /^([\d.,\s\u202f_]+)\s*([a-zµμ]*)$/u.exec(text.trim());
  if (match === null) return null;
  const digits = (match[1] ?? "").replace(/[\s\u202f_,]/g, "");
  const nanos = TYPED_UNITS[match[2] === "" || match[2] === undefined ? unit : match[2]];
  const value = Number(digits);
  return digits === "" || nanos === undefined || !Number.isFinite(value) ? null : value * nanos;
}

/** A window as it is typed: `1.5s..2s`, `1.5 – 2 s`, `..100ms`, `2s..`; null when it is none. */
export function parseRange(text: string, bounds: TimeRange): TimeRange | null {
  const trimmed = text.trim();
  if (trimmed === "" || /^(all|everything)$/i.test(trimmed)) return bounds;
  const match = /^(.*?)\s*(?:\.\.|…|–|—|\bto\b)\s*(.*)$/u.exec(trimmed);
  if (match === null) return null;
  const [left, right] = [match[1] ?? "", match[2] ?? ""];
  const unit = /([a-zµμ]+)$/u.exec(right)?.[1] ?? /([a-zµμ]+)$/u.exec(left)?.[1] ?? "s";
  const from = left === "" ? bounds[0] : parseMoment(left, unit);
  const to = right === "" ? bounds[1] : parseMoment(right, unit);
  if (from === null || to === null || !(to > from)) return null;
  return clampRange([from, to], bounds);
}

/** A window as it can be typed again: `1.5 s..2 s`. */
export function rangeText([from, to]: TimeRange): string {
  const step = 10 ** Math.floor(Math.log10(Math.max(1, to - from)) - 3);
  return `${momentText(from, step, to)}..${momentText(to, step, to)}`;
}
