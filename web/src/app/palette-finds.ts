/** What the palette finds besides commands: functions and tracks of the item on screen, and files that can be opened. */
import type { Item } from "../state/item.ts";
import { TIMELINE_FAMILY, TIMELINE_SHARED } from "../view-kit/shared.ts";
import { askMetrics, askTree } from "../view-kit/ask.svelte.ts";
import { askTimeline, type TimelineCatalog } from "../view-kit/catalog.ts";
import { textAt } from "../view-kit/columns.ts";
import { metricExpression } from "../view-kit/cost-columns.ts";
import { NO_FILTER, pruneChoice } from "../view-kit/filter.ts";
import { typedTest } from "../view-kit/search.ts";
import { contextKey } from "../view-kit/selection.ts";
import type { IconName } from "../widgets/icons.ts";
import type { Application } from "./app.svelte.ts";

/** Something that is found by its name. */
export interface Find {
  readonly id: string;
  readonly title: string;
  /** What it is, on the right. */
  readonly side: string;
  readonly icon: IconName;
  run(): void;
}

/** Names of one kind. */
export interface FindSource {
  readonly length: number;
  name(at: number): string;
  find(at: number): Find;
}

/** Entries of one kind at most: of more, the name has to be longer. */
const MOST_OF_KIND = 20;

/** Those whose names pass, by the rule of all searches: of each kind those that come first, which are the most expensive functions. */
export function foundIn(sources: readonly FindSource[], typed: string): readonly Find[] {
  const test = typedTest(typed);
  if (test === null) return [];
  return sources.flatMap((source) => {
    const found: Find[] = [];
    for (let at = 0; at < source.length && found.length < MOST_OF_KIND; at += 1) if (test(source.name(at))) found.push(source.find(at));
    return found;
  });
}

/** Everything that can be found now. What cannot be read is not found: its view says why. */
export async function findSources(app: Application): Promise<readonly FindSource[]> {
  const item = app.session.active;
  const client = app.session.client;
  const own = item?.kind !== "experiment" || client === null || app.dock === null ? [] : item.has_trace
    ? askTimeline(client, item.item).then((catalog) => ofTrace(app, item, catalog)).catch(() => [])
    : functionsOf(app, item).then((source) => [source]).catch(() => []);
  return [...await own, ...await filesOf(app)];
}

function ofTrace(app: Application, item: Item, catalog: TimelineCatalog): readonly FindSource[] {
  const { functions, tracks, contexts } = catalog;
  return [
    {
      length: functions.length,
      name: (row) => functions.name(row),
      find: (row) => ({
        id: `function ${String(row)}`, title: functions.name(row), side: "function: its calls, longest first", icon: "search",
        run: () => {
          const view = app.views.find(({ id }) => id === "trace.find");
          app.showView("trace.find");
          const how = { label: `Find ${functions.name(row)}`, coalesce: `find ${functions.name(row)}` };
          // The panel is in the state once the dock has told of it.
          queueMicrotask(() => {
            if (view !== undefined) app.sliceOf(item.key, view.id, view).set({ name: `"${functions.name(row)}"`, minNs: null, maxNs: null, order: "longest" } as object, how);
            const context = contexts.function.indexOf(row);
            if (context >= 0) app.links.setFocus(contextKey(item.key, contexts.contextId[context] ?? 0), how);
          });
        },
      }),
    },
    {
      length: tracks.length,
      name: (track) => tracks.label(track),
      find: (track) => ({
        id: `track ${String(track)}`, title: tracks.label(track), side: "track", icon: "timeline",
        run: () => {
          app.showView("trace.timeline");
          app.familySlice(item.key, TIMELINE_FAMILY, TIMELINE_SHARED).set({ track }, { label: `Go to ${tracks.label(track)}` });
        },
      }),
    },
  ];
}

/** Functions of an experiment without a trace, each by its first context: the tree has the most expensive one first. */
async function functionsOf(app: Application, item: Item): Promise<FindSource> {
  const client = app.session.client;
  if (client === null) return { length: 0, name: () => "", find: () => { throw new Error("There is nothing to find."); } };
  const metrics = await askMetrics(client, item.item);
  const { tree } = await askTree(client, { item: item.item, costs: { metrics: metrics.default === null ? [] : [metricExpression(metrics.default)], profiles: null, is_trace: false, window: null, helpers: false }, prune: pruneChoice(NO_FILTER) });
  const first = new Map<string, number>();
  for (let row = 0; row < tree.length; row += 1) {
    const name = textAt(tree.name, row);
    if (textAt(tree.kind, row) === "function" && !first.has(name)) first.set(name, row);
  }
  const all = [...first];
  return {
    length: all.length,
    name: (at) => all[at]?.[0] ?? "",
    find: (at) => {
      const [name, row] = all[at] ?? ["", 0];
      return {
        id: `function ${String(row)}`, title: name, side: "function", icon: "search",
        run: () => {
          app.showView("profile.tree");
          app.links.setFocus(contextKey(item.key, tree.contextId[row] ?? 0));
        },
      };
    },
  };
}

async function filesOf(app: Application): Promise<readonly FindSource[]> {
  const { session, preferences } = app;
  const samples = await session.samples().catch(() => []);
  const finds: Find[] = [
    ...(session.client?.roots ?? []).map((root): Find => ({ id: `root ${root.key}`, title: `Open ${root.name}`, side: "offered file", icon: "server", run: () => { void session.openRoot(root); } })),
    ...preferences.recents.map((recent, at): Find => ({ id: `recent ${String(at)}`, title: `Open ${recent.name}`, side: `recent file: ${recent.detail}`, icon: "clock", run: () => { void session.openAgain(recent.name, recent.origin); } })),
    ...samples.map((sample): Find => ({ id: `sample ${sample.id}`, title: `Open ${sample.title}`, side: "example", icon: "file", run: () => { void session.openSample(sample.id); } })),
  ];
  return [{ length: finds.length, name: (at) => finds[at]?.title ?? "", find: (at) => finds[at] ?? { id: "", title: "", side: "", icon: "file", run: () => undefined } }];
}
