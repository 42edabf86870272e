import type { TableSort } from "../../widgets/table.ts";

/** A call that was zoomed into. */
export interface Zoom {
  /** The lane: the number of its thread. */
  readonly thread: number;
  /** The call; of aggregated calls the first. */
  readonly activation: number;
  /** For aggregated calls: what they take of what the lane would show otherwise, 0 to 1. Absent for one call. */
  readonly share?: number;
}

/** What a link keeps of the lanes. */
export interface LanesState {
  /** Calls of one function by the same aggregated calls, rather than one by one over time. */
  readonly isMerged: boolean;
  readonly hasLoops: boolean;
  /** In the order of zooming; the last one of a thread is the top of its lane. */
  readonly zooms: readonly Zoom[];
  /** Nanoseconds since the run's first; null for what the zooms say. */
  readonly window: readonly [fromNs: number, toNs: number] | null;
}

export const LANES_STATE: LanesState = { isMerged: false, hasLoops: false, zooms: [], window: null };

/** What the lanes and the list of threads share. */
export interface LanesShared {
  /** Threads that have a lane, from the top; null for the first ones. */
  readonly threads: readonly number[] | null;
  /** Calls that take less than this of their lane's top are omitted, in per cent. */
  readonly belowPercent: number;
}

export const LANES_SHARED: LanesShared = { threads: null, belowPercent: 1 };

/** Name of the shared slice: `state.shared(LANES_FAMILY, LANES_SHARED)`. */
export const LANES_FAMILY = "lanes";

/** What a link keeps of the list of threads. */
export interface ThreadsState {
  readonly sort: TableSort;
  /** Each thread below the one that started it, rather than in one list. */
  readonly isTree: boolean;
}

export const THREADS_STATE: ThreadsState = { sort: { column: "thread", descending: false }, isTree: true };
