import { columnScale, grouped, quantity } from "../base/quantity.ts";

/** How the values of a column are written: all in one unit, which stands in the header. */
export interface ValueFormat {
  /** Empty for counts of moderate size and for numbers without a unit. */
  readonly unit: string;
  text(value: number): string;
}

const DASH = "–";
const SECONDS = [["ns", 1e-9], ["µs", 1e-6], ["ms", 1e-3], ["s", 1]] as const;
const COUNTS = [["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12]] as const;

const TIMES: ReadonlySet<string> = new Set(["s", "sec", "seconds", "ms", "us", "µs", "ns"]);

/** The format for a column of a metric, by the symbol of its unit and the largest value. */
export function valueFormat(unit: string, largest: number): ValueFormat {
  const scale = columnScale(unit, largest, false);
  // What is counted has no fractions: 5 events, not 5.000. A time has them all the same.
  const whole = TIMES.has(unit) ? scale : columnScale(unit, largest, true);
  return { unit: scale.unit, text: (value) => (Number.isInteger(value) ? whole : scale).number(value) };
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

/** Digits of a single value, which stands beside others. */
const DIGITS = 4;

/** A single value with its unit. */
export function valueText(value: number, unit: string): string {
  return Number.isFinite(value) ? quantity(value, unit, DIGITS) : DASH;
}

/** A share as a number in per cent, without the sign that the header has: `45.3`. */
export function shareText(share: number): string {
  if (!Number.isFinite(share)) return "";
  if (share > 0 && share < 0.0005) return "<0.1";
  return (share * 100).toFixed(1);
}
