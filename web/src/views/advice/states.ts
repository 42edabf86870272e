import type { TableSort } from "../../widgets/table.ts";
import { plural } from "../../base/format.ts";
import type { AdviseReply } from "../../wire/protocol.ts";
import { valueText } from "../profile/format.ts";

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

/** Workers that people can ask for. */
export const WORKERS: readonly number[] = [2, 4, 8, 16, 32, 64, 128];

export const CHOICES: readonly { readonly value: AdviceBy; readonly label: string; readonly hint: string }[] = [
  { value: "loop", label: "Loops", hint: "Whether iterations could run side by side" },
  { value: "reference", label: "What forbids it", hint: "Variables and allocations that iterations share and write" },
  { value: "pair", label: "Calls side by side", hint: "Calls and loops next to each other that depend on each other, and through what" },
  { value: "context", label: "Work and span", hint: "Work, span and parallelism of every call path" },
  { value: "task", label: "On workers", hint: "Calls next to each other, put on workers" },
  { value: "race", label: "Races", hint: "Accesses of several threads that nothing orders" },
];

/** Columns that need room for call paths and sentences. */
export const WIDE: ReadonlySet<string> = new Set(["loop", "because", "context", "below", "earlier", "later", "task"]);

/** The answer in one sentence. */
export function sentenceOf(reply: AdviseReply, by: AdviceBy, rows: number): string {
  const time = (seconds: number): string => valueText(seconds, "s");
  const tasks = reply.tasks;
  if (by === "task" && tasks !== null) {
    const times = tasks.speedup.toFixed(2);
    return `${plural(rows, "task")} below ${tasks.parent}: ${time(tasks.serial_s)} one after the other, ${time(tasks.parallel_s)} on ${plural(tasks.workers, "worker")}: ${times} times faster. No schedule takes less than ${time(tasks.bound_s)}.`;
  }
  if (by === "race") return rows === 0 ? "No two threads access the same without an order." : `${plural(rows, "pair")} of places where threads access the same, and nothing orders them.`;
  if (!(reply.span_s > 0)) return "Nothing took time.";
  return `Work ${time(reply.work_s)}, span ${time(reply.span_s)}: with what is independent here, no number of workers makes the run more than ${reply.parallelism.toFixed(2)} times faster.`;
}

/** The sign before a verdict: what colour says, said without colour. */
export function signOf(verdict: string): string {
  if (verdict === "independent") return "✓";
  if (verdict.startsWith("independent")) return "◐";
  return verdict === "dependent" ? "✗" : "?";
}
