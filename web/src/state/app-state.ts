import { isObject, type Json, type JsonObject } from "../base/json.ts";
import { parseLayout, type Layout } from "./layout.ts";

/** Raised by one with every change that older readers would misread; `migrate` in this file then learns the step. */
export const STATE_VERSION = 1;

/** How to get the bytes of a source back after a reload. */
export type SourceOrigin =
  /** An address, and the files below it when it is a folder. */
  | { readonly kind: "url"; readonly url: string; readonly files: readonly string[] }
  /** An entry of the sample gallery. */
  | { readonly kind: "sample"; readonly id: string }
  /** Something the server offers. */
  | { readonly kind: "root"; readonly key: string }
  /** Files of this computer, remembered by this browser under a key (see `stored.ts`). */
  | { readonly kind: "local"; readonly key: string };

/** A source that was opened: a root of the engine and where it came from. */
export interface SourceState {
  /** Stable name inside one state: keys of items begin with it. */
  readonly id: string;
  /** The display name: the name of the file or folder. */
  readonly name: string;
  readonly origin: SourceOrigin;
  /** Where the parameters of an ensemble come from, when that was specified: `cores=ranks`, `input=path:n(\d+)`. */
  readonly parameters?: readonly string[];
}

/** A panel: one view of one item, with the view's own state. */
export interface PanelState {
  /** Id of the view plugin. */
  readonly view: string;
  /** The plugin's `stateVersion` when the slice was written. */
  readonly version: number;
  readonly state: JsonObject;
}

/** The panels of one item and how they are arranged. */
export interface Workspace {
  /** Null before it was shown first: the default of the item's kind. */
  readonly layout: Layout | null;
  readonly panels: Readonly<Record<string, PanelState>>;
  /** What the views of one family share, such as how the scaling views look at an ensemble; by family. */
  readonly shared?: Readonly<Record<string, JsonObject>>;
}

/** A context, named by what stays the same across reloads. */
export interface ContextKey {
  readonly kind: "context";
  /** Key of the item (`Item.key`). */
  readonly item: string;
  /** The context's id within its item. */
  readonly context: number;
}

/** A region of an ensemble. */
export interface RegionKey {
  readonly kind: "region";
  readonly item: string;
  /** The region's id in the ensemble; `"0"` is the whole program. */
  readonly region: string;
}

/** A location: a rank, thread or stream. */
export interface LocationKey {
  readonly kind: "location";
  readonly item: string;
  readonly location: number;
}

/** A variable or an allocation of a recording. */
export interface ReferenceKey {
  readonly kind: "reference";
  readonly item: string;
  readonly reference: number;
}

/** Anything that views can point at together. */
export type LinkKey = ContextKey | RegionKey | LocationKey | ReferenceKey;

/** A part of an item to which all views are restricted. Absent members do not restrict. */
export interface Spot {
  readonly item: string;
  /** Only this context and what it calls. */
  readonly context?: number;
  /** Only this region and the regions inside it. */
  readonly region?: string;
  /** Half-open window of time, nanoseconds since the first record of the trace: so they are exact. */
  readonly window?: readonly [startNanos: number, endNanos: number];
  /** Only these locations. */
  readonly locations?: readonly number[];
}

/** What linked views share and what outlives a reload. */
export interface LinkState {
  readonly mark: readonly LinkKey[];
  readonly focus: LinkKey | null;
  readonly spot: Spot | null;
}

/** Everything that a reload, a link or an undo brings back. Plain JSON, never changed in place. */
export interface AppState {
  readonly version: typeof STATE_VERSION;
  readonly sources: readonly SourceState[];
  /** Key of the item that is shown. */
  readonly active: string | null;
  /** By key of item. Not `workspaces`, because addresses and stored sessions have this name. */
  readonly desks: Readonly<Record<string, Workspace>>;
  readonly links: LinkState;
}

export const EMPTY_STATE: AppState = {
  version: STATE_VERSION,
  sources: [],
  active: null,
  desks: {},
  links: { mark: [], focus: null, spot: null },
};

/** A state, or the reason in plain words why there is none. */
export type ParsedState = { readonly state: AppState } | { readonly problem: string };

