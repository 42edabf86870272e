import type { TableSort } from "../../widgets/table.ts";

/** What a link keeps of the differences. */
export interface DifferencesState {
  /** Key of the run that this one is compared with; empty for the first that there is. */
  readonly other: string;
  /** Automatic: contexts, or functions where the runs come from different tools. */
  readonly by: "auto" | "context" | "function";
  /** What colours stand for: seconds more or less, or per cent. */
  readonly colour: "absolute" | "relative";
  /** How wide frames are: by the new cost, or by the larger of both, so that what is gone is seen. */
  readonly width: "new" | "either";
  /** Empty: the metric that the engine chooses. */
  readonly metric: string;
  readonly sort: TableSort;
}

export const DIFFERENCES_STATE: DifferencesState = {
  other: "", by: "auto", colour: "absolute", width: "either", metric: "", sort: { column: "difference", descending: true },
};
