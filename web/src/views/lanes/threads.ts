/** The threads of a run: who started whom, where, and from when to when. */

import type { Table } from "@uwdata/flechette";
import type { AskOptions, EngineClient } from "../../state/engine.ts";
import type { TableSort } from "../../widgets/table.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { numberColumn, textAt, textColumn } from "../../view-kit/columns.ts";

/** One thread. Times are nanoseconds since the run's first. */
export interface ThreadFacts {
  readonly thread: number;
  readonly name: string;
  /** The calls that it begins with, by time; empty where nothing was recorded. */
  readonly entries: readonly number[];
  /** Context of the first of them; null where there is none. */
  readonly context: number | null;
  /** The thread that started it; null for the main thread, or where that is unknown. */
  readonly creator: number | null;
  /** The function that started it, and the context of the call, or loop of it, that did. */
  readonly started: { readonly name: string; readonly context: number } | null;
  /** Source line of the start; null where that is unknown. */
  readonly line: number | null;
  readonly startNs: number;
  readonly lengthNs: number;
  readonly calls: number;
}

/** All threads, in the order of their numbers. */
export interface ThreadList {
  readonly threads: readonly ThreadFacts[];
  /** The thread that everything is compared with: the first without a creator. */
  readonly main: ThreadFacts | null;
  /** What the entry calls of all threads take together, in nanoseconds: what shares are of. */
  readonly wholeNs: number;
  /** Threads that the answer has no room for. */
  readonly omitted: number;
  readonly notes: readonly string[];
}

/** A lane begins with so many calls at most. */
const MOST_ENTRIES = 200;

/** Lanes that are there before any is chosen. */
export const FIRST_LANES = 16;

export async function askThreads(client: EngineClient, item: string, options: AskOptions): Promise<ThreadList> {
  const { reply, tables } = await client.ask("entities", { item, kind: "thread", ids: null }, options);
  const table = rowsOf(tables);
  const ids = wholes(table, "thread").filter((id) => id !== null);
  const starters = [...new Set(wholes(table, "created_by").filter((id) => id !== null))];
  const [entries, callers] = await Promise.all([
    ids.length === 0 ? null : client.ask("related", { item, kind: "thread", ids, relation: "calls" }, options),
    starters.length === 0 ? null : client.ask("entities", { item, kind: "activation", ids: starters }, options),
  ]);
  const starterRows = callers === null ? null : rowsOf(callers.tables);
  // What started a thread may be a loop, whose name says nothing of the function that it is in.
  const functions = starterRows === null ? [] : [...new Set(wholes(starterRows, "function").filter((id) => id !== null))];
  const named = functions.length === 0 ? null : await client.ask("entities", { item, kind: "function", ids: functions }, options);
  const threads = threadFacts(table, entries === null ? null : rowsOf(entries.tables), starterRows, named === null ? null : rowsOf(named.tables));
  return { threads, wholeNs: threads.reduce((sum, one) => sum + (one.entries.length > 0 ? one.lengthNs : 0), 0), main: threads.find((one) => one.creator === null && one.entries.length > 0) ?? threads[0] ?? null, omitted: reply.left_out, notes: reply.notes };
}

/** Whole numbers; null where there is none. */
function wholes(table: Table, name: string): (number | null)[] {
  return Array.from(numberColumn(table, name), (value) => (Number.isNaN(value) ? null : value));
}

/** Combines what the answers say: threads, their entry calls, the calls and loops that started them, and the functions of those. */
export function threadFacts(table: Table, entryCalls: Table | null, starters: Table | null, functions: Table | null): readonly ThreadFacts[] {
  const entries = new Map<number, number[]>();
  const contexts = new Map<number, number>();
  if (entryCalls !== null) {
    const [of, activation, context] = [numberColumn(entryCalls, "of"), numberColumn(entryCalls, "activation"), numberColumn(entryCalls, "context_id")];
    for (let row = 0; row < entryCalls.numRows; row += 1) {
      const list = entries.get(of[row] ?? -1) ?? [];
      if (list.length < MOST_ENTRIES) list.push(activation[row] ?? 0);
      entries.set(of[row] ?? -1, list);
      contexts.set(activation[row] ?? -1, context[row] ?? Number.NaN);
    }
  }
  const names = new Map<number, string>();
  if (functions !== null) {
    const [id, name] = [numberColumn(functions, "function"), textColumn(functions, "name")];
    for (let row = 0; row < functions.numRows; row += 1) names.set(id[row] ?? -1, textAt(name, row));
  }
  const started = new Map<number, { name: string; context: number }>();
  if (starters !== null) {
    const [activation, context, of] = [numberColumn(starters, "activation"), numberColumn(starters, "context_id"), numberColumn(starters, "function")];
    for (let row = 0; row < starters.numRows; row += 1) started.set(activation[row] ?? -1, { name: names.get(of[row] ?? -1) ?? "", context: context[row] ?? 0 });
  }
  const [thread, entry, creator, by, line] = [wholes(table, "thread"), wholes(table, "entry"), wholes(table, "creator"), wholes(table, "created_by"), wholes(table, "created_line")];
  const [name, start, length, calls] = [textColumn(table, "name"), numberColumn(table, "start_ns"), numberColumn(table, "length_ns"), numberColumn(table, "calls")];
  return thread.map((id, row): ThreadFacts => {
    const number = id ?? row;
    const first = entry[row] ?? null;
    const own = entries.get(number) ?? (first === null ? [] : [first]);
    const context = contexts.get(own[0] ?? -1) ?? Number.NaN;
    return {
      thread: number,
      name: textAt(name, row),
      entries: own,
      context: Number.isNaN(context) ? null : context,
      creator: creator[row] ?? null,
      started: started.get(by[row] ?? -1) ?? null,
      line: line[row] ?? null,
      startNs: start[row] ?? 0,
      lengthNs: length[row] ?? 0,
      calls: calls[row] ?? 0,
    };
  });
}