/** Reads a state that came from a link or from storage: unknown parts are omitted, an unknown version is a problem. */
export function parseState(value: unknown): ParsedState {
  if (!isObject(value)) return { problem: "The saved view cannot be read." };
  const version = value["version"];
  if (version !== STATE_VERSION) {
    return {
      problem:
        typeof version === "number" && version > STATE_VERSION
          ? "This link was created by a newer version of Parallax. Reload the page to update, then open the link again."
          : "This link was created by an unknown version of Parallax.",
    };
  }
  const desks: Record<string, Workspace> = {};
  for (const [key, workspace] of Object.entries(objectOf(value["desks"]))) {
    if (isObject(workspace)) desks[key] = parseWorkspace(workspace);
  }
  return {
    state: {
      version: STATE_VERSION,
      sources: listOf(value["sources"]).flatMap((source) => parseSource(source)),
      active: typeof value["active"] === "string" ? value["active"] : null,
      desks,
      links: parseLinks(value["links"]),
    },
  };
}

/** Reads the workspace of an item, or of a saved layout. */
export function parseWorkspace(workspace: JsonObject): Workspace {
  const panels: Record<string, PanelState> = {};
  for (const [id, panel] of Object.entries(objectOf(workspace["panels"]))) {
    if (!isObject(panel) || typeof panel["view"] !== "string") continue;
    const version = typeof panel["version"] === "number" ? panel["version"] : 0;
    panels[id] = { view: panel["view"], version, state: objectOf(panel["state"]) };
  }
  const shared: Record<string, JsonObject> = {};
  for (const [family, state] of Object.entries(objectOf(workspace["shared"]))) {
    if (isObject(state)) shared[family] = state;
  }
  return { layout: parseLayout(workspace["layout"]), panels, ...(Object.keys(shared).length === 0 ? {} : { shared }) };
}

function parseSource(source: Json): SourceState[] {
  if (!isObject(source)) return [];
  const { id, name, origin } = source;
  if (typeof id !== "string" || typeof name !== "string" || !isObject(origin)) return [];
  const parsed = parseOrigin(origin);
  const parameters = listOf(source["parameters"]).filter((parameter) => typeof parameter === "string");
  return parsed === null ? [] : [{ id, name, origin: parsed, ...(parameters.length === 0 ? {} : { parameters }) }];
}

/** Reads how to get a source back; null when it is not readable. */
export function parseOrigin(origin: JsonObject): SourceOrigin | null {
  const { kind, url, id, key } = origin;
  if (kind === "url" && typeof url === "string") {
    return { kind, url, files: listOf(origin["files"]).filter((file) => typeof file === "string") };
  }
  if (kind === "sample" && typeof id === "string") return { kind, id };
  if ((kind === "root" || kind === "local") && typeof key === "string") return { kind, key };
  return null;
}

function parseLinks(value: Json | undefined): LinkState {
  const links = objectOf(value);
  const focus = links["focus"];
  const spot = links["spot"];
  return {
    mark: listOf(links["mark"]).flatMap((thing) => parseKey(thing)),
    focus: parseKey(focus ?? null)[0] ?? null,
    spot: isObject(spot) ? parseSpot(spot) : null,
  };
}

function parseKey(value: Json): LinkKey[] {
  if (!isObject(value) || typeof value["item"] !== "string") return [];
  const { kind, item, context, region, location, reference } = value;
  if (kind === "context" && typeof context === "number") return [{ kind, item, context }];
  if (kind === "region" && typeof region === "string") return [{ kind, item, region }];
  if (kind === "location" && typeof location === "number") return [{ kind, item, location }];
  if (kind === "reference" && typeof reference === "number") return [{ kind, item, reference }];
  return [];
}

function parseSpot(spot: JsonObject): Spot | null {
  const { item, context, region } = spot;
  if (typeof item !== "string") return null;
  const window = listOf(spot["window"]).filter((time) => typeof time === "number");
  const [start, end] = window;
  return {
    item,
    ...(typeof context === "number" ? { context } : {}),
    ...(typeof region === "string" ? { region } : {}),
    ...(start !== undefined && end !== undefined ? { window: [start, end] as const } : {}),
    ...(Array.isArray(spot["locations"])
      ? { locations: listOf(spot["locations"]).filter((location) => typeof location === "number") }
      : {}),
  };
}

function objectOf(value: Json | undefined): JsonObject {
  return isObject(value) ? value : {};
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? (value as readonly Json[]) : [];
}
