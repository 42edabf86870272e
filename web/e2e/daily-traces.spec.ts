// Six things that people do with traces every day, from the start page, with their clicks and keys counted: docs/web.md has the counts.
import { readFileSync, writeFileSync } from "node:fs";
import { Counted } from "./support/counted.ts";
import { expect, test } from "./support/test.ts";
import { MADE, placeOf, solveOf, writeTrace } from "./support/trace.ts";

/** Ranks that work for different times and meet in a barrier: rank 3 comes last, so that rank 0 waits longest. */
function writeBarrier(path: string): void {
  const events: { readonly "event-type": string; readonly name: string; readonly time: string; readonly "node-id": string; readonly "thread-id": string }[] = [];
  for (let rank = 0; rank < 4; rank += 1) {
    const call = (type: "entry" | "exit", name: string, time: number): void => { events.push({ "event-type": type, name, time: String(time), "node-id": String(rank), "thread-id": "0" }); };
    call("entry", "main", 0);
    for (let round = 0; round < 5; round += 1) {
      const start = round * 1000;
      call("entry", "solve", start + 10);
      call("exit", "solve", start + 310 + rank * 200);
      call("entry", "MPI_Barrier()", start + 310 + rank * 200);
      call("exit", "MPI_Barrier()", start + 920);
    }
    call("exit", "main", 5000);
  }
  events.sort((a, b) => Number(a.time) - Number(b.time));
  writeFileSync(path, JSON.stringify({ "trace events": events }));
}

/** A thread that launches work for a GPU, which has nothing to do for 40 of 100 ms. */
function writeGpu(path: string): void {
  const name = (pid: number, tid: number | null, kind: string, text: string): object => ({ ph: "M", name: kind, pid, ...(tid === null ? {} : { tid }), args: { name: text } });
  const call = (pid: number, tid: number, what: string, ts: number, dur: number): object => ({ ph: "X", name: what, pid, tid, ts, dur });
  const traceEvents = [
    name(700, null, "process_name", "python"), name(0, null, "process_name", "GPU 0"), name(0, 7, "thread_name", "stream 7"),
    call(700, 700, "train", 0, 100_000), call(700, 700, "load", 30_000, 40_000), call(0, 7, "saxpy", 0, 30_000), call(0, 7, "saxpy", 70_000, 30_000),
  ];
  writeFileSync(path, JSON.stringify({ schemaVersion: 1, traceEvents }));
}

test("see who waits in a barrier", async ({ page }, info) => {
  const by = new Counted(page);
  const path = info.outputPath("barrier.json");
  writeBarrier(path);
  await by.open(path);
  await by.click(page.getByRole("tab", { name: "Waits", exact: true }));
  const waits = page.getByTestId("view-waits");
  await by.choose(waits.getByLabel("Rows"), "track");
  await expect(waits.getByRole("row").nth(1)).toContainText("rank 0");
  by.expectAsDocumented("See who waits in a barrier");
});

test("zoom to the third iteration", async ({ page }, info) => {
  const by = new Counted(page);
  const path = info.outputPath("made.json");
  writeTrace(path);
  await by.open(path);
  await by.drag(2 / MADE.rounds, 3 / MADE.rounds);
  await by.key("f");
  const timeline = page.getByTestId("timeline");
  const round = MADE.roundMicros * 1000;
  await expect.poll(async () => Math.abs(Number(await timeline.getAttribute("data-from")) - 2 * round) < 0.05 * round).toBe(true);
  await expect.poll(async () => Math.abs(Number(await timeline.getAttribute("data-to")) - 3 * round) < 0.05 * round).toBe(true);
  by.expectAsDocumented("Zoom to the third iteration");
});

test("find the longest call of a function", async ({ page }, info) => {
  const by = new Counted(page);
  const path = info.outputPath("made.json");
  // The fifth call of solve takes longer than all others.
  writeTrace(path, { longerMicros: (round) => (round === 4 ? 300 : 0) });
  await by.open(path);
  await by.key("Control+K");
  await by.type("solv");
  await expect(page.getByRole("listbox", { name: "Commands" }).getByRole("option", { selected: true })).toContainText("function: its calls");
  await by.key("Enter");
  const first = page.getByTestId("view-find").getByTestId("find-row").first();
  await expect(first).toHaveAttribute("data-start", String((4 * MADE.roundMicros + 50) * 1000));
  by.expectAsDocumented("Find the longest call of a function");
});

test("follow a message to its receiver", async ({ page }, info) => {
  const by = new Counted(page);
  const path = info.outputPath("made.json");
  writeTrace(path);
  await by.open(path);
  const timeline = page.getByTestId("timeline");
  const at = await placeOf(page, timeline, solveOf(3) + (MADE.solveMicros / 2 + MADE.sendMicros / 8) * 1000, 1);
  await by.clickAt(at);
  const details = page.getByTestId("call-details");
  await by.click(details.getByTestId("call-links").getByRole("button", { name: /Sent to rank 2/ }));
  await expect(details.getByTestId("call-track")).toHaveText("rank 2");
  by.expectAsDocumented("Follow a message to its receiver");
});

test("see the gaps of a GPU, and what threads do meanwhile", async ({ page }, info) => {
  const by = new Counted(page);
  const path = info.outputPath("train.json");
  writeGpu(path);
  await by.open(path);
  await by.key("Control+K");
  await by.type("idle");
  await expect(page.getByRole("listbox", { name: "Commands" }).getByRole("option", { selected: true })).toContainText("Show GPU idle time");
  await by.key("Enter");
  await expect(page.getByTestId("view-idle-gpus").getByTestId("idle-gpus-call_path").first()).toContainText("load");
  by.expectAsDocumented("See the gaps of a GPU");
});

test("export a picture for a paper", async ({ page }, info) => {
  const by = new Counted(page);
  const path = info.outputPath("made.json");
  writeTrace(path);
  await by.open(path);
  await expect(page.getByTestId("timeline-legend").getByRole("button").filter({ hasText: "solve" })).toHaveAttribute("data-share", /\d/);
  await by.click(page.getByTestId("view-timeline").getByRole("button", { name: "Download" }));
  const saving = page.waitForEvent("download");
  await by.click(page.getByRole("menuitem", { name: /vector/ }));
  expect(readFileSync(await (await saving).path(), "utf8")).toContain("<svg");
  by.expectAsDocumented("Export a picture for a paper");
});
