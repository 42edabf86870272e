import type { TableSort } from "../../widgets/table.ts";

/** Which locations: those that the engine takes first, or one kind. */
export type IterationsGroup = "auto" | "gpu" | "first" | "other";

/** What a cell of the map shows. */
export type IterationsMeasure = "time" | "difference";

/** What the rows of the table are. */
export type IterationsRows = "contexts" | "iterations" | "locations";

/** What a link keeps of the iterations. */
export interface IterationsState {
  readonly group: IterationsGroup;
  readonly measure: IterationsMeasure;
  readonly rows: IterationsRows;
  /** Id of the context that the map shows; null for all that computes. */
  readonly context: number | null;
  /** First and last of the iterations that were chosen; null for none. */
  readonly chosen: readonly [first: number, last: number] | null;
  /** Place of the chosen location among those of the map; null for all. */
  readonly location: number | null;
  /** Expression of the contexts with which iterations begin; empty to find them. */
  readonly marker: string;
  readonly sort: TableSort;
}

export const ITERATIONS_STATE: IterationsState = {
  group: "auto", measure: "time", rows: "contexts", context: null, chosen: null, location: null, marker: "", sort: { column: "total_saving_s", descending: true },
};

/** The expressions that choose a kind of location. */
export const GROUP_PROFILES: Readonly<Record<IterationsGroup, string | null>> = { auto: null, gpu: "gpustream", first: "thread(0)", other: "thread(1-)" };
