/** Answers about a trace as columns for canvases. */
import type { Table } from "@uwdata/flechette";
import type { CallColumns } from "../../widgets/timeline/calls.ts";
import type { LegendEntry } from "../../widgets/timeline/legend.ts";
import type { LinkColumns } from "../../widgets/timeline/messages.ts";
import { shareByte } from "../../widgets/timeline/tile-image.ts";
import type { Span } from "../../widgets/timeline/rows.ts";
import type { Tile } from "../../widgets/timeline/tiles.ts";
import { numberColumn, textAt, textColumn, wholeColumn } from "../../view-kit/columns.ts";

function tableOf(tables: Record<string, Table>, name: string): Table {
  const table = tables[name];
  if (table === undefined) throw new Error(`The engine's answer lacks its table "${name}".`);
  return table;
}

/** A picture; a cell of a row of several tracks may be busy that many times as long as the bin. */
export function tileOf(reply: { readonly first_ns: number; readonly bin_ns: number; readonly bins: number }, tables: Record<string, Table>, rows: readonly Span[]): Tile {
  const table = tableOf(tables, "cells");
  const { bins } = reply;
  const dominantNs = numberColumn(table, "dominant_ns");
  const busyNs = numberColumn(table, "busy_ns");
  const key = wholeColumn(table, "key");
  const depths = wholeColumn(table, "depth");
  const dominant = new Uint8Array(key.length);
  const busy = new Uint8Array(key.length);
  for (let cell = 0; cell < key.length; cell += 1) {
    const row = rows[Math.floor(cell / Math.max(1, bins))];
    const most = reply.bin_ns * Math.max(1, row === undefined ? 1 : row.to - row.from);
    dominant[cell] = shareByte(dominantNs[cell] ?? 0, most);
    busy[cell] = shareByte(busyNs[cell] ?? 0, most);
  }
  return { firstNs: reply.first_ns, binNs: reply.bin_ns, bins, rows: bins === 0 ? 0 : Math.round(key.length / bins), key, dominant, busy, depth: Uint8Array.from(depths, (depth) => Math.min(255, depth)) };
}

/** Time by function or group, as statistics of a window say, the largest first; by what `keyOf` makes of a name and its group. What it does not know is omitted. */
export function sharesOf(tables: Record<string, Table>, keyOf: (name: string, group: string) => number): readonly LegendEntry[] {
  const table = tableOf(tables, "rows");
  const name = textColumn(table, "name");
  const group = textColumn(table, "group");
  const [seconds, percents] = [numberColumn(table, "exclusive_s"), numberColumn(table, "share_percent")];
  const entries = new Map<number, { key: number; ns: number; share: number }>();
  for (let row = 0; row < table.numRows; row += 1) {
    const key = keyOf(textAt(name, row), textAt(group, row));
    if (key < 0 || (seconds[row] ?? 0) <= 0) continue;
    const entry = entries.get(key) ?? { key, ns: 0, share: 0 };
    entries.set(key, entry);
    entry.ns += (seconds[row] ?? 0) * 1e9;
    entry.share += (percents[row] ?? 0) / 100;
  }
  return [...entries.values()].sort((a, b) => b.ns - a.ns || a.key - b.key);
}

/** Calls one by one. */
export function callsOf(tables: Record<string, Table>): CallColumns {
  const table = tableOf(tables, "calls");
  return {
    length: table.numRows,
    track: wholeColumn(table, "track"),
    context: wholeColumn(table, "context"),
    depth: wholeColumn(table, "depth"),
    startNs: numberColumn(table, "start_ns"),
    endNs: numberColumn(table, "end_ns"),
  };
}

/** Messages. */
export function linksOf(tables: Record<string, Table>): LinkColumns {
  const table = tableOf(tables, "links");
  return {
    length: table.numRows,
    sender: wholeColumn(table, "sender"),
    receiver: wholeColumn(table, "receiver"),
    sendNs: numberColumn(table, "send_ns"),
    receiveNs: numberColumn(table, "receive_ns"),
    bytes: numberColumn(table, "bytes"),
    tag: numberColumn(table, "tag"),
  };
}

/** A step of a call path, from the outermost. */
export interface PathStep {
  readonly context: number;
  readonly startNs: number;
  readonly endNs: number;
  /** Time in this one call and in nothing below; absent where it was not asked for. */
  readonly exclusiveNs?: number;
}

/** What was active at a moment. */
export function pathOfAnswer(tables: Record<string, Table>): readonly PathStep[] {
  const table = tableOf(tables, "path");
  const context = wholeColumn(table, "context");
  const start = numberColumn(table, "start_ns");
  const end = numberColumn(table, "end_ns");
  const exclusive = numberColumn(table, "exclusive_ns");
  return Array.from(context, (row, at) => {
    const step = { context: row, startNs: start[at] ?? Number.NaN, endNs: end[at] ?? Number.NaN };
    const own = exclusive[at] ?? Number.NaN;
    return Number.isNaN(own) ? step : { ...step, exclusiveNs: own };
  });
}

/** What the source recorded with a call. */
export interface CallArgument {
  readonly name: string;
  readonly value: string;
}

/** What the source recorded with one call of an answer about a moment. */
export function argumentsOfAnswer(tables: Record<string, Table>, step: PathStep): readonly CallArgument[] {
  const [path, table] = [tableOf(tables, "path"), tableOf(tables, "arguments")];
  const [contexts, starts] = [wholeColumn(path, "context"), numberColumn(path, "start_ns")];
  const row = contexts.findIndex((context, at) => context === step.context && starts[at] === step.startNs);
  const depth = row < 0 ? undefined : wholeColumn(path, "depth")[row];
  const [depths, names, values] = [wholeColumn(table, "depth"), textColumn(table, "name"), textColumn(table, "value")];
  return Array.from(depths, (of, at) => ({ of, name: textAt(names, at), value: textAt(values, at) })).flatMap(({ of, name, value }) => (of === depth ? [{ name, value }] : []));
}

/** Arguments as text for the clipboard: a line each, name and value separated by a tab. */
export function argumentsText(list: readonly CallArgument[]): string {
  return list.map(({ name, value }) => `${name}\t${value.replace(/[\t\n]/g, " ")}\n`).join("");
}

/** Messages in bins of time. */
export interface MessageBins {
  readonly firstNs: number;
  readonly binNs: number;
  readonly counts: Float64Array;
}

/** How many messages were sent when. */
export function messageBinsOf(reply: { readonly first_ns: number; readonly bin_ns: number }, tables: Record<string, Table>): MessageBins {
  return { firstNs: reply.first_ns, binNs: reply.bin_ns, counts: numberColumn(tableOf(tables, "bins"), "messages") };
}

/** What happened at one moment. */
export function markersOf(tables: Record<string, Table>): { readonly atNs: Float64Array; name(marker: number): string } {
  const table = tableOf(tables, "markers");
  const name = textColumn(table, "name");
  return { atNs: numberColumn(table, "at_ns"), name: (marker) => textAt(name, marker) };
}
