import type { ContextKey } from "../../state/app-state.ts";
import type { Slice } from "../../state/slice.svelte.ts";
import type { TimeRange } from "../../widgets/timeline/axis.ts";
import type { StatsRequest } from "../../wire/protocol.ts";
import type { ViewProps } from "../../view-kit/plugin.ts";
import { Latest } from "../../view-kit/ask.svelte.ts";
import { contextKey, selectedTime, spotOf, withWindow } from "../../view-kit/selection.ts";
import { askedPart, askTimeline, windowOf, type TimelineCatalog } from "../../view-kit/catalog.ts";
import { TIMELINE_FAMILY, TIMELINE_SHARED, type TimelineShared } from "../../view-kit/shared.ts";

type Props = Pick<ViewProps, "item" | "client" | "links"> & { readonly state: Pick<Slice<object>, "shared"> };

/** Marking thousands of contexts would fill the link and show nothing. */
const MOST_MARKED = 100;

/** What the views of a trace have in common: the trace, and the window and tracks that they share. */
export class TraceContext {
  readonly shared: Slice<TimelineShared>;
  readonly catalog = new Latest<TimelineCatalog>();
  readonly #props: () => Props;
  readonly #window = $derived.by((): TimeRange | null => (this.catalog.value === null ? null : windowOf(this.shared.current, this.catalog.value)));

  /** Call it while a component is made. */
  constructor(props: () => Props) {
    this.#props = props;
    this.shared = props().state.shared(TIMELINE_FAMILY, TIMELINE_SHARED);
    $effect(() => {
      const { item, client } = props();
      this.catalog.ask(item.item, () => askTimeline(client, item.item));
    });
  }

  /** The time window on screen; null until the trace is known. */
  get window(): TimeRange | null {
    return this.#window;
  }

  /** The time that was selected on the axis; null for none. */
  get selection(): TimeRange | null {
    const { links, item } = this.#props();
    return selectedTime(links, item.key);
  }

  /** The time that numbers are of: what is selected, else what is on screen; null until the trace is known. */
  get part(): TimeRange | null {
    return this.#window === null ? null : (this.selection ?? this.#window);
  }

  get isWholeTime(): boolean {
    const [catalog, part] = [this.catalog.value, this.part];
    if (this.selection === null) return this.isWholeWindow;
    return catalog !== null && part !== null && part[0] <= catalog.bounds[0] && part[1] >= catalog.bounds[1];
  }

  /** Whether the whole trace is on screen, whatever is selected. */
  get isWholeWindow(): boolean {
    const catalog = this.catalog.value;
    return this.shared.current.window === null || (catalog !== null && this.#window !== null && this.#window[0] <= catalog.bounds[0] && this.#window[1] >= catalog.bounds[1]);
  }

  get isAllTracks(): boolean {
    return this.tracks === null;
  }

  /** The chosen tracks for a request; null for all. */
  get tracks(): { from: number; to: number }[] | null {
    return this.where.tracks ?? null;
  }

  /** Number of chosen tracks. */
  get trackCount(): number {
    const all = this.catalog.value?.tracks.length ?? 0;
    return this.tracks?.reduce((sum, { from, to }) => sum + to - from, 0) ?? all;
  }

  /** Where and when, for a request: the selected time, else the window; the whole trace has no ends. */
  get where(): Pick<StatsRequest, "tracks" | "from_ns" | "to_ns"> {
    const catalog = this.catalog.value;
    return catalog === null ? { tracks: null } : askedPart(this.shared.current, this.selection, catalog);
  }

  clearSelection(): void {
    const { links, item } = this.#props();
    links.setSpot(withWindow(spotOf(links, item.key), item.key, null), { label: "Clear the selection" });
  }

  setWindow(window: TimeRange | null, label: string): void {
    const bounds = this.catalog.value?.bounds;
    // The whole is a step of its own, so that undoing it leads back to the window before.
    const isWhole = window === null || (bounds !== undefined && window[0] <= bounds[0] && window[1] >= bounds[1]);
    // What is called the same is one movement; two iterations that are chosen quickly are two steps.
    this.shared.set({ window: isWhole ? null : [Math.floor(window[0]), Math.ceil(window[1])] }, isWhole ? { label } : { label, coalesce: `timeline-window ${label}` });
  }

  setTracks(tracks: TimelineShared["tracks"], label: string): void {
    this.shared.set({ tracks, trackFilter: "" }, { label });
  }
}

/** The contexts of a function, or of all functions of a group, as links name them: those that come first in the tree. */
export function contextsOf(catalog: TimelineCatalog, item: string, by: "function" | "group", key: number): ContextKey[] {
  const keys: ContextKey[] = [];
  for (let row = 0; row < catalog.contexts.length && keys.length < MOST_MARKED; row += 1) {
    if (catalog.keyOf(row, by) === key) keys.push(contextKey(item, catalog.contexts.contextId[row] ?? 0));
  }
  return keys;
}

/** Rows of functions or groups by name. */
export function rowsByName(catalog: TimelineCatalog, by: "function" | "group"): ReadonlyMap<string, number> {
  const names = by === "function" ? catalog.functions : catalog.groups;
  const rows = new Map<string, number>();
  for (let row = names.length - 1; row >= 0; row -= 1) rows.set(names.name(row), row);
  return rows;
}

/** The names on the way to a context, as the engine writes call paths: without the root. */
export function pathText(catalog: TimelineCatalog, context: number): string {
  const { parent, function: functions } = catalog.contexts;
  const names: string[] = [];
  for (let at = context; at >= 0 && (parent[at] ?? -1) >= 0; at = parent[at] ?? -1) names.push(catalog.nameOf(functions[at] ?? 0, "function"));
  return names.reverse().join(" > ");
}
