import type { TableSort } from "../../widgets/table.ts";
import { valueText } from "../../view-kit/format.ts";

/** What a link keeps of the idle GPUs. */
export interface IdleGpusState {
  readonly sort: TableSort;
}

export const IDLE_GPUS_STATE: IdleGpusState = { sort: { column: "idle", descending: true } };

/** One call path, and how long GPUs were idle while threads were in it. */
export interface Blame {
  readonly path: string;
  readonly seconds: number;
  /** Its context; NaN where no thread was active. */
  readonly context: number;
}

/** The answer in one sentence. `short` makes a call path readable. */
export function sentenceOf(rows: readonly Blame[], short: (path: string) => string): string {
  const whole = rows.reduce((sum, row) => sum + row.seconds, 0);
  const first = rows.reduce<Blame | null>((most, row) => (!Number.isNaN(row.context) && row.seconds > (most?.seconds ?? 0) ? row : most), null);
  const noThread = rows.find((row) => Number.isNaN(row.context))?.seconds ?? 0;
  const share = (seconds: number): string => `${((seconds / whole) * 100).toFixed(1)} %`;
  if (!(whole > 0)) return "No GPU idle time.";
  const meanwhile = first === null ? "" : ` Threads are in ${short(first.path)} for ${share(first.seconds)} of it.`;
  const alone = noThread > 0 ? ` No thread is active for ${share(noThread)} of it.` : "";
  return `GPU idle time: ${valueText(whole, "s")} in total.${meanwhile}${alone}`;
}
