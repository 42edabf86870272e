/** How numbers are shown. Every function says the unit; a missing value is a dash. */

const DASH = "–";
const MINUS = "\u2212";
const THIN = "\u202f";

/** How many significant digits tables show; enough to see a difference of one per thousand. */
const DIGITS = 4;

function signed(text: string): string {
  return text.startsWith("-") ? MINUS + text.slice(1) : text;
}

/** A number with so many significant digits, never in exponent form between a millionth and a billion. */
export function number(value: number, digits = DIGITS): string {
  if (!Number.isFinite(value)) return DASH;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-6) return signed(value.toExponential(Math.max(0, digits - 1)));
  const whole = Math.floor(Math.log10(size)) + 1;
  const places = Math.max(0, Math.min(12, digits - whole));
  return grouped(signed(value.toFixed(places)));
}

/** A whole number with thin spaces between the thousands: 97 833. */
export function count(value: number | bigint): string {
  return grouped(signed(String(typeof value === "bigint" ? value : Math.round(value))));
}

function grouped(text: string): string {
  const [whole = "", part] = text.split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  return part === undefined ? spaced : `${spaced}.${part}`;
}

const SECOND_STEPS: readonly (readonly [from: number, factor: number, unit: string])[] = [
  [3600 * 100, 1 / 3600, "h"],
  [600, 1 / 60, "min"],
  [1, 1, "s"],
  [1e-3, 1e3, "ms"],
  [1e-6, 1e6, "µs"],
  [0, 1e9, "ns"],
];

/** A time in seconds with the unit that suits it: `12.34 ms`. */
export function seconds(value: number, digits = DIGITS): string {
  if (!Number.isFinite(value)) return DASH;
  if (value === 0) return `0${THIN}s`;
  const size = Math.abs(value);
  const [, factor, unit] = SECOND_STEPS.find(([from]) => size >= from) ?? [0, 1e9, "ns"];
  return `${number(value * factor, digits)}${THIN}${unit}`;
}

/** A whole column of times in one unit, chosen by the largest: returns how to write each, and the unit for the header. */
export function secondsColumn(largest: number): { unit: string; text: (value: number) => string } {
  const size = Math.abs(largest);
  const [from, factor, unit] = SECOND_STEPS.find(([least]) => size >= least && size > 0) ?? [1, 1, "s"];
  const whole = Math.max(1, Math.floor(Math.log10(Math.max(size * factor, 1))) + 1);
  const places = from === 0 && size === 0 ? 0 : Math.max(0, DIGITS - whole);
  return { unit, text: (value) => (Number.isFinite(value) ? grouped(signed((value * factor).toFixed(places))) : DASH) };
}

/** A share between 0 and 1 in percent: `45.3 %`. Not zero but tiny is `<0.1 %`. */
export function percent(share: number, places = 1): string {
  if (!Number.isFinite(share)) return DASH;
  const value = share * 100;
  const least = 10 ** -places;
  if (value > 0 && value < least) return `<${String(least)}${THIN}%`;
  return `${grouped(signed(value.toFixed(places)))}${THIN}%`;
}

const BYTE_UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** An amount of bytes with a decimal prefix, as on the command line: `12.3 MB`. */
export function bytes(value: number): string {
  if (!Number.isFinite(value)) return DASH;
  const size = Math.abs(value);
  // 999.5 would be rounded to four digits.
  const step = size < 999.5 ? 0 : Math.min(Math.floor(Math.log10(size * 1.0005) / 3), BYTE_UNITS.length - 1);
  return `${number(Number((value / 1000 ** step).toPrecision(3)), 3)}${THIN}${BYTE_UNITS[step] ?? "B"}`;
}

const COUNT_UNITS = ["", "k", "M", "G", "T", "P"];

/** A count in powers of 1000: `2.50 M`; whole and small ones in full: `6`. */
export function siCount(value: number): string {
  if (!Number.isFinite(value)) return DASH;
  const size = Math.abs(value);
  if (size < 10_000) return Number.isInteger(value) ? count(value) : number(value);
  const step = Math.min(Math.floor(Math.log10(size) / 3), COUNT_UNITS.length - 1);
  return `${number(value / 1000 ** step, 3)}${THIN}${COUNT_UNITS[step] ?? ""}`;
}

/** A value of a metric by the symbol of its unit: seconds and bytes adapt, counts take SI letters, others keep theirs. */
export function metricValue(value: number, unit: string): string {
  switch (unit) {
    case "s":
    case "sec":
    case "seconds":
      return seconds(value);
    case "ns":
      return seconds(value / 1e9);
    case "B":
    case "bytes":
      return bytes(value);
    case "":
    case "1":
    case "count":
      return siCount(value);
    default:
      return `${number(value)}${THIN}${unit}`;
  }
}

/** How long ago a time was, in words: `3 minutes ago`. */
export function ago(thenMillis: number, nowMillis: number): string {
  const steps: readonly (readonly [number, string])[] = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
  ];
  const past = Math.max(0, nowMillis - thenMillis);
  for (const [millis, word] of steps) {
    const whole = Math.floor(past / millis);
    if (whole >= 1) return `${String(whole)} ${word}${whole === 1 ? "" : "s"} ago`;
  }
  return "just now";
}

/** A clause as a sentence: with a capital, unless it begins with a name, and with a full stop. */
export function sentence(text: string): string {
  const capital = /^[a-z]+[ ,]/.test(text) ? text.charAt(0).toUpperCase() + text.slice(1) : text;
  return capital === "" || /[.!?…]$/.test(capital) ? capital : `${capital}.`;
}

/** A count with its noun: `1 issue`, `3 issues`. */
export function plural(amount: number, one: string, many = `${one}s`): string {
  return `${count(amount)} ${amount === 1 ? one : many}`;
}
