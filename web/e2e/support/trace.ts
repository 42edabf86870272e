import { writeFileSync } from "node:fs";
import type { Locator, Page, TestInfo } from "@playwright/test";
import { drop } from "./app.ts";
import { expect } from "./test.ts";

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

/** Threads of one process as `writeThreads` makes them: what they are called, when they begin and how long they work, in microseconds. */
export const THREADS = [
  { tid: 10, begins: 0, works: 50 },
  { tid: 2, begins: 200, works: 400 },
  { tid: 1, begins: 100, works: 100 },
] as const;

/** Writes a trace of threads that no order has them in by chance: numbers, starts and busy times differ. Thread 3 has a counter and runs nothing. */
export function writeThreads(path: string): void {
  const events: object[] = THREADS.map(({ tid, begins, works }) => ({ ph: "X", name: "work", pid: 1, tid, ts: begins, dur: works, args: { grid: [tid, 1, 1], note: `of "${String(tid)}"\nsecond line` } }));
  for (const [at, value] of [[0, 0], [250, 1_000_000_000], [600, 400_000_000]] as const) events.push({ ph: "C", name: "memory", pid: 1, tid: 3, ts: at, args: { allocated: value } });
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
}

/** Writes a trace whose two threads exchange so many flows that lines would hide each other: one each microsecond. */
export function writeDense(path: string, flows: number): void {
  const events: { readonly "event-type": string; readonly time: string; readonly [field: string]: string }[] = [];
  for (const rank of [0, 1]) {
    const where = { "node-id": String(rank), "thread-id": "0" };
    events.push({ "event-type": "entry", name: "main", time: "0", ...where }, { "event-type": "exit", name: "main", time: String(flows + 10), ...where });
  }
  for (let at = 0; at < flows; at += 1) {
    const message = { "source-node-id": "0", "source-thread-id": "0", "destination-node-id": "1", "destination-thread-id": "0", "message-size": "8", "message-tag": "1" };
    events.push({ "event-type": "send", time: String(at + 1), ...message }, { "event-type": "receive", time: String(at + 2), ...message });
  }
  events.sort((a, b) => Number(a.time) - Number(b.time));
  writeFileSync(path, JSON.stringify({ "trace events": events }));
}

/** Opens a made trace by drop. */
export async function openMade(page: Page, info: TestInfo, write: (path: string) => void = writeTrace): Promise<Locator> {
  const file = info.outputPath("made.json");
  write(file);
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, file);
  const timeline = page.getByTestId("timeline");
  await expect(page.getByTestId("timeline-calls")).toContainText("call");
  await expect(timeline).toHaveAttribute("data-calls", /^[1-9]/);
  return timeline;
}

/** Where a moment of a row is in the window, from the axis, which is as wide as the picture. */
export async function placeOf(page: Page, timeline: Locator, ns: number, row: number, rows: number = MADE.ranks): Promise<{ x: number; y: number }> {
  const axis = await page.getByTestId("timeline-axis").boundingBox();
  const box = await timeline.boundingBox();
  if (axis === null || box === null) throw new Error("no timeline");
  const [from, to] = [Number(await timeline.getAttribute("data-from")), Number(await timeline.getAttribute("data-to"))];
  const high = Math.max(10, Math.min(box.height / rows, rows <= 4 ? 120 : rows <= 12 ? 64 : 40));
  return { x: axis.x + ((ns - from) / (to - from)) * axis.width, y: box.y + (row + 0.5) * high };
}

/** The middle of the call of `solve` in a round, in nanoseconds. */
export function solveOf(round: number): number {
  return (round * MADE.roundMicros + 50 + MADE.solveMicros / 2) * 1000;
}

/** Drags over a part of the axis of the timeline, given as shares of it. */
export async function brush(page: Page, from: number, to: number): Promise<void> {
  const axis = await page.getByTestId("timeline-axis").boundingBox();
  if (axis === null) throw new Error("no axis");
  await page.mouse.move(axis.x + axis.width * from, axis.y + 8);
  await page.mouse.down();
  await page.mouse.move(axis.x + axis.width * to, axis.y + 8, { steps: 4 });
  await page.mouse.up();
}

/** How many functions `main` calls in a trace that `writeMany` makes; each takes a millisecond. */
export const MANY = 120;

/** Writes a trace whose tree is longer than a panel. */
export function writeMany(path: string): void {
  const events: object[] = [{ ph: "X", name: "main", pid: 1, tid: 1, ts: 0, dur: MANY * 1000 }];
  for (let at = 0; at < MANY; at += 1) events.push({ ph: "X", name: `step ${String(at)}`, pid: 1, tid: 1, ts: at * 1000, dur: 990 - at });
  writeFileSync(path, JSON.stringify({ traceEvents: events }));
}
