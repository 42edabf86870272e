import type { Item } from "../state/item.ts";
import type { ViewPlugin } from "./plugin.ts";

const folders = import.meta.glob<{ default: readonly ViewPlugin[] }>("./*/index.ts");

let loading: Promise<readonly ViewPlugin[]> | null = null;

/** All views, in the order of the menus. Loads their descriptions once; components load with their first panel. */
export function loadViews(): Promise<readonly ViewPlugin[]> {
  loading ??= Promise.all(Object.values(folders).map(async (load) => (await load()).default)).then((lists) =>
    lists.flat().sort((a, b) => rank(a.id) - rank(b.id) || a.title.localeCompare(b.title)),
  );
  return loading;
}

/** How the panels of a fresh desk lie: columns from left to right, each a list of groups from top to bottom, each a list of tabs. */
export interface DefaultLayout {
  readonly columns: readonly { readonly share: number; readonly groups: readonly (readonly string[])[] }[];
}

const LAYOUTS: Record<Item["kind"], DefaultLayout> = {
  experiment: {
    columns: [
      { share: 5, groups: [["profile.tree", "profile.callers", "profile.flat"], ["profile.flame"]] },
      { share: 3, groups: [["profile.distribution", "profile.summary", "item.information"], ["profile.source", "item.issues"]] },
    ],
  },
  ensemble: {
    columns: [
      { share: 3, groups: [["scaling.regions"], ["scaling.verdict", "item.information", "item.issues"]] },
      { share: 5, groups: [["scaling.maps"], ["scaling.lines", "scaling.table", "scaling.compare"]] },
    ],
  },
};

/** The arrangement that an item of a kind starts with; views that do not exist or apply are left out by the dock. */
export function defaultLayout(kind: Item["kind"]): DefaultLayout {
  return LAYOUTS[kind];
}

const ORDER = Object.values(LAYOUTS).flatMap((layout) => layout.columns.flatMap((column) => column.groups.flat()));

function rank(id: string): number {
  const index = ORDER.indexOf(id);
  return index === -1 ? ORDER.length : index;
}
