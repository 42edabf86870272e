// A small program with call instances, and an engine that knows it: main calls load once and, in a loop of
// three iterations, step; each step calls add twice.
import { tableFromArrays, type Table } from "@uwdata/flechette";
import type { EngineClient } from "../src/engine-client/client.ts";
import type { EntitiesRequest, RelatedRequest } from "../src/wire/protocol.ts";

export interface Row {
  readonly activation: number;
  readonly kind: string;
  readonly name: string;
  readonly parent: number | null;
  readonly caller: number | null;
  readonly context_id?: number;
  readonly function?: number;
  readonly start_ns: number;
  readonly length_ns: number;
  readonly count?: number;
  readonly number?: number | null;
  readonly children?: number;
  readonly groups?: number;
  readonly executions?: number;
  readonly iterations?: number;
  readonly is_in_loop?: boolean;
  readonly touched?: number;
}

const DEFAULTS = { context_id: 0, function: 0, thread: 0, depth: 0, count: 1, number: null, line: null, children: 0, groups: 0, executions: 0, iterations: 0, is_in_loop: false, is_estimated: false, touched: 0, is_touching_within: false, source_id: 0 };

/** A table as the engine sends it. */
export function tableOf(rows: readonly object[], columns: readonly string[]): Table {
  if (rows.length === 0) return tableFromArrays(Object.fromEntries(columns.map((name) => [name, new Float64Array()])));
  return tableFromArrays(Object.fromEntries(columns.map((name) => [name, rows.map((row) => (row as Record<string, unknown>)[name] ?? null)])));
}

const COLUMNS = ["activation", "kind", "name", "parent", "caller", "start_ns", "length_ns", ...Object.keys(DEFAULTS)];

/** Rows of activations, with what they do not say filled in. */
export function activations(rows: readonly Row[], of?: readonly number[]): Table {
  return tableOf(rows.map((row, at) => ({ ...DEFAULTS, ...row, of: of?.[at] ?? null })), of === undefined ? COLUMNS : ["of", ...COLUMNS]);
}

export const MAIN: Row = { activation: 0, kind: "call", name: "main", parent: null, caller: null, context_id: 1, start_ns: 0, length_ns: 1000, children: 2, groups: 2, executions: 1 };
const LOAD: Row = { activation: 1, kind: "call", name: "load", parent: 0, caller: 0, context_id: 2, function: 1, start_ns: 10, length_ns: 100, touched: 1 };
const LOOP: Row = { activation: 2, kind: "loop", name: "loop at main.c:7", parent: 0, caller: 0, context_id: 3, start_ns: 200, length_ns: 700, children: 3, iterations: 3 };
const steps = [0, 1, 2].flatMap((nth): Row[] => {
  const at = 3 + nth * 4;
  const start = 200 + nth * 200;
  return [
    { activation: at, kind: "iteration", name: "loop at main.c:7", parent: 2, caller: 0, context_id: 4, start_ns: start, length_ns: 190, number: nth, children: 1, groups: 1 },
    { activation: at + 1, kind: "call", name: "step", parent: at, caller: 0, context_id: 5, function: 2, start_ns: start + 1, length_ns: 180, children: 2, groups: 1, is_in_loop: true },
    { activation: at + 2, kind: "call", name: "add", parent: at + 1, caller: at + 1, context_id: 6, function: 3, start_ns: start + 2, length_ns: 50, is_in_loop: true, touched: 1 },
    { activation: at + 3, kind: "call", name: "add", parent: at + 1, caller: at + 1, context_id: 6, function: 3, start_ns: start + 60, length_ns: 50, is_in_loop: true, touched: 1 },
  ];
});
export const PROGRAM: readonly Row[] = [MAIN, LOAD, LOOP, ...steps];

function groupsOf(caller: number): readonly Row[] {
  const groups = new Map<number, Row>();
  for (const row of PROGRAM) {
    if (row.kind !== "call" || row.caller !== caller) continue;
    const known = groups.get(row.function ?? 0);
    groups.set(row.function ?? 0, known === undefined ? { ...row, kind: "group", count: 1 } : { ...known, count: (known.count ?? 1) + 1, length_ns: known.length_ns + row.length_ns });
  }
  return [...groups.values()];
}

function relatedTo(ask: RelatedRequest, id: number): readonly Row[] {
  const self = PROGRAM.find((row) => row.activation === id);
  const members = ask.kind === "group" ? PROGRAM.filter((row) => row.kind === "call" && row.function === self?.function && row.caller === self?.caller) : PROGRAM.filter((row) => row.activation === id);
  switch (ask.relation) {
    case "children": case "iterations": return PROGRAM.filter((row) => row.parent === id);
    case "executions": return PROGRAM.filter((row) => row.parent === id && row.kind === "loop");
    case "groups": return members.flatMap((row) => groupsOf(row.activation));
    case "calls": return ask.kind === "thread" ? [MAIN] : ask.kind === "group" ? members : PROGRAM.filter((row) => row.kind === "call" && row.caller === id);
    case "ancestors": {
      const around: Row[] = [];
      for (let at = self?.parent ?? null; at !== null; at = PROGRAM[at]?.parent ?? null) around.push(...PROGRAM.filter((row) => row.activation === at));
      return around;
    }
    default: return [];
  }
}

/** An engine of that program that remembers what it was asked. `answer` may put another answer in place, or an error. */
export function fakeClient(answer: (name: string, request: unknown) => { reply: object; tables: Record<string, Table> } | undefined = () => undefined): { client: EngineClient; asked: { name: string; request: Record<string, unknown> }[] } {
  const asked: { name: string; request: Record<string, unknown> }[] = [];
  const ask = async (name: string, request: Record<string, unknown>): Promise<unknown> => {
    asked.push({ name, request });
    const other = answer(name, request);
    if (other !== undefined) return Promise.resolve(other);
    const reply = { left_out: 0, notes: [] };
    if (name === "entities") {
      const { kind, ids } = request as unknown as EntitiesRequest;
      if (kind === "thread") return { reply, tables: { rows: tableOf([{ thread: 0, name: "main thread", entry: 0, creator: null }], ["thread", "name", "entry", "creator"]) } };
      const rows = (ids ?? []).flatMap((id) => PROGRAM.filter((row) => row.activation === id));
      return { reply, tables: { rows: activations(rows) } };
    }
    if (name === "related") {
      const related = request as unknown as RelatedRequest;
      const parts = (related.ids ?? []).map((id) => ({ id, rows: relatedTo(related, id) }));
      return { reply, tables: { rows: activations(parts.flatMap((part) => part.rows), parts.flatMap((part) => part.rows.map(() => part.id))) } };
    }
    if (name === "lanes") {
      const seen = new Map<number, Row>();
      for (const row of PROGRAM) if (row.kind === "call" && !seen.has(row.context_id ?? 0)) seen.set(row.context_id ?? 0, row);
      return { reply, tables: { rows: tableOf([...seen.values()], ["activation", "context_id"]) } };
    }
    throw new Error(`no answer to ${name}`);
  };
  return { client: { ask } as unknown as EngineClient, asked };
}
