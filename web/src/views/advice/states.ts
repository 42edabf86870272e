import type { TableSort } from "../../widgets/table.ts";
import { plural } from "../../base/format.ts";
import type { AdviseReply } from "../../wire/protocol.ts";
import { valueText } from "../../view-kit/format.ts";

/** What rows of advice are. */
export type AdviceBy = "loop" | "reference" | "pair" | "context" | "task" | "race";

/** What a link keeps of the advice. */
export interface AdviceState {
  readonly by: AdviceBy;
  readonly workers: number;
  /** Null for the order of the engine: what matters most first. */
  readonly sort: TableSort | null;
}

export const ADVICE_STATE: AdviceState = { by: "loop", workers: 4, sort: null };

/** Numbers of workers to choose from. */
export const WORKERS: readonly number[] = [2, 4, 8, 16, 32, 64, 128];

export const CHOICES: readonly { readonly value: AdviceBy; readonly label: string; readonly hint: string }[] = [
  { value: "loop", label: "Loops", hint: "Whether iterations could run in parallel" },
  { value: "reference", label: "Dependences", hint: "Variables and allocations that iterations share and write" },
  { value: "pair", label: "Concurrent calls", hint: "Dependences between calls and loops of one caller, and the data involved" },
  { value: "context", label: "Work and span", hint: "Work, span and parallelism of every call path" },
  { value: "task", label: "Schedule", hint: "Concurrent calls, scheduled on workers" },
  { value: "race", label: "Races", hint: "Unordered accesses of several threads" },
];

/** Columns that need room for call paths and sentences. */
export const WIDE: ReadonlySet<string> = new Set(["loop", "because", "context", "below", "earlier", "later", "task"]);

/** The answer in one sentence. */
export function sentenceOf(reply: AdviseReply, by: AdviceBy, rows: number): string {
  const time = (seconds: number): string => valueText(seconds, "s");
  const tasks = reply.tasks;
  if (by === "task" && tasks !== null) {
    const times = tasks.speedup.toFixed(2);
    return `${plural(rows, "task")} below ${tasks.parent}: ${time(tasks.serial_s)} sequentially, ${time(tasks.parallel_s)} on ${plural(tasks.workers, "worker")}: speedup ${times}. Lower bound of any schedule: ${time(tasks.bound_s)}.`;
  }
  if (by === "race") return rows === 0 ? "No unordered accesses of several threads." : `${plural(rows, "pair")} of unordered accesses of several threads.`;
  if (!(reply.span_s > 0)) return "No time recorded.";
  return `Work ${time(reply.work_s)}, span ${time(reply.span_s)}: the speedup of the run is at most ${reply.parallelism.toFixed(2)} for any number of workers, given the dependences of this run.`;
}

/** The sign before a verdict: what colour says, said without colour. */
export function signOf(verdict: string): string {
  if (verdict === "independent") return "✓";
  if (verdict.startsWith("independent")) return "◐";
  return verdict === "dependent" ? "✗" : "?";
}
