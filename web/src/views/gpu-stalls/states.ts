import type { TableSort } from "../../widgets/table.ts";
import type { GpuStallsBy, GpuStallsReply } from "../../wire/protocol.ts";

/** What a link keeps of the stalls of GPUs. */
export interface GpuStallsState {
  readonly by: GpuStallsBy;
  readonly sort: TableSort;
}

export const GPU_STALLS_STATE: GpuStallsState = { by: "line", sort: { column: "cycles_percent", descending: true } };

/** What rows can be, and what they are called in a menu. */
export const ROWS: readonly { readonly value: GpuStallsBy; readonly label: string }[] = [
  { value: "kernel", label: "Kernels" },
  { value: "function", label: "Functions" },
  { value: "line", label: "Source lines" },
  { value: "instruction", label: "Instructions" },
];

/** The columns that are shown for each sort of rows, in order. */
export function shownColumns(by: GpuStallsBy): readonly string[] {
  const places: Record<GpuStallsBy, readonly string[]> = {
    kernel: ["kernel"],
    function: ["function", "kernel"],
    line: ["file", "line", "function"],
    instruction: ["instruction", "function", "line"],
  };
  return [...places[by], "cycles_percent", "exposed_percent", "reason", "reason_percent", "issue_percent", "hidden_percent", "samples", "kernel_s"];
}

/** A reason of stalls, as the engine describes it. */
export interface Reason {
  readonly name: string;
  readonly share: number;
  readonly meaning: string;
  readonly remedy: string;
}

/** The answer in one sentence. */
export function sentenceOf(reply: GpuStallsReply, kernel: string, reasons: readonly Reason[]): string {
  const percent = (value: number): string => `${value.toFixed(1)} %`;
  if (reply.exposed_percent === null) return `Most GPU cycles: ${kernel}. Stalls were not recorded.`;
  const first = reasons[0];
  const why = first === undefined ? "" : `, ${percent(first.share)} for ${first.name}`;
  return `No instruction is issued in ${percent(reply.exposed_percent)} of the GPU cycles${why}. Most cycles: ${kernel}.`;
}

/** What a reason means, and what one usually does, as a line of text. */
export function told(reason: Reason): string {
  const remedy = reason.remedy === "" ? "" : ` Usual remedies: ${reason.remedy}`;
  return `${reason.name} (${reason.share.toFixed(1)} % of the cycles): ${reason.meaning}${remedy}`;
}
