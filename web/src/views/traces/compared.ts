/** A row of statistics, seconds. */
export interface StatRow {
  readonly name: string;
  /** Empty where the source has no groups. */
  readonly group: string;
  /** NaN where calls were not recorded. */
  readonly calls: number;
  readonly exclusive: number;
  readonly inclusive: number;
  /** 0 to 1, of the time in which anything ran. */
  readonly share: number;
}

/** What a function costs in two runs: in the other one, which is the old one, and in this one, as everywhere. */
export interface Difference {
  readonly name: string;
  /** Seconds in the other run; NaN where it does not have it. */
  readonly before: number;
  /** Seconds in this run. */
  readonly after: number;
  /** This run minus the other one. */
  readonly seconds: number;
  /** Of the time in the other run; NaN where there is none. */
  readonly ratio: number;
  readonly callsBefore: number;
  readonly callsAfter: number;
}

/** The functions of two runs by name, those that differ most first. */
export function differences(before: readonly StatRow[], after: readonly StatRow[], cost: "exclusive" | "inclusive"): readonly Difference[] {
  const first = new Map(before.map((row) => [row.name, row]));
  const second = new Map(after.map((row) => [row.name, row]));
  const names = new Set([...first.keys(), ...second.keys()]);
  const rows = [...names].map((name): Difference => {
    const [a, b] = [first.get(name), second.get(name)];
    const [was, is] = [a?.[cost] ?? 0, b?.[cost] ?? 0];
    return {
      name,
      before: a?.[cost] ?? Number.NaN,
      after: b?.[cost] ?? Number.NaN,
      seconds: is - was,
      ratio: was > 0 ? (is - was) / was : Number.NaN,
      callsBefore: a?.calls ?? Number.NaN,
      callsAfter: b?.calls ?? Number.NaN,
    };
  });
  return rows.sort((a, b) => Math.abs(b.seconds) - Math.abs(a.seconds) || a.name.localeCompare(b.name));
}

/** The rows of a file with the differences; what a run lacks is empty. */
export function differenceCsv(rows: readonly Difference[]): readonly (readonly (string | number | null)[])[] {
  return [
    ["function", "other run (s)", "this run (s)", "this - other (s)", "this - other (%)", "calls in the other run", "calls in this run"],
    ...rows.map((row) => [row.name, row.before, row.after, row.seconds, row.ratio * 100, row.callsBefore, row.callsAfter].map((value) => (typeof value === "number" && Number.isNaN(value) ? null : value))),
  ];
}
