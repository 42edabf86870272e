import type { TableSort } from "../../widgets/table.ts";
import type { MatrixQuantity } from "../../widgets/trace/matrix.ts";
import type { StackOrder } from "../../widgets/trace/stacks.ts";

export type StatsBy = "function" | "group" | "context";

/** What a link keeps of the statistics. */
export interface StatisticsState {
  readonly by: StatsBy;
  readonly sort: TableSort;
  /** Whether the shares in the whole trace stand next to those in the window. */
  readonly isCompared: boolean;
}

export const STATISTICS_STATE: StatisticsState = { by: "function", sort: { column: "exclusive", descending: true }, isCompared: true };

/** What a link keeps of a search for calls. */
export interface FindState {
  /** Name or pattern; empty for all functions. */
  readonly name: string;
  readonly minNs: number | null;
  readonly maxNs: number | null;
  readonly order: "longest" | "first";
  /** Whether bars of the histogram are time rather than calls. */
  readonly isTime: boolean;
  /** Only calls inside the window. */
  readonly isWindow: boolean;
}

export const FIND_STATE: FindState = { name: "", minNs: null, maxNs: null, order: "longest", isTime: false, isWindow: true };

/** What a link keeps of the messages. */
export interface MessagesState {
  readonly quantity: MatrixQuantity;
  /** Null: where there are no messages. */
  readonly isFlows: boolean | null;
  readonly show: "matrix" | "sizes" | "pairs";
  readonly sort: TableSort;
}

export const MESSAGES_STATE: MessagesState = { quantity: "bytes", isFlows: null, show: "matrix", sort: { column: "bytes", descending: true } };

/** What a link keeps of the profiles. */
export interface StacksState {
  readonly show: "bars" | "treemap";
  /** Empty for the default metric. */
  readonly metric: string;
  readonly by: "function" | "group";
  readonly order: StackOrder;
  readonly isNormalised: boolean;
  readonly isFitted: boolean;
  /** An identity kind by which bars are grouped; empty for none, null for components where there are several. */
  readonly group: string | null;
  /** Names of parts that are hidden. */
  readonly hidden: readonly string[];
  /** Id of the context that fills the treemap; null for everything. */
  readonly zoom: number | null;
}

export const STACKS_STATE: StacksState = {
  show: "bars", metric: "", by: "function", order: "location", isNormalised: false, isFitted: false, group: null, hidden: [], zoom: null,
};

export type Alignment = "start" | "offset" | "call" | "iteration";

/** What a link keeps of a comparison of two runs. */
export interface CompareState {
  /** Key of the other item; empty for the first that there is. */
  readonly other: string;
  readonly align: Alignment;
  /** Nanoseconds by which the other run is later. */
  readonly offsetNs: number;
  /** Whose n-th call is put at the same place. */
  readonly functionName: string;
  readonly nth: number;
  readonly cost: "exclusive" | "inclusive";
  /** What the rows of the table are; by iteration only where the runs are aligned by them. */
  readonly rows: "functions" | "iterations";
  /** Of the table by iteration. */
  readonly iterationSort: TableSort;
  /** Expression of the contexts with which iterations begin; empty to find them. */
  readonly marker: string;
}

export const COMPARE_STATE: CompareState = {
  other: "", align: "start", offsetNs: 0, functionName: "", nth: 1, cost: "exclusive", rows: "iterations", iterationSort: { column: "iteration", descending: false }, marker: "",
};

/** What a link keeps of the counters. */
export interface CountersState {
  /** Position in the trace's list of counters. */
  readonly counter: number;
  readonly shape: "band" | "lines" | "sum";
}

export const COUNTERS_STATE: CountersState = { counter: 0, shape: "band" };

export type WaitsKind = "all" | "late_sender" | "late_receiver" | "collective" | "late_launch" | "for_gpu";
/** What a link keeps of the view of waits. */
export interface WaitsState {
  readonly show: "waits" | "path";
  readonly kind: WaitsKind;
  readonly waitsBy: "function" | "context" | "track" | "pair";
  readonly pathBy: "function" | "group" | "context" | "track" | "segments";
  /** Empty: as the engine answers. */
  readonly sort: TableSort;
}

export const WAITS_STATE: WaitsState = { show: "waits", kind: "all", waitsBy: "function", pathBy: "function", sort: { column: "", descending: true } };

export type OverTimeWhat = "profile" | "imbalance" | "idle" | "lateness" | "overlap";

/** What a link keeps of the view over time. */
export interface OverTimeState {
  readonly what: OverTimeWhat;
  /** Empty: as the engine answers. */
  readonly sort: TableSort;
}

export const OVER_TIME_STATE: OverTimeState = { what: "profile", sort: { column: "", descending: true } };

/** What a link keeps of the anomalies. */
export interface AnomaliesState {
  /** Also calls of MPI, and those that wait. */
  readonly waiting: boolean;
}

export const ANOMALIES_STATE: AnomaliesState = { waiting: false };

/** What a link keeps of the drawing of a workflow. */
export interface WorkflowState {
  /** The chosen arrow: rows of its components and what it goes by; null for none. */
  readonly arrow: string | null;
}

export const WORKFLOW_STATE: WorkflowState = { arrow: null };
