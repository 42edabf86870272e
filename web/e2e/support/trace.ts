import { writeFileSync } from "node:fs";

/** What the made trace has: ranks, rounds, and how long things take, in microseconds. */
export const MADE = { ranks: 4, rounds: 10, roundMicros: 1000, solveMicros: 600, sendMicros: 100 } as const;

/**
 * Writes a trace as a workflow's tools do: every rank runs `main`, which calls `solve` and then `MPI_Send` in each
 * round; each sends to the next rank, whose receipt comes half a send later. A round may solve for longer, by so many
 * microseconds, and there may be another number of them: what a second run does differently.
 */
export function writeTrace(path: string, { longerMicros = () => 0, rounds = MADE.rounds }: { readonly longerMicros?: (round: number) => number; readonly rounds?: number } = {}): void {
  const events: { readonly "event-type": string; readonly time: string; readonly [field: string]: string }[] = [];
  const begins = [0];
  for (let round = 0; round < rounds; round += 1) begins.push((begins[round] ?? 0) + MADE.roundMicros + longerMicros(round));
  const end = begins[rounds] ?? 0;
  for (let rank = 0; rank < MADE.ranks; rank += 1) {
    const where = { "node-id": String(rank), "thread-id": "0" };
    const call = (type: "entry" | "exit", name: string, time: number): void => { events.push({ "event-type": type, name, time: String(time), ...where }); };
    call("entry", "main", 0);
    for (let round = 0; round < rounds; round += 1) {
      const start = (begins[round] ?? 0) + 50;
      const solved = start + MADE.solveMicros + longerMicros(round);
      call("entry", "solve", start);
      call("exit", "solve", solved);
      call("entry", "MPI_Send()", solved);
      const message = { "source-node-id": String(rank), "source-thread-id": "0", "destination-node-id": String((rank + 1) % MADE.ranks), "destination-thread-id": "0", "message-size": "1024", "message-tag": String(round) };
      const sent = solved + MADE.sendMicros / 4;
      events.push({ "event-type": "send", time: String(sent), ...message }, { "event-type": "receive", time: String(sent + MADE.sendMicros / 2), ...message });
      call("exit", "MPI_Send()", solved + MADE.sendMicros);
    }
    call("exit", "main", end);
  }
  // Events of all ranks come in order of time, as the tool that merges them writes them.
  events.sort((a, b) => Number(a.time) - Number(b.time));
  writeFileSync(path, JSON.stringify({ "trace events": events }));
}
