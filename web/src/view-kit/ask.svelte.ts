import type { Table } from "@uwdata/flechette";
import type { AskOptions, EngineClient } from "../state/engine.ts";
import { errorText } from "../state/notices.svelte.ts";
import type { CostReply, Protocol } from "../wire/protocol.ts";
import { contextTable, type ContextTable } from "./context-table.ts";

/** The newest answer to a question that changes; the answer before stays on screen until the next one is there. */
export class Latest<T> {
  value = $state.raw<T | null>(null);
  /** What went wrong with the newest question, in words. */
  problem = $state<string | null>(null);
  isWaiting = $state(false);
  #key: string | null = null;
  #cancel: AbortController | null = null;

  /** One that asks whenever what `question` reads changes; null asks nothing, and forgets the answer. Called while a component is made. */
  static of<T>(question: () => ((options: AskOptions) => Promise<T>) | null): Latest<T> {
    const answer = new Latest<T>();
    $effect(() => {
      const run = question();
      if (run === null) answer.#forget();
      else answer.#start(run);
      return () => { answer.#cancel?.abort(); };
    });
    return answer;
  }

  /** Asks unless the same was asked last; an older question is cancelled. */
  ask(key: string, run: (options: AskOptions) => Promise<T>): void {
    if (key === this.#key) return;
    this.#key = key;
    this.#start(run);
  }

  #start(run: (options: AskOptions) => Promise<T>): void {
    this.#cancel?.abort();
    const cancel = new AbortController();
    this.#cancel = cancel;
    this.isWaiting = true;
    run({ signal: cancel.signal }).then(
      (value) => {
        if (!cancel.signal.aborted) this.#end(value, null);
      },
      (error: unknown) => {
        if (!cancel.signal.aborted) this.#end(null, errorText(error));
      },
    );
  }

  #forget(): void {
    this.#cancel?.abort();
    this.#end(null, null);
  }

  #end(value: T | null, problem: string | null): void {
    this.value = value;
    this.problem = problem;
    this.isWaiting = false;
  }
}

/** A tree with several metrics. */
export interface TreeAnswer {
  readonly tree: ContextTable;
  readonly costs: readonly CostReply[];
}

const KEPT = 4;
const trees = new WeakMap<EngineClient, Map<string, Promise<TreeAnswer>>>();

/** A tree; views that ask for the same one share it. */
export function askTree(client: EngineClient, ask: Protocol["tree_table"]["request"]): Promise<TreeAnswer> {
  const key = JSON.stringify(ask);
  let kept = trees.get(client);
  if (kept === undefined) trees.set(client, (kept = new Map<string, Promise<TreeAnswer>>()));
  const known = kept.get(key);
  if (known !== undefined) {
    kept.delete(key);
    kept.set(key, known);
    return known;
  }
  const answer = client.ask("tree_table", ask).then(({ reply, tables }) => ({
    tree: contextTable(rowsOf(tables), reply.costs.length),
    costs: reply.costs,
  }));
  kept.set(key, answer);
  for (const oldest of kept.keys()) {
    if (kept.size <= KEPT) break;
    kept.delete(oldest);
  }
  answer.catch(() => trees.get(client)?.delete(key));
  return answer;
}

/** The table that most answers consist of. */
export function rowsOf(tables: Record<string, Table>, name = "rows"): Table {
  const table = tables[name];
  if (table === undefined) throw new Error(`The engine's answer lacks its table "${name}".`);
  return table;
}

/** What `metrics` says, asked once for each experiment. */
export type Metrics = Protocol["metrics"]["reply"];

const metricLists = new WeakMap<EngineClient, Map<string, Promise<Metrics>>>();

export function askMetrics(client: EngineClient, item: string): Promise<Metrics> {
  let kept = metricLists.get(client);
  if (kept === undefined) metricLists.set(client, (kept = new Map<string, Promise<Metrics>>()));
  const known = kept.get(item);
  if (known !== undefined) return known;
  const answer = client.ask("metrics", { item }).then(({ reply }) => reply);
  kept.set(item, answer);
  answer.catch(() => metricLists.get(client)?.delete(item));
  return answer;
}
