import type { Item } from "../state/item.ts";
import type { ViewPlugin } from "../view-kit/plugin.ts";

const folders = import.meta.glob<{ default: readonly ViewPlugin[] }>("./*/index.ts");

let loading: Promise<readonly ViewPlugin[]> | null = null;

/** All views, in the order of the menus. Loads their descriptions once; components load with their first panel. */
export function loadViews(): Promise<readonly ViewPlugin[]> {
  loading ??= Promise.all(Object.values(folders).map(async (load) => (await load()).default)).then((lists) =>
    lists.flat().sort((a, b) => rank(a.id) - rank(b.id) || a.title.localeCompare(b.title)),
  );
  return loading;
}

/** How the panels of a fresh workspace lie: columns from left to right, each a list of groups from top to bottom, each a list of tabs; `heights` are the groups' shares. */
export interface DefaultLayout {
  readonly columns: readonly { readonly share: number; readonly groups: readonly (readonly string[])[]; readonly heights?: readonly number[] }[];
}

/** Analyses on request: they open next to each other, where pictures have room, so that tree and locations stay on screen. */
const ANALYSES: readonly string[] = ["trace.iterations", "trace.workflow", "groups.clusters", "groups.racks", "profile.correlations", "profile.user-events", "trace.idle-gpus", "profile.gpu-stalls"];
const ROOMY: readonly string[] = [...ANALYSES, "profile.flame", "profile.differences", "trace.timeline", "profile.tree"];

/** Of the panels that are open, the one in whose group a view opens; undefined where none is open. `active` is the panel that was used last. */
export function homeOf(view: string, open: readonly string[], active: string | undefined): string | undefined {
  const near = ANALYSES.includes(view) ? ROOMY : [];
  return near.find((id) => open.includes(id)) ?? active ?? ROOMY.find((id) => open.includes(id)) ?? open[0];
}

/** Experiments with a trace have two: that of one converted from a trace is about events, that of a profiler's database about costs. */
const LAYOUTS: Record<Item["kind"] | "events" | "samples" | "calls", DefaultLayout> = {
  // Every call instance: how they call each other and when, what could run in parallel, and the lines it is about.
  calls: {
    columns: [
      { share: 5, groups: [["calls.graph", "profile.tree", "profile.callers", "profile.flat", "profile.flame", "trace.timeline"], ["calls.lanes", "calls.threads"]] },
      { share: 4, groups: [["calls.advice", "trace.statistics", "profile.distribution", "item.information", "item.issues"], ["profile.source"]] },
    ],
  },
  events: {
    columns: [
      { share: 7, heights: [3, 2], groups: [["trace.timeline", "trace.messages", "trace.find", "trace.compare", "profile.flame", "profile.differences"], ["profile.tree", "profile.callers", "profile.flat"]] },
      { share: 3, groups: [["trace.statistics", "trace.waits", "profile.distribution", "profile.summary"], ["trace.node-detail", "item.information", "item.issues"]] },
    ],
  },
  samples: {
    columns: [
      // The timeline reads samples, which may be many: it comes on request.
      { share: 5, groups: [["profile.tree", "profile.callers", "profile.flat"], ["profile.flame", "profile.differences", "trace.timeline"]] },
      { share: 3, groups: [["profile.distribution", "trace.statistics", "profile.summary", "item.information"], ["profile.source", "trace.node-detail", "item.issues"]] },
    ],
  },
  experiment: {
    columns: [
      { share: 5, groups: [["profile.tree", "profile.callers", "profile.flat"], ["profile.flame", "profile.user-events", "profile.differences"]] },
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

/** The arrangement that an item starts with; views that do not exist or apply are ignored by the dock. */
export function defaultLayout(item: Pick<Item, "kind" | "has_trace" | "has_activations" | "format">): DefaultLayout {
  if (item.has_activations) return LAYOUTS.calls;
  return LAYOUTS[!item.has_trace ? item.kind : item.format.endsWith("(converted)") ? "events" : "samples"];
}

const ORDER = Object.values(LAYOUTS).flatMap((layout) => layout.columns.flatMap((column) => column.groups.flat()));

function rank(id: string): number {
  const index = ORDER.indexOf(id);
  return index === -1 ? ORDER.length : index;
}
