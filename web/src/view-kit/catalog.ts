/** What there is in a trace, as columns: asked once for each experiment, shared by all views. */
import type { Table } from "@uwdata/flechette";
import { displayName, distinctNames } from "../base/display-name.ts";
import { plural } from "../base/format.ts";
import type { Rgb } from "../base/palettes.ts";
import type { EngineClient } from "../state/engine.ts";
import { clampRange, type TimeRange } from "../widgets/timeline/axis.ts";
import type { Span } from "../widgets/timeline/rows.ts";
import { numberColumn, textAt, textColumn, wholeColumn } from "./columns.ts";
import type { StatsRequest, TimelineReply } from "../wire/protocol.ts";
import { NONE, type TimelineBy } from "./asks.ts";
import { colourTable, type Family } from "./colours.ts";
import type { TimelineShared } from "./shared.ts";

/** The rows of time lines: ranks, threads, streams. */
export interface Tracks {
  readonly length: number;
  /** Position in the experiment's list of locations. */
  readonly location: Uint32Array;
  label(track: number): string;
  readonly calls: Float64Array;
  /** Number of the coupled application; NaN where there is one only. */
  readonly component: Float64Array;
  /** One column for each kind of identity, outermost first; NaN where a track has none. */
  readonly kinds: readonly { readonly name: string; readonly numbers: Float64Array }[];
}

/** Functions or groups. */
export interface Names {
  readonly length: number;
  name(row: number): string;
  /** Over the whole trace. */
  readonly exclusiveNs: Float64Array;
  readonly calls: Float64Array;
}

/** The calling context tree in depth-first order: what is below row `r` are the rows from `r + 1` up to `end[r]`. */
export interface Contexts {
  readonly length: number;
  /** Id in the database, as links name contexts. */
  readonly contextId: Uint32Array;
  /** -1 at the top. */
  readonly parent: Int32Array;
  readonly function: Uint32Array;
  /** 0 for the root. */
  readonly depth: Uint32Array;
  readonly end: Int32Array;
}

/** Names whose display name is that of another function of the same list, with what distinguishes them. */
const distinct = new Map<string, string>();

/** Has `shortName` distinguish the functions of a list, from now on and wherever they are named. */
export function distinguish(names: Iterable<string>): void {
  for (const [name, short] of distinctNames(names)) if (short.length > (distinct.get(name)?.length ?? 0)) distinct.set(name, short);
}

/** A name for where there is little room, as everything abbreviates it: `main [{/a/b.c} {106,0}]` is `main`, unless another function of a list that was told to `distinguish` would be called the same. */
export function shortName(name: string): string {
  return distinct.get(name) ?? displayName(name);
}

/** Whether a short name has more than its display name, because that of another function is the same. */
export function isDistinguished(name: string): boolean {
  return distinct.has(name);
}

/** So many calls; in a trace of samples, runs of samples with the same contexts. */
export function callsText(calls: number, { reply }: Pick<TimelineCatalog, "reply">): string {
  return reply.has_calls ? plural(calls, "call") : plural(calls, "run of samples", "runs of samples");
}

/** What there is in a trace. */
export interface TimelineCatalog {
  readonly reply: TimelineReply;
  /** The whole trace. */
  readonly bounds: TimeRange;
  readonly tracks: Tracks;
  readonly functions: Names & { group(row: number): number };
  readonly groups: Names;
  readonly contexts: Contexts;
  /** What a function or group is called; `(nothing)` for no key. */
  nameOf(key: number, by: TimelineBy): string;
  /** The key of a name as tables of statistics have it; -1 where there is none. */
  keyNamed(name: string, group: string | null, by: TimelineBy): number;
  /** Its colour, the same in all views; null where nothing ran. */
  colourOf(key: number, by: TimelineBy, theme: "light" | "dark"): Rgb | null;
  familyOf(functionRow: number): Family;
  /** The key, as `by` says, that a context counts to. */
  keyOf(context: number, by: TimelineBy): number;
  /** The row of a context by its id in the database; -1 where it is not in the trace. */
  contextRow(contextId: number): number;
}

const FIXED: readonly string[] = ["location", "label", "calls", "component"];

const catalogs = new WeakMap<EngineClient, Map<string, Promise<TimelineCatalog>>>();

/** What there is in a trace; views that ask for the same one share it. */
export function askTimeline(client: EngineClient, item: string): Promise<TimelineCatalog> {
  let kept = catalogs.get(client);
  if (kept === undefined) catalogs.set(client, (kept = new Map<string, Promise<TimelineCatalog>>()));
  const known = kept.get(item);
  if (known !== undefined) return known;
  const answer = client.ask("timeline", { item }).then(({ reply, tables }) => timelineCatalog(reply, tables));
  kept.set(item, answer);
  answer.catch(() => catalogs.get(client)?.delete(item));
  return answer;
}