/** `Thread 3`, and its own name where that says more. */
export function threadTitle({ thread, name }: Pick<ThreadFacts, "thread" | "name">): string {
  const plain = `Thread ${String(thread)}`;
  return name === "" || name.toLowerCase() === plain.toLowerCase() ? plain : `${plain} ${name}`;
}

/** Who started a thread, and where: `main thread`, `started by thread 0 at line 42`. */
export function originText(of: ThreadFacts, main: ThreadFacts | null): string {
  if (of.creator === null) return of.thread === main?.thread ? "main thread" : "creator unknown";
  return `started by thread ${String(of.creator)}${of.line === null ? "" : ` at line ${String(of.line)}`}`;
}

/** Where a thread was started: `main, line 42`; a dash where that is unknown. */
export function placeText({ started, line }: ThreadFacts): string {
  const parts = [...(started === null ? [] : [started.name === "" ? "unknown function" : started.name]), ...(line === null ? [] : [`line ${String(line)}`])];
  return parts.length === 0 ? "–" : parts.join(", ");
}

/** The threads that have lanes: those that were chosen and are there, or the first ones, main before the others. */
export function shownThreads(list: ThreadList, chosen: readonly number[] | null): readonly ThreadFacts[] {
  const byNumber = new Map(list.threads.map((one) => [one.thread, one]));
  if (chosen !== null) return chosen.flatMap((thread) => byNumber.get(thread) ?? []);
  const rest = list.threads.filter((one) => one !== list.main && one.entries.length > 0);
  return [...(list.main === null ? [] : [list.main]), ...rest].slice(0, FIRST_LANES);
}

/** From when to when there are threads; never empty. */
export function runOf(threads: readonly ThreadFacts[]): readonly [fromNs: number, toNs: number] {
  const from = threads.reduce((least, one) => Math.min(least, one.startNs), Number.POSITIVE_INFINITY);
  const to = threads.reduce((most, one) => Math.max(most, one.startNs + one.lengthNs), 0);
  return Number.isFinite(from) ? [from, Math.max(to, from + 1)] : [0, 1];
}

/** Whether a thread is shorter than the share of the main thread under which calls are omitted. */
export function isShort(of: ThreadFacts, main: ThreadFacts | null, belowPercent: number): boolean {
  return main !== null && of !== main && of.lengthNs < (main.lengthNs * belowPercent) / 100;
}

/** A row of the list of threads. */
export interface ThreadRow {
  readonly facts: ThreadFacts;
  /** Threads between it and the one that was not started by another. */
  readonly level: number;
  /** Whether it started others that are in the list. */
  readonly hasBelow: boolean;
}

/** The threads in order of a column; below those that started them when they are a tree. Threads of broken data that started each other stand at the top. */
export function threadRows(threads: readonly ThreadFacts[], sort: TableSort, isTree: boolean, closed: ReadonlySet<number>): readonly ThreadRow[] {
  const sorted = [...threads].sort(comparing(sort));
  if (!isTree) return sorted.map((facts) => ({ facts, level: 0, hasBelow: false }));
  const known = new Map(threads.map((one) => [one.thread, one]));
  const isRooted = (of: ThreadFacts): boolean => {
    let at: ThreadFacts | undefined = of;
    for (let steps = 0; steps <= threads.length; steps += 1) {
      if (at === undefined || at.creator === null) return true;
      at = known.get(at.creator);
    }
    return false;
  };
  const below = new Map<number | null, ThreadFacts[]>();
  for (const one of sorted) {
    const above = one.creator !== null && known.has(one.creator) && isRooted(one) ? one.creator : null;
    const list = below.get(above);
    if (list === undefined) below.set(above, [one]);
    else list.push(one);
  }
  const rows: ThreadRow[] = [];
  const stack = (below.get(null) ?? []).map((facts) => ({ facts, level: 0 })).reverse();
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const { facts, level } = next;
    const children = below.get(facts.thread) ?? [];
    rows.push({ facts, level, hasBelow: children.length > 0 });
    if (!closed.has(facts.thread)) stack.push(...children.map((child) => ({ facts: child, level: level + 1 })).reverse());
  }
  return rows;
}

function comparing({ column, descending }: TableSort): (a: ThreadFacts, b: ThreadFacts) => number {
  const sign = descending ? -1 : 1;
  const by = (value: (of: ThreadFacts) => number): ((a: ThreadFacts, b: ThreadFacts) => number) => (a, b) => sign * (value(a) - value(b)) || a.thread - b.thread;
  switch (column) {
    case "creator": return by((of) => of.creator ?? -1);
    case "place": return (a, b) => sign * placeText(a).localeCompare(placeText(b)) || a.thread - b.thread;
    case "span": return by((of) => of.startNs);
    case "length": return by((of) => of.lengthNs);
    case "calls": return by((of) => of.calls);
    default: return by((of) => of.thread);
  }
}
