import type { TableSort } from "../../widgets/table.ts";

/** What a link keeps of the correlations. */
export interface CorrelationsState {
  /** Names of metrics or formulas; none for the one that says most about time. */
  readonly metrics: readonly string[];
  /** Whether columns are functions, or contexts by call path. */
  readonly by: "function" | "context";
  /** Names that one of each pair has, apart by commas: `rank, MPI_*`; empty for all. */
  readonly with: string;
  /** The pair that is drawn, by the names of its columns; null for the first one. */
  readonly pair: readonly [first: string, second: string] | null;
  readonly sort: TableSort;
}

export const CORRELATIONS_STATE: CorrelationsState = { metrics: [], by: "function", with: "", pair: null, sort: { column: "", descending: true } };

/** The names in a text that was typed, apart by commas. */
export function namesIn(text: string): readonly string[] {
  return text.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

/** How two columns correlate, as a sentence. */
export function sentenceOf(first: string, second: string, coefficient: number): string {
  const size = Math.abs(coefficient);
  if (!(size >= 0.3)) return `${first} and ${second}: no correlation`;
  return `${second} ${coefficient > 0 ? "grows" : "falls"} with ${first} (correlation ${coefficient.toFixed(2).replace("-", "\u2212")})`;
}

/** A function's name out of the name of a column: `solve (REALTIME)`; null where a column is a metric or a number of identity. */
export function functionIn(column: string): string | null {
  const context = / \([^()]*\)$/.exec(column);
  const path = context === null ? null : column.slice(0, context.index);
  return path === null ? null : (path.split(" > ").at(-1) ?? null);
}

/** Names of columns without the metric behind them where all costs are of one: it says nothing then. */
export function withoutMetric(names: readonly string[]): (name: string) => string {
  const metrics = new Set(names.flatMap((name) => / \([^()]*\)$/.exec(name)?.[0] ?? []));
  const [only] = metrics;
  return metrics.size === 1 && only !== undefined ? (name) => (name.endsWith(only) ? name.slice(0, -only.length) : name) : (name) => name;
}