/** The catalog that an answer says. */
export function timelineCatalog(reply: TimelineReply, tables: Record<string, Table>): TimelineCatalog {
  const functionTable = tableOf(tables, "functions");
  const group = wholeColumn(functionTable, "group");
  const functions = { ...namesOf(functionTable), group: (row: number) => group[row] ?? NONE };
  distinguish(Array.from({ length: functions.length }, (_, row) => functions.name(row)));
  const groups = namesOf(tableOf(tables, "groups"));
  const contexts = contextsOf(tableOf(tables, "contexts"));
  const colours = colourTable(functions, groups);
  const named = { function: new Map<string, number>(), group: new Map<string, number>() };
  for (let row = functions.length - 1; row >= 0; row -= 1) {
    named.function.set(functions.name(row), row);
    named.function.set(`${functions.name(row)}\n${groups.name(functions.group(row))}`, row);
  }
  for (let row = groups.length - 1; row >= 0; row -= 1) named.group.set(groups.name(row), row);
  const rowOfId = new Map<number, number>();
  for (let row = contexts.length - 1; row >= 0; row -= 1) rowOfId.set(contexts.contextId[row] ?? NONE, row);
  return {
    reply,
    bounds: [0, Math.max(1, reply.span_ns)],
    tracks: tracksOf(tableOf(tables, "tracks")),
    functions,
    groups,
    contexts,
    nameOf: (key, by) => (key === NONE ? "(nothing)" : (by === "function" ? functions : groups).name(key)),
    keyNamed: (name, group, by) => (by === "group" ? named.group.get(name) : (named.function.get(`${name}\n${group ?? ""}`) ?? named.function.get(name))) ?? -1,
    colourOf: (key, by, theme) => (key === NONE ? null : by === "function" ? colours.function(key, theme) : colours.group(key, theme)),
    familyOf: (row) => colours.familyOf(row),
    keyOf: (context, by) => {
      const name = contexts.function[context] ?? NONE;
      return by === "function" || name === NONE ? name : functions.group(name);
    },
    contextRow: (id) => rowOfId.get(id) ?? -1,
  };
}

function tableOf(tables: Record<string, Table>, name: string): Table {
  const table = tables[name];
  if (table === undefined) throw new Error(`The engine's answer lacks its table "${name}".`);
  return table;
}

function tracksOf(table: Table): Tracks {
  const label = textColumn(table, "label");
  return {
    length: table.numRows,
    location: wholeColumn(table, "location"),
    label: (track) => textAt(label, track),
    calls: numberColumn(table, "calls"),
    component: numberColumn(table, "component"),
    kinds: table.names
      .map((name) => String(name))
      .filter((name) => !FIXED.includes(name))
      .map((name) => ({ name, numbers: numberColumn(table, name) })),
  };
}

function namesOf(table: Table): Names {
  const name = textColumn(table, "name");
  return {
    length: table.numRows,
    name: (row) => textAt(name, row),
    exclusiveNs: numberColumn(table, "exclusive_ns"),
    calls: numberColumn(table, "calls"),
  };
}

function contextsOf(table: Table): Contexts {
  const parent = Int32Array.from(wholeColumn(table, "parent"), (row) => (row === NONE ? -1 : row));
  const length = table.numRows;
  const end = new Int32Array(length);
  for (let row = length - 1; row >= 0; row -= 1) {
    end[row] = Math.max(end[row] ?? 0, row + 1);
    const above = parent[row] ?? -1;
    if (above >= 0) end[above] = Math.max(end[above] ?? 0, end[row] ?? 0);
  }
  return {
    length,
    contextId: wholeColumn(table, "context_id"),
    parent,
    function: wholeColumn(table, "function"),
    depth: wholeColumn(table, "depth"),
    end,
  };
}

/** The window on screen: what is shared, inside the trace. */
export function windowOf(shared: Pick<TimelineShared, "window">, catalog: Pick<TimelineCatalog, "bounds">): TimeRange {
  return shared.window === null ? catalog.bounds : clampRange(shared.window, catalog.bounds);
}

/** The tracks on screen, as the protocol wants them: inside the trace, in order; everything where none are chosen. */
export function rangesOf(shared: Pick<TimelineShared, "tracks">, catalog: Pick<TimelineCatalog, "tracks"> & Partial<Pick<TimelineCatalog, "reply">>): Span[] {
  const { length } = catalog.tracks;
  const all = [{ from: 0, to: length }];
  if (shared.tracks === null) return catalog.reply?.program_tracks ?? all;
  const inside = shared.tracks.map(([from, to]) => ({ from: Math.max(0, from), to: Math.min(to, length) })).filter(({ from, to }) => to > from);
  return inside.length === 0 ? all : inside;
}

/** The time and tracks that numbers are of, for a request: what is selected, else the window; the whole has no ends, all tracks no list. The same in all views, so that shares are of the same. */
export function askedPart(shared: Pick<TimelineShared, "window" | "tracks">, selection: TimeRange | null, catalog: Pick<TimelineCatalog, "bounds" | "tracks">): Pick<StatsRequest, "tracks" | "from_ns" | "to_ns"> {
  const ranges = shared.tracks === null ? null : rangesOf(shared, catalog);
  const tracks = ranges === null || (ranges.length === 1 && ranges[0]?.from === 0 && ranges[0].to >= catalog.tracks.length) ? null : ranges.map(({ from, to }) => ({ from, to }));
  const part = selection ?? windowOf(shared, catalog);
  return part[0] <= catalog.bounds[0] && part[1] >= catalog.bounds[1] ? { tracks } : { tracks, ...askedWindow(part) };
}

/** A request says a window in whole nanoseconds, not empty. */
export function askedWindow([from, to]: TimeRange): { from_ns: number; to_ns: number } {
  const start = Math.max(0, Math.floor(from));
  return { from_ns: start, to_ns: Math.max(start + 1, Math.ceil(to)) };
}
