/**
 * How an amount is written: the rule of `parallax_base::quantity`, with thin spaces between thousands and a proper minus.
 * Both are tested with `crates/base/tests/quantities.tsv`.
 */

const DASH = "–";
const MINUS = "\u2212";
const THIN = "\u202f";

/** Digits of a number that stands alone. */
const DIGITS_ALONE = 3;
/** Digits of the largest number of a column. */
const DIGITS_IN_COLUMN = 4;
/** Counts that stand alone are exact below ten to the power of this, */
const EXACT_ALONE = 6;
/** and in a column below this. */
const EXACT_IN_COLUMN = 9;
/** Counts of more digits than this are written as powers of ten: no prefix brings them near one. */
const LARGEST_PREFIXED = 32;
/** Zeros after the point that are still read at a glance. */
const MAX_DECIMALS = 6;

const TIMES = ["n", "µ", "m", ""];
const LARGE = ["", "k", "M", "G", "T", "P", "E"];
const BOTH = [...TIMES, ...LARGE.slice(1)];

/** Symbols that take a prefix without a gap: prefixes that make sense, what they stand before, and where the unit itself is among them. */
const SYMBOLS: Readonly<Record<string, readonly [prefixes: readonly string[], base: string, own: number]>> = {
  s: [TIMES, "s", 3], ms: [TIMES, "s", 2], us: [TIMES, "s", 1], "µs": [TIMES, "s", 1], ns: [TIMES, "s", 0],
  J: [BOTH, "J", 3], B: [LARGE, "B", 0], "B/s": [LARGE, "B/s", 0], W: [LARGE, "W", 0], Hz: [LARGE, "Hz", 0],
};

/** Units of what is measured and not counted: it is whole by chance. */
const MEASURED: ReadonlySet<string> = new Set(["s", "ms", "us", "µs", "core-seconds", "J", "W"]);

/** What formats call units that have a symbol. */
const NAMES: Readonly<Record<string, string>> = { sec: "s", seconds: "s", bytes: "B", "1": "", count: "", "#": "" };

/** What all numbers of a column are divided by and rounded to, so that they can be compared by eye. */
export interface Scale {
  /** The unit that numbers are shown in, with its prefix. */
  readonly unit: string;
  /** A value without its unit. Zero is `0`, so that it differs from what only rounds to it. */
  readonly number: (value: number) => string;
}

/** Of columns in `unit`, whose largest absolute value is `max`. Whole numbers need no decimals where nothing else is in the column. */
export function columnScale(unit: string, max: number, isIntegral: boolean): Scale {
  return scaleOf(unit, DIGITS_IN_COLUMN, EXACT_IN_COLUMN, Math.abs(max), isIntegral);
}

/** A value with the symbol of its unit: `12.3 s`, `450 ms`, `3.20 GB`, `1.20 G cycles`. With four digits where it is compared with another one. */
export function quantity(value: number, unit: string, digits = DIGITS_ALONE): string {
  if (Number.isNaN(value)) return DASH;
  const scale = scaleOf(unit, digits, EXACT_ALONE, Number.isFinite(value) ? Math.abs(value) : 0, Number.isInteger(value));
  return `${scale.number(value)}${scale.unit === "" ? "" : THIN}${scale.unit}`;
}

function scaleOf(name: string, digits: number, exact: number, max: number, isIntegral: boolean): Scale {
  const unit = NAMES[name] ?? name;
  if (unit === "%") return { unit, number: (value) => written(value, 0, (scaled) => scaled.toFixed(1)) };
  if (max === 0 || !Number.isFinite(max)) return { unit, number: (value) => written(value, 0, (scaled) => scaled.toFixed(0)) };
  const magnitude = Number(max.toExponential(digits - 1).split("e")[1]);
  const [step, shown] = stepOf(unit, magnitude, exact);
  const above = magnitude - step;
  const decimals = digits - 1 - above;
  const isFar = above > 14 || decimals > MAX_DECIMALS;
  // Of a whole column chance is unlikely.
  const isCounted = isIntegral && (exact === EXACT_IN_COLUMN || !MEASURED.has(unit));
  const places = isCounted && step === 0 ? 0 : Math.max(0, decimals);
  return {
    unit: shown,
    // Other values of the column may still be far out.
    number: (value) => written(value, step, (scaled) => (isFar ? scaled.toExponential(digits - 1) : Math.abs(scaled) < 1e15 ? scaled.toFixed(places) : scaled.toExponential(3))),
  };
}

/** The power of ten to divide by, and the unit that this gives. Counts are exact below ten to the power of `exact`. */
function stepOf(unit: string, magnitude: number, exact: number): readonly [step: number, unit: string] {
  const symbol = SYMBOLS[unit];
  // Counts, and units of others, which are words that stand behind the prefix.
  if (symbol === undefined && ((magnitude >= -4 && magnitude < exact) || magnitude > LARGEST_PREFIXED)) return [0, unit];
  const [prefixes, base, own] = symbol ?? [LARGE, unit, 0];
  const chosen = Math.max(0, Math.min(prefixes.length - 1, Math.floor(magnitude / 3) + own));
  const prefix = prefixes[chosen] ?? "";
  // `G cycles`, but `GB`: a word is no symbol.
  const gap = symbol === undefined && base !== "" && prefix !== "" ? THIN : "";
  return [(chosen - own) * 3, `${prefix}${gap}${base}`];
}

function written(value: number, step: number, text: (scaled: number) => string): string {
  if (Number.isNaN(value)) return DASH;
  if (!Number.isFinite(value)) return `${value < 0 ? MINUS : ""}∞`;
  if (value === 0) return "0";
  // Powers of ten up to 22 are exact, so this is rounded once.
  const power = 10 ** Math.abs(step);
  const digits = text(step < 0 ? value * power : value / power).replace("e+", "e");
  // What rounds to zero has no sign that says anything.
  return grouped(/[1-9]/.test(digits) ? digits : digits.replace("-", ""));
}

/** A number as digits with a proper minus, and thin spaces between the thousands before the point. */
export function grouped(digits: string): string {
  const [whole = "", part] = digits.replaceAll("-", MINUS).split(".");
  const spaced = whole.replace(/\B(?=(\d{3})+$)/g, THIN);
  return part === undefined ? spaced : `${spaced}.${part}`;
}
