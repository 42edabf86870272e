import type { TableSort } from "../widgets/table.ts";
import type { ColumnChoice, Numbers } from "./cost-columns.ts";

/** More open rows than this are not kept in links. */
export const MOST_KEPT_OPEN = 200;

/** The columns of the tables of an experiment: the tree, callers and flat views share them. */
export interface ColumnsState {
  /** Null: the default metric. */
  readonly columns: readonly ColumnChoice[] | null;
  readonly numbers: Numbers;
}

export const COLUMNS_STATE: ColumnsState = { columns: null, numbers: "both" };

/** What a link keeps of the tree. */
export interface TreeState {
  readonly sort: TableSort;
  readonly hotPercent: number;
  /** Ids of contexts. */
  readonly open: readonly number[];
}

export const TREE_STATE: TreeState = {
  sort: { column: "0", descending: true },
  hotPercent: 50,
  open: [],
};

/** What a link keeps of a list of functions with their callers. */
export interface CallersState {
  /** A column that is not there stands for the first exclusive one. */
  readonly sort: TableSort;
}

export const CALLERS_STATE: CallersState = { sort: { column: "", descending: true } };

export type FlatGrouping = "function" | "file" | "module" | "loop" | "line";

/** What a link keeps of the flat view. */
export interface FlatState extends CallersState {
  readonly by: FlatGrouping;
}

export const FLAT_STATE: FlatState = { ...CALLERS_STATE, by: "function" };

export type FlameColour = "function" | "module" | "kind" | "self";

/** What a link keeps of the flame graph. */
export interface FlameState {
  /** Whether the top of the tree is at the top of the picture. */
  readonly isIcicle: boolean;
  readonly colour: FlameColour;
  /** Id of the context that is zoomed to; null for everything. */
  readonly zoom: number | null;
}

export const FLAME_STATE: FlameState = { isIcicle: true, colour: "function", zoom: null };

export type DistributionMember = "profile" | "rank" | "node";
export type DistributionPlot = "order" | "sorted" | "histogram";

/** What a link keeps of the distribution. */
export interface DistributionState {
  readonly plot: DistributionPlot;
  readonly isExclusive: boolean;
  readonly by: DistributionMember;
  /** An identity kind, such as `rank`, whose members stand on bands; empty for the outermost that helps. */
  readonly group: string;
  /** Those that ran without a value count with 0. */
  readonly hasZeros: boolean;
}

export const DISTRIBUTION_STATE: DistributionState = { plot: "order", isExclusive: false, by: "profile", group: "", hasZeros: false };

/** What a link keeps of the source view. */
export interface SourceState {
  /** Path; empty for that of the focused context. */
  readonly path: string;
}

export const SOURCE_STATE: SourceState = { path: "" };
