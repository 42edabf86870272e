// The workflow as a drawing: planted components with what goes between them, by mouse and by keyboard.
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import type { Page, TestInfo } from "@playwright/test";
import { drop, showView } from "./support/app.ts";
import { isClean } from "./support/axe.ts";
import { ask, binary } from "./support/cli.ts";
import { expect, test } from "./support/test.ts";

const MESSAGES = 5;
const BYTES = 3000;

/** Writes a trace of some ranks; each sends its messages to `to`, which are received 100 µs later where that is of this trace. */
function program(path: string, ranks: readonly number[], sends: readonly (readonly [from: number, to: number])[]): void {
  const events: { time: number; [field: string]: string | number }[] = [];
  for (const rank of ranks) {
    for (const [kind, time] of [["entry", 0], ["exit", 10_000]] as const) events.push({ "event-type": kind, name: "work", time, "node-id": rank, "thread-id": 0 });
  }
  for (const [from, to] of sends) {
    for (let nth = 0; nth < MESSAGES; nth += 1) {
      const message = { "source-node-id": from, "source-thread-id": 0, "destination-node-id": to, "destination-thread-id": 0, "message-size": BYTES, "message-tag": nth };
      const sent = 1000 * (nth + 1);
      if (ranks.includes(from)) events.push({ "event-type": "send", time: sent, ...message });
      if (ranks.includes(to)) events.push({ "event-type": "receive", time: sent + 100, ...message });
    }
  }
  events.sort((a, b) => a.time - b.time);
  writeFileSync(path, JSON.stringify(events));
}

/** A simulation of two ranks that exchange messages and send to an analysis of one rank, as an archive that is dropped on the page. */
async function openWorkflow(page: Page, info: TestInfo): Promise<string> {
  const sends = [[0, 1], [0, 2], [1, 2]] as const;
  const [simulation, analysis, archive] = ["simulation.json", "analysis.json", "coupled.parallax"].map((name) => info.outputPath(name)) as [string, string, string];
  program(simulation, [0, 1], sends);
  program(analysis, [2], sends);
  execFileSync(binary(), ["convert", simulation, analysis, archive, "--depends", "analysis=simulation", "--quiet"]);
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, archive);
  await expect(page.getByTestId("timeline")).toHaveAttribute("data-calls", /^[1-9]/);
  return archive;
}

test("components are boxes, and what goes between them are arrows with the numbers of the command line", async ({ page }, info) => {
  const archive = await openWorkflow(page, info);
  const panel = await showView(page, "Workflow", "view-workflow");
  const components = panel.getByTestId("workflow-component");
  await expect(components).toHaveCount(2);
  await expect(components.first()).toHaveAccessibleName(/^simulation, 2 ranks, 0.s to 10\.00.ms, busy 100\.0 %/);
  const said = ask("workflow", archive, "--by", "exchange").rows;
  const arrows = panel.getByTestId("workflow-arrow");
  await expect(arrows).toHaveCount(said.length);
  expect(await arrows.evaluateAll((all) => all.map((one) => [Number(one.getAttribute("data-count")), Number(one.getAttribute("data-bytes"))]))).toEqual(said.map((row) => [row["count"], row["bytes"]]));
  expect(said.map((row) => [row["from"], row["to"], row["count"], row["bytes"]])).toEqual([
    ["simulation", "simulation", MESSAGES, MESSAGES * BYTES], ["simulation", "analysis", 2 * MESSAGES, 2 * MESSAGES * BYTES],
  ]);
  await isClean(page, "view-workflow");

  // The tip has exact numbers, and when it was.
  const arrow = panel.getByRole("button", { name: /^simulation → analysis/ });
  await arrow.locator("text").first().hover();
  await expect(page.getByTestId("chart-tip")).toContainText(/Bytes\s*30.000 B/);
  await expect(page.getByTestId("chart-tip")).toContainText(/Locations\s*2 to 1/);
  // Chosen, it says when what arrives.
  await arrow.locator("text").first().click();
  await expect(panel.getByTestId("workflow-chosen")).toContainText("simulation → analysis");
  await expect(panel.getByRole("img", { name: /^Bytes over time/ })).toBeVisible();
  await panel.getByRole("button", { name: "Show messages" }).click();
  const messages = page.getByTestId("view-messages");
  await expect(messages).toBeVisible();
  await expect(messages.getByTestId("message-total")).toHaveAttribute("data-value", String(3 * MESSAGES));
});

test("a component restricts the other views to its ranks, by keyboard", async ({ page }, info) => {
  await openWorkflow(page, info);
  const panel = await showView(page, "Workflow", "view-workflow");
  const analysis = panel.getByRole("button", { name: /^analysis, 1 rank/ });
  await analysis.focus();
  await expect(page.getByTestId("chart-tip")).toContainText(/Takes data from\s*simulation/);
  await page.keyboard.press("Enter");
  await expect(analysis).toHaveAttribute("aria-pressed", "true");
  await expect(panel.getByTestId("trace-window")).toContainText("analysis rank 2 of 3 tracks");
  // The drawing still has all components.
  await expect(panel.getByTestId("workflow-component")).toHaveCount(2);
  await analysis.press("Enter");
  await expect(analysis).toHaveAttribute("aria-pressed", "false");
  await expect(panel.getByTestId("trace-window")).toContainText("all 3 tracks");
});

test("what the source says about each component is a table", async ({ page }, info) => {
  const fact = (host: string, pid: number): object => ({ Hostname: host, "Command Line": `./run-${host}`, pid: String(pid) });
  const timer = { "process index": 0, "thread index": 0, Function: "main", Calls: 1, Subroutines: 0, "Exclusive Time": 5000, "Inclusive Time": 5000 };
  const part = (host: string, ranks: number): object => ({
    metadata: Object.fromEntries(Array.from({ length: ranks }, (_, rank) => [`Rank ${String(rank)}, Thread 0`, fact(host, 100 + rank)])),
    Timers: Array.from({ length: ranks }, (_, rank) => ({ ...timer, "process index": rank })), Counters: [],
  });
  const file = info.outputPath("flow.json");
  const listed = (of: number): object => ({ id: of, name: "frames.bp", "component-id": of });
  writeFileSync(file, JSON.stringify({
    "Workflow metadata": {
      "Workflow Instance": [{ id: 1, name: "flow" }], "Workflow Component": [{ id: 1, name: "md" }, { id: 2, name: "viz" }],
      "Workflow Component-output": [listed(1)], "Workflow Component-input": [listed(2)], "Dependency Graph": { md: [], viz: ["md"] },
    },
    md: part("n1", 2), viz: part("n2", 1),
  }));
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, file);
  const information = await showView(page, "Information", "view-information");
  const components = information.getByRole("group", { name: "Metadata of components" });
  await expect(components.getByRole("row", { name: /^Hostname/ }).getByRole("cell")).toHaveText(["n1", "n2"]);
  const processes = information.getByRole("group", { name: "Processes" });
  await expect(processes.getByRole("row")).toHaveCount(4);
  await expect(processes.getByRole("row", { name: /^md rank 1/ })).toContainText("101");
  await isClean(page, "view-information");
  const drawing = await showView(page, "Workflow", "view-workflow");
  await expect(drawing.getByTestId("workflow-arrow")).toHaveAccessibleName(/md → viz: frames\.bp, according to the workflow description/);
});
