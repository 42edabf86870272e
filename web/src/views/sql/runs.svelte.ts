/** Statements that run, and the results of those that ran: they outlive a panel that is hidden and shown again. */
import type { Table } from "@uwdata/flechette";
import { type EngineClient, EngineError } from "../../state/engine.ts";
import { answerColumns, type AnswerColumn } from "../../view-kit/answers.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { nameWidth } from "../../view-kit/columns.ts";
import { placeOf, type ErrorPlace } from "./statement.ts";

/** What a statement gave. */
export interface SqlResult {
  readonly statement: string;
  readonly table: Table;
  readonly columns: readonly AnswerColumn[];
  readonly rows: number;
  /** Whether there are more rows than were asked for. */
  readonly isCut: boolean;
  readonly notes: readonly string[];
  readonly tookMillis: number;
}

/** Why a statement has no result. */
export interface SqlProblem {
  readonly statement: string;
  readonly message: string;
  readonly hint: string | null;
  readonly place: ErrorPlace | null;
}

/** Beyond it numbers lose digits. */
const EXACT = Number.MAX_SAFE_INTEGER;

/** Width of a digit, at most. */
const DIGIT_PIXELS = 8.4;

/** The columns of a result: under the names that the statement gives them, where they have no unit to be shown with. */
function columnsOf(table: Table): readonly AnswerColumn[] {
  return answerColumns(table, true).map((one) => {
    const hasUnit = one.format !== null && one.format.unit !== "";
    const title = hasUnit ? one.title : one.id;
    const head = hasUnit ? one.head : { ...one.head, title, width: Math.max(one.head.width, Math.min(200, title.length * 8 + 28)) };
    if (one.texts !== null) return { ...one, title, head: { ...head, width: nameWidth([title, ...one.texts]) } };
    if (!(one.most > EXACT)) return { ...one, title, head };
    // Times on the clock of a trace: every digit counts.
    const values = table.getChild(one.id);
    const texts = Array.from({ length: table.numRows }, (_, row) => String(values?.at(row) ?? ""));
    return { ...one, title: one.id, texts, head: { ...one.head, title: one.id, width: texts.reduce((most, text) => Math.max(most, text.length), one.id.length) * DIGIT_PIXELS + 24 } };
  });
}

/** The statements of one panel: one at a time. */
export class SqlRun {
  result = $state.raw<SqlResult | null>(null);
  problem = $state.raw<SqlProblem | null>(null);
  isRunning = $state(false);
  /** Whether the newest statement was withdrawn, and nothing else was asked since. */
  wasCancelled = $state(false);
  /** What the command of the palette runs: set while the panel is there. */
  start: (() => void) | null = null;
  #abort: AbortController | null = null;

  async run(client: EngineClient, item: string, statement: string, rows: number): Promise<void> {
    this.cancel();
    const abort = new AbortController();
    this.#abort = abort;
    this.isRunning = true;
    this.wasCancelled = false;
    this.problem = null;
    const begun = performance.now();
    try {
      const { reply, tables } = await client.ask("sql", { item, statement, rows }, { signal: abort.signal });
      if (this.#abort !== abort) return;
      const table = rowsOf(tables);
      this.result = {
        statement, table, columns: columnsOf(table), rows: table.numRows, isCut: reply.is_cut, notes: reply.notes,
        tookMillis: performance.now() - begun,
      };
    } catch (error) {
      // One that was withdrawn says so itself.
      if (this.#abort !== abort || abort.signal.aborted) return;
      const message = error instanceof Error ? error.message : String(error);
      this.problem = { statement, message, hint: error instanceof EngineError ? error.hint : null, place: placeOf(message, statement) };
    } finally {
      if (this.#abort === abort) {
        this.#abort = null;
        this.isRunning = false;
      }
    }
  }

  /** Withdraws the statement that runs. */
  cancel(): void {
    if (this.#abort === null) return;
    this.#abort.abort();
    this.#abort = null;
    this.isRunning = false;
    this.wasCancelled = true;
  }
}

const runs = new WeakMap<EngineClient, Map<string, SqlRun>>();

/** The statements of a panel. */
export function runOf(client: EngineClient, item: string, panel: string): SqlRun {
  let kept = runs.get(client);
  if (kept === undefined) runs.set(client, (kept = new Map<string, SqlRun>()));
  const key = `${item} ${panel}`;
  let run = kept.get(key);
  if (run === undefined) kept.set(key, (run = new SqlRun()));
  return run;
}

/** Runs the statement that is in the editor of a panel. */
export function runNow(client: EngineClient, item: string, panel: string): void {
  runOf(client, item, panel).start?.();
}
