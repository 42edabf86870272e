import type { Workspace, PanelState } from "../state/app-state.ts";
import type { Item } from "../state/item.ts";
import { panelsOf, type Layout, type LayoutNode } from "../state/layout.ts";
import type { ViewPlugin } from "../view-kit/plugin.ts";
import { defaultLayout } from "../views/registry.ts";

/** A panel that was just opened: its view's defaults apply. */
export function freshPanel(view: ViewPlugin): PanelState {
  return { view: view.id, version: view.stateVersion, state: {} };
}

/** An id for another panel of a view: the view's own, then with a number. */
export function freePanelId(view: string, taken: (id: string) => boolean): string {
  if (!taken(view)) return view;
  let number = 2;
  while (taken(`${view}~${String(number)}`)) number += 1;
  return `${view}~${String(number)}`;
}

/** The arrangement that an item starts with, of those views that it has data for. */
export function defaultWorkspace(item: Item, views: readonly ViewPlugin[], items: readonly Item[] = []): Workspace {
  const usable = new Map(views.filter((view) => view.appliesTo(item, items)).map((view) => [view.id, view]));
  const columns = defaultLayout(item).columns.flatMap((column): LayoutNode[] => {
    const groups = column.groups.flatMap((tabs, at): LayoutNode[] => {
      const some = tabs.filter((id) => usable.has(id));
      const front = some[0];
      return front === undefined ? [] : [{ share: column.heights?.[at] ?? 1, tabs: some, front }];
    });
    return groups.length === 0 ? [] : [{ share: column.share, parts: groups }];
  });
  const layout: Layout | null = columns.length === 0 ? null : { isColumn: false, root: { share: 1, parts: columns } };
  const panels: Record<string, PanelState> = {};
  for (const id of panelsOf(layout)) {
    const view = usable.get(id);
    if (view !== undefined) panels[id] = freshPanel(view);
  }
  return { layout, panels };
}
