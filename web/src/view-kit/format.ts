import { bytes, count, number, seconds, siCount } from "../base/format.ts";

/** How the values of a column are written: all in one unit, which stands in the header. */
export interface ValueFormat {
  /** Empty for counts of moderate size and for numbers without a unit. */
  readonly unit: string;
  text(value: number): string;
}

const DASH = "–";
const SECONDS = [["ns", 1e-9], ["µs", 1e-6], ["ms", 1e-3], ["s", 1]] as const;
const BYTES = [["B", 1], ["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40]] as const;
const COUNTS = [["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12]] as const;

/** The format for a column of a metric, by the symbol of its unit and the largest value. */
export function valueFormat(unit: string, largest: number): ValueFormat {
  switch (unit) {
    case "s":
    case "sec":
    case "seconds":
      return stepped(SECONDS, largest);
    case "ns": {
      const format = stepped(SECONDS, largest / 1e9);
      return { unit: format.unit, text: (value) => format.text(value / 1e9) };
    }
    case "B":
    case "bytes":
      return stepped(BYTES, largest);
    case "":
    case "1":
    case "count":
      return Math.abs(largest) < 10_000 ? { unit: "", text: (value) => (Number.isNaN(value) ? DASH : Number.isInteger(value) ? count(value) : number(value)) } : stepped(COUNTS, largest);
    default:
      return { unit, text: (value) => (Number.isNaN(value) ? DASH : number(value)) };
  }
}

/** Digits of the largest value of a column: two more than a share in per cent tells. */
const DIGITS = 5;

function stepped(steps: readonly (readonly [unit: string, factor: number])[], largest: number): ValueFormat {
  const size = Math.abs(largest);
  const [unit, factor] = steps.findLast(([, from]) => size >= from) ?? steps[0] ?? ["", 1];
  const whole = Math.max(1, Math.floor(Math.log10(Math.max(size / factor, 1))) + 1);
  const places = factor === 1 && unit !== "s" ? 0 : Math.max(0, DIGITS - whole);
  const least = 10 ** -places;
  return {
    unit,
    text: (value) => {
      if (!Number.isFinite(value)) return DASH;
      const scaled = value / factor;
      if (scaled > 0 && scaled < least / 2) return `<${least.toFixed(places)}`;
      return grouped(scaled.toFixed(places));
    },
  };
}

function grouped(text: string): string {
  const [whole = "", part] = text.replace("-", "\u2212").split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, "\u202f");
  return part === undefined ? spaced : `${spaced}.${part}`;
}

/** A value of a format without the zeros that say nothing, for the ticks of an axis. */
export function tickText(format: ValueFormat, value: number): string {
  const text = format.text(value);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** How values over time are written at their axis: in a unit of which the largest value has some, with a decimal prefix as in single values. */
export interface AxisFormat {
  readonly unit: string;
  /** What one of the unit is in values of the metric. */
  readonly size: number;
  /** A value of the metric, with the unit and as few digits as it needs. */
  text(value: number): string;
}

const DECIMAL_BYTES = [["B", 1], ["kB", 1e3], ["MB", 1e6], ["GB", 1e9], ["TB", 1e12]] as const;

/** The format of an axis of a metric, by the symbol of its unit and the largest value. */
export function axisFormat(unit: string, largest: number): AxisFormat {
  const steps = axisSteps(unit);
  const [name, size] = steps.findLast(([, from]) => Math.abs(largest) >= from) ?? steps[0] ?? [unit, 1];
  const text = (value: number): string => {
    if (!Number.isFinite(value)) return DASH;
    const scaled = Number((value / size).toPrecision(6));
    return `${grouped(String(scaled))}${name === "" ? "" : `\u202f${name}`}`;
  };
  return { unit: name, size, text };
}

function axisSteps(unit: string): readonly (readonly [name: string, size: number])[] {
  switch (unit) {
    case "s": case "sec": case "seconds": return SECONDS;
    case "ns": return SECONDS.map(([name, size]) => [name, size * 1e9] as const);
    case "B": case "bytes": return DECIMAL_BYTES;
    case "": case "1": case "count": case "#": return COUNTS;
    default: return [[unit, 1]];
  }
}

/** A single value with its unit. */
export function valueText(value: number, unit: string): string {
  if (!Number.isFinite(value)) return DASH;
  if (unit === "B" || unit === "bytes") return bytes(value);
  if (unit === "" || unit === "1" || unit === "count") return siCount(value);
  if (unit === "s" || unit === "sec" || unit === "seconds") return seconds(value);
  if (unit === "ns") return seconds(value / 1e9);
  // What is counted has no fractions: 5 events, not 5.000.
  return `${Number.isInteger(value) && Math.abs(value) < 1e9 ? count(value) : number(value)}\u202f${unit}`;
}

/** A share as a number in per cent, without the sign that the header has: `45.3`. */
export function shareText(share: number): string {
  if (!Number.isFinite(share)) return "";
  if (share > 0 && share < 0.0005) return "<0.1";
  return (share * 100).toFixed(1);
}
