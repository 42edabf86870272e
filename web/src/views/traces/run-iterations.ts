/** The iterations of two runs, as the engine finds them. */
import type { AskOptions, EngineClient } from "../../state/engine.ts";
import type { IterationsReply } from "../../wire/protocol.ts";
import { whyNot } from "../../view-kit/sentences.ts";
import { rowsOf } from "../../view-kit/ask.svelte.ts";
import { numberColumn, textAt, textColumn } from "../../view-kit/columns.ts";
import { shortName } from "../../view-kit/catalog.ts";
import type { RunIterations } from "./aligned.ts";

/** What was found in one run. */
export interface FoundIterations {
  readonly iterations: RunIterations;
  /** What they begin with; empty where there are none. */
  readonly marker: string;
  /** Whether they begin at about the same time on all locations. */
  readonly isTogether: boolean;
  /** Why there are none; empty where there are. */
  readonly why: string;
}

/** Asks for the iterations of a run; they begin with what `marker` chooses, or are found where it is empty. */
export async function askIterations(client: EngineClient, item: string, marker: string, options: AskOptions): Promise<FoundIterations> {
  const { reply, tables } = await client.ask("iterations", { item, marker: marker === "" ? null : marker }, options);
  const rows = rowsOf(tables, "iterations");
  const states = textColumn(rows, "state");
  return {
    iterations: {
      beginNs: numberColumn(rows, "start_s").map((seconds) => Math.round(seconds * 1e9)),
      lengthSeconds: numberColumn(rows, "length_s"),
      states: Array.from({ length: rows.numRows }, (_, row) => textAt(states, row)),
    },
    marker: shortName(reply.found?.marker ?? ""),
    isTogether: reply.found?.is_aligned ?? true,
    why: whyNone(reply),
  };
}

function whyNone(reply: IterationsReply): string {
  if (reply.found !== null) return "";
  const reasons = whyNot(reply);
  return reasons.length === 0 ? "No location has regular iterations." : reasons.join(" ");
}
