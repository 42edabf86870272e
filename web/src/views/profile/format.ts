import { bytes, number, secondsColumn, siCount } from "../../base/format.ts";

/** How the values of a column are written: all in one unit, which stands in the header. */
export interface ValueFormat {
  /** Empty for counts of moderate size and for numbers without a unit. */
  readonly unit: string;
  text(value: number): string;
}

const DASH = "–";
const BYTES = [["B", 1], ["KiB", 2 ** 10], ["MiB", 2 ** 20], ["GiB", 2 ** 30], ["TiB", 2 ** 40]] as const;
const COUNTS = [["", 1], ["k", 1e3], ["M", 1e6], ["G", 1e9], ["T", 1e12]] as const;

/** The format for a column of a metric, by the symbol of its unit and the largest value. */
export function valueFormat(unit: string, largest: number): ValueFormat {
  switch (unit) {
    case "s":
    case "sec":
    case "seconds":
      return secondsColumn(largest);
    case "ns": {
      const format = secondsColumn(largest / 1e9);
      return { unit: format.unit, text: (value) => format.text(value / 1e9) };
    }
    case "B":
    case "bytes":
      return stepped(BYTES, largest);
    case "":
    case "1":
    case "count":
      return Math.abs(largest) < 10_000 ? { unit: "", text: (value) => (Number.isNaN(value) ? DASH : number(value)) } : stepped(COUNTS, largest);
    default:
      return { unit, text: (value) => (Number.isNaN(value) ? DASH : number(value)) };
  }
}

function stepped(steps: readonly (readonly [string, number])[], largest: number): ValueFormat {
  const size = Math.abs(largest);
  const [unit, factor] = steps.findLast(([, from]) => size >= from) ?? ["", 1];
  const places = factor === 1 ? 0 : Math.max(0, 3 - Math.floor(Math.log10(Math.max(size / factor, 1))));
  return { unit, text: (value) => (Number.isFinite(value) ? (value / factor).toFixed(places) : DASH) };
}

/** A single value with its unit. */
export function valueText(value: number, unit: string): string {
  if (!Number.isFinite(value)) return DASH;
  if (unit === "B" || unit === "bytes") return bytes(value);
  if (unit === "" || unit === "1" || unit === "count") return siCount(value);
  const format = valueFormat(unit, value);
  return format.unit === "" ? format.text(value) : `${format.text(value)}\u202f${format.unit}`;
}

/** A share as a number in per cent, without the sign that the header has: `45.3`. */
export function shareText(share: number): string {
  if (!Number.isFinite(share)) return "";
  if (share > 0 && share < 0.0005) return "<0.1";
  return (share * 100).toFixed(1);
}
