import type { Table } from "@uwdata/flechette";
import { cssOf, inkOn, ramp } from "../../base/palettes.ts";
import type { TableSort } from "../../widgets/table.ts";
import type { FlameTree } from "../../widgets/plots/flame-layout.ts";
import { numberColumn, textAt, textColumn, wholeColumn, type TextColumn } from "../../view-kit/columns.ts";
import { shape } from "../../view-kit/context-table.ts";

/** One cost of every row in both runs; NaN where there is none. */
export interface Deltas {
  readonly old: Float64Array;
  readonly new: Float64Array;
  readonly difference: Float64Array;
  /** Of the old cost; NaN where that is 0. */
  readonly percent: Float64Array;
  /** Of the difference of the whole program. */
  readonly share: Float64Array;
  readonly low: Float64Array;
  readonly high: Float64Array;
  readonly p: Float64Array;
  /** `more`, `less`, `within noise` and the like, or empty where it was not tested. */
  readonly verdict: TextColumn;
}

/** The answer of `differences`, row by row in the order of the tree. */
export interface DifferenceTable extends FlameTree {
  readonly name: TextColumn;
  readonly path: TextColumn;
  readonly kind: TextColumn;
  /** `both`, `old` or `new`. */
  readonly presence: TextColumn;
  readonly inclusive: Deltas;
  readonly own: Deltas;
  readonly widthNew: Float64Array;
  readonly widthEither: Float64Array;
  /** Ids in the database of the new run; NaN where it has none. */
  readonly contextId: Float64Array;
}

export function differenceTable(table: Table): DifferenceTable {
  const depth = wholeColumn(table, "depth");
  const { parent, end } = shape(depth);
  const deltas = (before: string): Deltas => ({
    old: numberColumn(table, `${before}old`),
    new: numberColumn(table, `${before}new`),
    difference: numberColumn(table, `${before}difference`),
    percent: numberColumn(table, `${before}change_percent`),
    share: numberColumn(table, `${before}share_percent`),
    low: numberColumn(table, `${before}low`),
    high: numberColumn(table, `${before}high`),
    p: numberColumn(table, `${before}p_adjusted`),
    verdict: textColumn(table, `${before}verdict`),
  });
  return {
    length: depth.length,
    depth,
    parent,
    end,
    name: textColumn(table, "name"),
    path: textColumn(table, "context"),
    kind: textColumn(table, "kind"),
    presence: textColumn(table, "in"),
    inclusive: deltas(""),
    own: deltas("own_"),
    widthNew: numberColumn(table, "width_new"),
    widthEither: numberColumn(table, "width_either"),
    contextId: numberColumn(table, "new_context_id"),
  };
}

/** Changes of this many per cent and more have the colour at the end. */
export const FULL_PERCENT = 50;

/** Where a difference lies on a ramp from 0 (all less) over a half (the same) to 1 (all more). */
export function shade(difference: number, percent: number, largest: number, by: "absolute" | "relative"): number {
  if (difference === 0 || Number.isNaN(difference)) return 0.5;
  // What is new has no percentage: it is all more.
  const part = by === "absolute" ? difference / (largest > 0 ? largest : 1) : (Number.isNaN(percent) ? Math.sign(difference) * FULL_PERCENT : percent) / FULL_PERCENT;
  return 0.5 + Math.max(-1, Math.min(1, part)) / 2;
}

/** The largest own difference, whatever its sign, without the whole program's own. */
export function largestDifference(table: DifferenceTable): number {
  let most = 0;
  for (let row = 1; row < table.length; row += 1) most = Math.max(most, Math.abs(table.own.difference[row] ?? 0) || 0);
  return most;
}

/** Fill and ink of each row: brown for more, teal for less, as in all differences of this application. */
export function differenceColours(table: DifferenceTable, by: "absolute" | "relative"): { fillOf: (row: number) => string; inkOf: (row: number) => string } {
  const colours = ramp("brbg", true);
  const largest = largestDifference(table);
  const rgb = (row: number): ReturnType<typeof colours.rgb> =>
    colours.rgb(shade(table.own.difference[row] ?? 0, table.own.percent[row] ?? Number.NaN, largest, by));
  return { fillOf: (row) => cssOf(rgb(row)), inkOf: (row) => cssOf(inkOn(rgb(row))) };
}

/** Rows that cost anything themselves, in the order of a column. */
export function orderedRows(table: DifferenceTable, sort: TableSort): readonly number[] {
  const { own } = table;
  const rows: number[] = [];
  for (let row = 0; row < table.length; row += 1) if ((own.old[row] ?? 0) !== 0 || (own.new[row] ?? 0) !== 0) rows.push(row);
  const value = (row: number): number => {
    switch (sort.column) {
      case "old": return own.old[row] ?? 0;
      case "new": return own.new[row] ?? 0;
      case "percent": {
        const percent = own.percent[row] ?? Number.NaN;
        return Number.isNaN(percent) ? Number.POSITIVE_INFINITY : Math.abs(percent);
      }
      case "p": {
        const p = own.p[row] ?? Number.NaN;
        return Number.isNaN(p) ? 2 : p;
      }
      default: return Math.abs(own.difference[row] ?? 0);
    }
  };
  const sign = sort.descending ? -1 : 1;
  const byName = sort.column === "name";
  return rows.sort((a, b) => {
    const order = byName ? textAt(table.name, a).localeCompare(textAt(table.name, b)) : value(a) === value(b) ? 0 : value(a) - value(b);
    return sign * order || a - b;
  });
}

/** `+12.0 %`; `new` where there was nothing before. */
export function percentText(table: DifferenceTable, deltas: Deltas, row: number): string {
  const percent = deltas.percent[row] ?? Number.NaN;
  if (Number.isNaN(percent)) return (deltas.new[row] ?? 0) > 0 ? "new" : "–";
  if (textAt(table.presence, row) === "old") return "gone";
  return `${percent > 0 ? "+" : percent < 0 ? "\u2212" : ""}${Math.abs(percent).toFixed(1)}\u202f%`;
}

/** What is known of noise, in a few words. */
export function noiseText(deltas: Deltas, row: number): string {
  const p = deltas.p[row] ?? Number.NaN;
  if (Number.isNaN(p)) return "";
  const amount = p < 0.001 ? "p < 0.001" : `p ${p.toFixed(3)}`;
  return isChance(deltas, row) ? `${amount}, ${textAt(deltas.verdict, row).replace(/^within .*/, "not significant")}` : amount;
}

/** Whether chance alone makes such a difference, as far as is known. */
export function isChance(deltas: Deltas, row: number): boolean {
  return textAt(deltas.verdict, row).startsWith("within");
}
