/** How numbers are shown. Every function says the unit; a missing value is a dash. */
import { grouped, quantity } from "./quantity.ts";

const DASH = "–";
const THIN = "\u202f";

/** How many significant digits tables show; enough to see a difference of one per thousand. */
const DIGITS = 4;

/** A number with so many significant digits, never in exponent form between a millionth and a billion. */
export function number(value: number, digits = DIGITS): string {
  if (!Number.isFinite(value)) return DASH;
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e9 || size < 1e-6) return grouped(value.toExponential(Math.max(0, digits - 1)));
  const whole = Math.floor(Math.log10(size)) + 1;
  const places = Math.max(0, Math.min(12, digits - whole));
  return grouped(value.toFixed(places));
}

/** A whole number with thin spaces between the thousands: 97 833. */
export function count(value: number | bigint): string {
  return grouped(String(typeof value === "bigint" ? value : Math.round(value)));
}

/** A time in seconds with the prefix that suits it: `12.34 ms`. Over 1000 s it stays in seconds, because that is what rates and ratios are made of. */
export function seconds(value: number, digits = DIGITS): string {
  return Number.isFinite(value) ? quantity(value, "s", digits) : DASH;
}

/** A share between 0 and 1 in percent: `45.3 %`. Not zero but tiny is `<0.1 %`. */
export function percent(share: number, places = 1): string {
  if (!Number.isFinite(share)) return DASH;
  const value = share * 100;
  const least = 10 ** -places;
  if (value > 0 && value < least) return `<${String(least)}${THIN}%`;
  return `${grouped(value.toFixed(places))}${THIN}%`;
}

/** An amount of bytes with a decimal prefix: `12.3 MB`. */
export function bytes(value: number): string {
  return Number.isFinite(value) ? quantity(value, "B") : DASH;
}

/** A count: below a million in full, above with a prefix: `2.50 M`. */
export function siCount(value: number): string {
  return Number.isFinite(value) ? quantity(value, "") : DASH;
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
