import type { ScalingTableKind } from "../../wire/protocol.ts";
import type { RegionSort } from "./tree.ts";
import type { MapKind } from "./maps.ts";

/** State of the tree of regions. */
export interface RegionsState {
  readonly sort: { readonly column: RegionSort; readonly descending: boolean };
  /** Ids of opened regions; null before one was opened or closed. */
  readonly open: readonly string[] | null;
  /** Whether all pictures share 0 to 100 %. */
  readonly scale: "shared" | "own";
  readonly size: "auto" | "large" | "small";
}

/** State of the maps. */
export interface MapsState {
  /** Which maps each card has. */
  readonly kinds: readonly MapKind[];
}

/** State of the lines. */
export interface LinesState {
  readonly quantity: "time" | "speedup" | "efficiency";
  readonly along: "cores" | "inputs";
  readonly arrangement: "multiples" | "overlay";
  readonly isLogarithmic: boolean;
  readonly hasBand: boolean;
  readonly overlay: "none" | "growth" | "amdahl" | "usl";
  /** The line of an overlaid chart: position of the input or core count; -1 for the last. */
  readonly line: number;
}

/** Which of an ensemble's tables is shown. */
export type TableName = ScalingTableKind;

/** State of the tables. */
export interface TableState {
  readonly table: TableName;
  readonly scope: "shown" | "all";
  readonly sort: { readonly column: string; readonly descending: boolean } | null;
}

/** State of the comparison. */
export interface CompareState {
  /** Key of the other version's item; empty for the first other ensemble. */
  readonly other: string;
  /** Whether this item is the old version. */
  readonly isOld: boolean;
  readonly quantity: "time_ratio" | "efficiency" | "scalability_abs" | "strong_abs" | "weak_abs";
  /** Smallest change of time that counts, in per cent. */
  readonly tolerance: number;
}
