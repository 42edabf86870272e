import type { JsonObject } from "../base/json.ts";
import type { ViewPlugin } from "../view-kit/plugin.ts";

/** How a view is shown. */
export interface ShowHow {
  /** In one more panel, also where one is open. */
  readonly another?: boolean;
  /** What of the view's state is to be so; the rest stays. */
  readonly state?: JsonObject;
}

/** What commands can do with the dock. */
export interface DockControl {
  /** Opens a panel of a view, and brings it to the front. */
  show(view: ViewPlugin, how?: ShowHow): void;
  /** Ids of open panels, from the upper left. */
  readonly panels: readonly string[];
  closeActive(): void;
  /** To the next group of tabs, or the one before. */
  focusGroup(step: 1 | -1): void;
  /** To the next tab of the group, or the one before. */
  focusTab(step: 1 | -1): void;
  /** Moves the active panel to a new group next to its own. */
  moveActive(to: "left" | "right" | "above" | "below"): void;
  toggleMaximized(): void;
  /** Back to the arrangement that the item started with. */
  reset(): void;
}
