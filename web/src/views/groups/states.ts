export type GroupMember = "profile" | "rank" | "node";
export type GroupMethod = "dbscan" | "kmeans";

/** Whether features are the functions that are least evenly spread, or the context that has the focus. */
export type GroupSource = "uneven" | "focus";

/** The context expression that a choice of features means; null lets the engine choose. */
export function featureContexts(from: GroupSource, focused: number | null): string | null {
  return from === "focus" && focused !== null ? `context(${String(focused)})` : null;
}

/** What a link keeps of groups of locations. */
export interface GroupsState {
  readonly by: GroupMember;
  readonly method: GroupMethod;
  /** Number of groups of k-means; 0 lets the data choose. */
  readonly k: number;
  readonly from: GroupSource;
  readonly show: "scatter" | "distribution" | "tables";
  /** Names of the features of a scatter plot; empty for the principal axes. */
  readonly x: string;
  readonly y: string;
  /** The feature of the distributions; empty for the one that separates best. */
  readonly feature: string;
}

export const GROUPS_STATE: GroupsState = { by: "profile", method: "dbscan", k: 0, from: "uneven", show: "scatter", x: "", y: "", feature: "" };

/** What a link keeps of the racks; host tables are not kept, they may be large and private. */
export interface RacksState {
  readonly from: GroupSource;
  readonly method: GroupMethod;
  readonly show: "groups" | "value";
  readonly system: "xname" | "aurora" | "frontier" | "polaris";
}

export const RACKS_STATE: RacksState = { from: "uneven", method: "dbscan", show: "groups", system: "xname" };
