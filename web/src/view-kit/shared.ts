/** How the views of a trace look at it: they share the axis, the tracks and the colours. Part of links. */
export interface TimelineShared {
  /** The time window on screen, nanoseconds since the first record, half-open; null for everything. */
  readonly window: readonly [fromNs: number, toNs: number] | null;
  /** The tracks on screen, as ranges of rows of the table `tracks`, in order; null for all. */
  readonly tracks: readonly (readonly [from: number, to: number])[] | null;
  /** What was typed to choose them; empty where they were chosen otherwise. */
  readonly trackFilter: string;
  /** What colours stand for. */
  readonly by: "function" | "group";
  /** Functions or groups, as `by` says, that are hidden. */
  readonly hidden: readonly number[];
  /** Contexts below this depth count as the one above; null for no limit. */
  readonly maxDepth: number | null;
  /** The moment that was clicked; null for none. */
  readonly cursorNs: number | null;
  /** The track that was clicked: the one of the node detail. */
  readonly track: number | null;
}

export const TIMELINE_SHARED: TimelineShared = {
  window: null,
  tracks: null,
  trackFilter: "",
  by: "function",
  hidden: [],
  maxDepth: null,
  cursorNs: null,
  track: null,
};

/** Name of the shared slice: `state.shared(TIMELINE_FAMILY, TIMELINE_SHARED)`. */
export const TIMELINE_FAMILY = "timeline";
