import type { Component } from "svelte";
import type { JsonObject } from "../base/json.ts";
import type { EngineClient } from "../state/engine.ts";
import type { Item } from "../state/item.ts";
import type { Links } from "../state/links.svelte.ts";
import type { Slice } from "../state/slice.svelte.ts";

/** What every view component is given. */
export interface ViewProps<S extends object = object> {
  /** Unique among the panels of the item; use it as a prefix of element ids. */
  readonly panelId: string;
  /** What the view shows. Ask the engine with `item.item`; name it in links by `item.key`. */
  readonly item: Item;
  /** All open items, for views that compare. */
  readonly items: readonly Item[];
  readonly client: EngineClient;
  /** The view's own state. */
  readonly state: Slice<S>;
  /** Hover, mark, focus and spot. */
  readonly links: Links;
  /** Brings a view of the same item to the front, by its id, and opens it where it is closed; with some of its state, where that is given. Absent outside the dock. */
  readonly show?: (view: string, state?: JsonObject) => void;
}

/** A command that the palette lists while a panel of the view is active. */
export interface ViewCommand<S extends object = object> {
  /** Unique within the plugin: `sort-by-loss`. */
  readonly id: string;
  /** Verb first: "Sort by lost time". */
  readonly title: string;
  /** Such as `Alt+S`; heard only while focus is inside the panel. */
  readonly keys?: string;
  run(view: Pick<ViewProps<S>, "item" | "state" | "links" | "client" | "panelId">): void;
}

/** A kind of view. Export a list of these as default from `src/views/<name>/index.ts`, made by `defineView`. */
export interface ViewPlugin<S extends object = object> {
  /** `profile.tree`; part of links, so it never changes. */
  readonly id: string;
  /** On the tab and in menus. */
  readonly title: string;
  /** One sentence for the menu: the question that the view answers. */
  readonly description: string;
  /** Name of an icon in `widgets/icons.ts`. */
  readonly icon?: string;
  /** Whether the item has what the view shows; `items` are all that are open, for views that compare. */
  appliesTo(item: Item, items: readonly Item[]): boolean;
  /** Loads the component when the first panel opens: `() => import("./Tree.svelte")`. */
  readonly component: () => Promise<{ default: Component<ViewProps<S>> }>;
  /** Plain JSON. Only what should survive a reload; keep it small, it is part of the link. */
  readonly defaultState: S;
  /** Raised when older slices would be misread; they are then dropped, or given to `migrate`. */
  readonly stateVersion: number;
  readonly migrate?: (state: object, version: number) => S;
  readonly commands?: readonly ViewCommand<S>[];
  /** Asks for what the view shows, as the view will ask, before there is a panel. */
  readonly prepare?: (view: Pick<ViewProps<S>, "item" | "client" | "state">) => Promise<unknown>;
}

/** Checks a plugin's types against its own state, then forgets them so that plugins fit in one list. */
export function defineView<S extends object>(plugin: ViewPlugin<S>): ViewPlugin {
  return plugin as unknown as ViewPlugin;
}
