import type { Table } from "@uwdata/flechette";
import type { EngineClient } from "../../state/engine.ts";
import type { Protocol } from "../../wire/protocol.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { numberColumn, textAt, textColumn } from "../../view-kit/columns.ts";
import type { StatRow } from "./compared.ts";

/** Rows of statistics, with notes on them. */
export interface StatTable {
  readonly rows: readonly StatRow[];
  readonly hasCalls: boolean;
  readonly hasGroups: boolean;
  /** Ids of contexts, where rows are call paths and the engine says them. */
  readonly contextIds: Float64Array | null;
  readonly notes: readonly string[];
}

/** The table that `stats` answers with. */
export function statTable(table: Table): Omit<StatTable, "notes"> {
  const name = textColumn(table, "name");
  const group = textColumn(table, "group");
  const hasCalls = table.getChild("calls") !== undefined;
  const calls = numberColumn(table, "calls");
  const exclusive = numberColumn(table, "exclusive_s");
  const inclusive = numberColumn(table, "inclusive_s");
  const share = numberColumn(table, "share_percent");
  return {
    rows: Array.from({ length: table.numRows }, (_, row) => ({
      name: textAt(name, row),
      group: textAt(group, row),
      calls: hasCalls ? (calls[row] ?? Number.NaN) : Number.NaN,
      exclusive: exclusive[row] ?? 0,
      inclusive: inclusive[row] ?? 0,
      share: (share[row] ?? 0) / 100,
    })),
    hasCalls,
    hasGroups: group.texts.some((text) => text !== ""),
    contextIds: table.getChild("context_id") === undefined ? null : numberColumn(table, "context_id"),
  };
}

/** Statistics of a time window. */
export async function askStats(client: EngineClient, ask: Protocol["stats"]["request"], signal: AbortSignal | undefined): Promise<StatTable> {
  const { reply, tables } = await client.ask("stats", ask, signal === undefined ? {} : { signal });
  return { ...statTable(rowsOf(tables)), notes: reply.notes };
}
