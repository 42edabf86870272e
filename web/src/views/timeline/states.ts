import type { CallShape } from "../../widgets/timeline/calls.ts";
import type { TileMode } from "../../widgets/timeline/tile-image.ts";

/** How high rows are: as the room allows, so that all are on screen, or pixels. */
export type RowHeight = "auto" | "fit" | number;

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
  readonly overview: TileMode;
  /** A range of time that was marked by hand. */
  readonly selection: readonly [fromNs: number, toNs: number] | null;
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
  selection: null,
};
