import type { CallShape } from "../../widgets/timeline/calls.ts";
import type { TileMode } from "../../widgets/timeline/tile-image.ts";

/** How high rows are: as the room allows, so that all are on screen, or pixels. */
export type RowHeight = "auto" | "fit" | number;

/** The natural order of locations, another one, or the largest first of a metric. */
export type RowOrder = "location" | "name" | "start" | "busy" | `metric ${string}`;

/** What a link keeps of the timeline besides what all views of a trace share. */
export interface TimelineState {
  readonly mode: TileMode;
  readonly shape: CallShape;
  /** `track`, or the kind of identity that rows are groups of; `component` for coupled applications. */
  readonly rowsBy: string;
  /** First tracks of the groups that are open. */
  readonly open: readonly number[];
  /** Null: chosen by the number of tracks. */
  readonly height: RowHeight | null;
  readonly hasLinks: boolean;
  readonly hasLegend: boolean;
  readonly hasOverview: boolean;
  /** What the colours of the overview are. */
  readonly overview: TileMode;
  /** Whether the call stack of the chosen track is below the rows. */
  readonly hasStack: boolean;
  /** Whether calls that take much longer than others of their function are marked. */
  readonly hasAnomalies: boolean;
  /** What rows are ordered by. */
  readonly order: RowOrder;
  /** First tracks of the rows that are kept at the top. */
  readonly pinned: readonly number[];
  /** Whether tracks without calls have rows. */
  readonly hasEmpty: boolean;
  /** Counters that are drawn below the rows, as positions in the trace's list of counters. */
  readonly counters: readonly number[];
}

export const TIMELINE_STATE: TimelineState = {
  mode: "dominant",
  shape: "nested",
  rowsBy: "track",
  open: [],
  height: null,
  hasLinks: true,
  hasLegend: true,
  hasOverview: true,
  overview: "dominant",
  hasStack: false,
  hasAnomalies: false,
  order: "location",
  pinned: [],
  hasEmpty: false,
  counters: [],
};
