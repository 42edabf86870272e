import { seconds } from "../../base/format.ts";

const UNITS: Readonly<Record<string, number>> = { ns: 1, "µs": 1e3, "μs": 1e3, us: 1e3, ms: 1e6, s: 1e9, min: 60e9, h: 3600e9 };

/** A duration that was typed, in nanoseconds; null for an empty text; or what is wrong with it. */
export function parseDuration(text: string): { readonly nanos: number | null } | { readonly problem: string } {
  const plain = text.trim().replace(/[\s\u202f]+/g, "");
  if (plain === "") return { nanos: null };
  const parts = /^(\d+(?:[.,]\d+)?|[.,]\d+)([a-zµμ]*)$/i.exec(plain);
  const amount = Number((parts?.[1] ?? "").replace(",", "."));
  const unit = parts?.[2] ?? "";
  if (parts === null || !Number.isFinite(amount)) return { problem: "Enter a number with its unit, such as 10 µs or 2.5 ms." };
  if (unit === "" && amount !== 0) return { problem: "Add a unit: ns, µs, ms, s or min." };
  const factor = unit === "" ? 1 : (UNITS[unit] ?? UNITS[unit.toLowerCase()]);
  if (factor === undefined) return { problem: `“${unit}” is not a unit of time: ns, µs, ms, s or min.` };
  const nanos = Math.round(amount * factor);
  if (!Number.isSafeInteger(nanos)) return { problem: "The duration is longer than any trace." };
  return { nanos };
}

/** A duration with two digits, for the edges of bins: `8.2 µs`. */
export function shortDuration(nanos: number): string {
  return seconds(nanos / 1e9, 2);
}

/** A duration as it is typed into a field, exactly: `2.5 ms`. */
export function typedDuration(nanos: number | null): string {
  if (nanos === null) return "";
  const steps = [["s", 1e9], ["ms", 1e6], ["µs", 1e3], ["ns", 1]] as const;
  const [unit, factor] = steps.find(([, from]) => nanos >= from) ?? ["ns", 1];
  return `${String(nanos / factor)} ${unit}`;
}

/** The largest whole number in a bin of powers of two that begins at `from`: bins are 0, 1, 2–3, 4–7, ... */
export function binEnd(from: number): number {
  return from <= 0 ? 0 : from * 2 - 1;
}

/** Bins of powers of two without gaps: those that the engine omits because nothing is in them are empty. */
export function filledBins<T extends { readonly from: number }>(bins: readonly T[], empty: (from: number) => T): readonly T[] {
  const sorted = [...bins].sort((a, b) => a.from - b.from);
  const out: T[] = [];
  for (const bin of sorted) {
    const last = out.at(-1);
    for (let from = last === undefined ? bin.from : last.from <= 0 ? 1 : last.from * 2; from < bin.from; from = from <= 0 ? 1 : from * 2) out.push(empty(from));
    out.push(bin);
  }
  return out;
}
