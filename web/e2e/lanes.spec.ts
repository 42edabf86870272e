// What each thread does, call by call: lanes over time and aggregated, and the threads that have them.
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { pick, showView, stateInAddress, treeRow, useClassicPicker, valueOf } from "./support/app.ts";
import { SMALL, writeCalls, type CallsCounts, type CallsProgram } from "./support/calls.ts";
import { isClean } from "./support/axe.ts";
import { expect, test } from "./support/test.ts";

test.describe.configure({ timeout: 120_000 });

/** Writes a database, opens it with the picker, and shows a view of it. */
async function open(page: Page, folder: string, view: "Execution" | "Threads", program: CallsProgram = SMALL): Promise<CallsCounts> {
  const path = join(folder, "calls.db");
  const counts = writeCalls(path, program);
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, "Open files", path);
  await expect(page.getByRole("tab", { name: "Tree" })).toBeVisible({ timeout: 60_000 });
  // What other views show of the same calls.
  for (const other of ["Tree", "Locations", view] as const) await show(page, other);
  return counts;
}

const TESTIDS = { Execution: "view-lanes", Threads: "view-threads", Tree: "view-tree", Locations: "view-distribution" } as const;

async function show(page: Page, view: keyof typeof TESTIDS): Promise<void> {
  await showView(page, view, TESTIDS[view]);
}

const lanes = (page: Page): Locator => page.getByTestId("lanes");
const heads = (page: Page): Locator => page.getByTestId("lane-head");

const reset = (page: Page): Locator => page.getByRole("button", { name: "Reset zoom", exact: true });

async function number(page: Page, name: string): Promise<number> {
  return Number(await lanes(page).getAttribute(`data-${name}`));
}

/** Walks to a bar with the arrows, from the top of the first lane. */
async function walk(page: Page, ...keys: readonly string[]): Promise<void> {
  // Whatever takes the keyboard on the way would get the rest of the keys.
  await expect(async () => {
    await lanes(page).focus();
    for (const key of ["Home", ...keys]) await page.keyboard.press(key);
    await expect(lanes(page)).toBeFocused({ timeout: 1_000 });
    await expect(page.getByTestId("lanes-active")).toBeVisible({ timeout: 1_000 });
  }).toPass();
}

/** The middle of the bar of the keyboard, on the page, once it stands still. */
async function activeMiddle(page: Page): Promise<{ x: number; y: number }> {
  const active = page.getByTestId("lanes-active");
  let last = "";
  await expect(async () => {
    const before = last;
    last = JSON.stringify(await active.boundingBox());
    expect(last, "the place of the bar").toBe(before);
  }).toPass({ intervals: [50] });
  const box = await active.boundingBox();
  if (box === null) throw new Error("no bar is active");
  return { x: box.x + box.width / 2, y: box.y + box.height / 2 };
}

test("each thread has a lane with all of its calls, and the line says what each does at a moment", async ({ page }, info) => {
  const counts = await open(page, info.outputPath(), "Execution");
  await expect(heads(page)).toHaveCount(SMALL.threads);
  await expect(heads(page).first()).toContainText("Thread 0");
  await expect(heads(page).first()).toContainText("main thread");
  await expect(heads(page).nth(1)).toContainText("started by thread 0 at line 8");
  await expect(lanes(page)).toHaveAttribute("data-bars", String(counts.calls));

  // In the first round of the main thread all calls are active, and nothing elsewhere.
  await walk(page, "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown");
  const { x, y } = await activeMiddle(page);
  await page.mouse.move(x, y);
  await expect(page.getByRole("tooltip")).toContainText("descend");
  await expect(page.getByRole("tooltip")).toContainText("Of the top");
  await expect(page.getByTestId("lanes-moment")).toContainText("µs");
  await expect(page.getByTestId("lanes-cursor")).toBeVisible();
  await expect(heads(page).first().getByTestId("lane-now")).toContainText("descend › descend");
  await expect(heads(page).nth(1).getByTestId("lane-now")).toHaveText("");
  await expect(page.getByTestId("lanes-at")).toContainText("Thread 0 in descend");
  await page.mouse.move(5, 5);
  await expect(page.getByTestId("lanes-moment")).toHaveCount(0);
});

test("a double click zooms all lanes to the time of a call, and one on the top goes back; both are undone, and kept by a reload", async ({ page }, info) => {
  await open(page, info.outputPath(), "Execution");
  const before = page.url();
  const whole = [await number(page, "from"), await number(page, "to")];
  await walk(page, "ArrowDown", "ArrowRight");
  const call = await activeMiddle(page);
  await page.mouse.dblclick(call.x, call.y);
  await expect(heads(page).first().getByTestId("lane-zoom")).toHaveText("in descend");
  const zoomed = [await number(page, "from"), await number(page, "to")];
  expect((zoomed[1] ?? 0) - (zoomed[0] ?? 0)).toBeLessThan(((whole[1] ?? 0) - (whole[0] ?? 0)) / 4);
  // The other lanes are clipped to that time, in which they do nothing.
  await expect(page.getByTestId("view-lanes").getByText("No activity in this time range.")).toHaveCount(SMALL.threads - 1);
  // A double click is no two clicks: nothing is marked.
  await expect(page.getByTestId("view-lanes").getByText("marked", { exact: true })).toHaveCount(0);

  await stateInAddress(page, before);
  await page.reload();
  await expect(page.getByRole("tab", { name: "Tree" })).toBeVisible({ timeout: 60_000 });
  await expect(lanes(page)).toHaveAttribute("data-from", String(zoomed[0]));
  await expect(lanes(page)).toHaveAttribute("data-to", String(zoomed[1]));

  await walk(page);
  const top = await activeMiddle(page);
  await page.mouse.dblclick(top.x, top.y);
  await expect(lanes(page)).toHaveAttribute("data-to", String(whole[1]));
  await page.keyboard.press("Control+Z");
  await expect(lanes(page)).toHaveAttribute("data-to", String(zoomed[1]));
  await reset(page).click();
  await expect(lanes(page)).toHaveAttribute("data-to", String(whole[1]));
  await expect(reset(page)).toBeDisabled();
});

test("the least share omits what is shorter than it of the top, and zooming in brings it back", async ({ page }, info) => {
  const counts = await open(page, info.outputPath(), "Execution");
  await page.getByTestId("lanes-below").fill("100");
  await expect(lanes(page)).toHaveAttribute("data-bars", String(SMALL.threads));
  // The longest calls below each top are counted, not what they call.
  expect(await valueOf(page.getByTestId("lanes-left-out"))).toBe(SMALL.threads * SMALL.rounds);
  await page.getByTestId("lanes-below").fill("20");
  await expect.poll(() => number(page, "bars")).toBeGreaterThan(SMALL.threads);
  const some = await number(page, "bars");
  expect(some).toBeLessThan(counts.calls);
  await walk(page, "ArrowDown");
  await page.keyboard.press("Enter");
  await expect(heads(page).first().getByTestId("lane-zoom")).toBeVisible();
  // The first lane now has a whole round: the deepest calls take more than that share of it.
  await expect(heads(page).first().getByTestId("lane-left-out")).toHaveCount(0);
  await reset(page).click();
  await page.getByTestId("lanes-below").fill("0");
  await expect(lanes(page)).toHaveAttribute("data-bars", String(counts.calls));
  await expect(page.getByTestId("lanes-left-out")).toHaveCount(0);
  await page.keyboard.press("Control+Z");
  await expect.poll(() => number(page, "bars")).toBeLessThan(counts.calls);
});

test("loops are shown with their iterations, and only over time", async ({ page }, info) => {
  const counts = await open(page, info.outputPath(), "Execution");
  await expect(lanes(page)).toHaveAttribute("data-loops", "0");
  await page.getByTestId("view-lanes").getByText("Loops", { exact: true }).click();
  await expect(lanes(page)).toHaveAttribute("data-loops", String(counts.executions));
  await walk(page);
  const main = await activeMiddle(page);
  await page.mouse.move(main.x, main.y + 16);
  await expect(page.getByRole("tooltip")).toContainText("loop at rounds.c:10");
  await expect(page.getByRole("tooltip")).toContainText(`Iterations ${String(SMALL.rounds)}`);
  // A double click shows the time of the loop alone.
  await page.mouse.dblclick(main.x, main.y + 16);
  await expect(reset(page)).toBeEnabled();
  expect((await number(page, "to")) - (await number(page, "from"))).toBeLessThan(80_000);
  await page.getByTestId("view-lanes").getByText("Aggregated", { exact: true }).click();
  await expect(page.getByRole("checkbox", { name: "Loops" })).toBeDisabled();
  await expect(lanes(page)).toHaveAttribute("data-loops", "0");
});

test("calls of one function are aggregated, and zoomed into as one", async ({ page }, info) => {
  await open(page, info.outputPath(), "Execution");
  await page.getByTestId("view-lanes").getByText("Aggregated", { exact: true }).click();
  // Of each thread: its entry, and the recursion as deep as it is.
  await expect(lanes(page)).toHaveAttribute("data-bars", String(SMALL.threads * (1 + SMALL.depth)));
  await walk(page, "ArrowDown");
  await expect(lanes(page).locator("..").locator("[aria-live]")).toContainText("descend, ");
  const { x, y } = await activeMiddle(page);
  await page.mouse.move(x, y);
  await expect(page.getByRole("tooltip")).toContainText("aggregated calls");
  await expect(page.getByRole("tooltip")).toContainText(`Calls ${String(SMALL.rounds)}`);
  await page.mouse.dblclick(x, y);
  await expect(heads(page).first().getByTestId("lane-zoom")).toHaveText("in descend");
  await expect(lanes(page)).toHaveAttribute("data-bars", String(SMALL.threads * (1 + SMALL.depth) - 1));
  // Over time there is no such call: the lane shows all of its thread again.
  await page.getByTestId("view-lanes").getByText("Timeline", { exact: true }).click();
  await expect(heads(page).first().getByTestId("lane-zoom")).toHaveCount(0);
});

test("a click marks and focuses a call in all views, and what another view points at stands out", async ({ page }, info) => {
  await open(page, info.outputPath(), "Execution");
  await walk(page, "ArrowDown");
  const { x, y } = await activeMiddle(page);
  await page.mouse.click(x, y);
  await expect(page.getByTestId("view-lanes").getByText("marked", { exact: true })).toBeVisible();
  await expect(page.getByTestId("distribution-context")).toHaveText("descend");
  await page.mouse.click(x, y, { button: "right" });
  await page.getByRole("menuitem", { name: "Unmark" }).click();
  await expect(page.getByTestId("view-lanes").getByText("marked", { exact: true })).toHaveCount(0);
  await page.mouse.click(x, y, { button: "right" });
  await page.getByRole("menuitem", { name: "Show only this part in all views" }).click();
  await expect(page.getByText("Calls outside the selected part are dimmed.")).toBeVisible();
  await page.getByTestId("view-lanes").getByRole("button", { name: "Show everything" }).click();
  await page.mouse.move(5, 5);
  await expect(page.getByTestId("lanes-cursor")).toHaveCount(0);
  const before = await page.getByTestId("view-lanes").screenshot();
  await treeRow(page, "worker").hover();
  await expect.poll(async () => (await page.getByTestId("view-lanes").screenshot()).equals(before)).toBe(false);
});

test("threads are removed from the lanes, and added again from the list of threads", async ({ page }, info) => {
  await open(page, info.outputPath(), "Execution");
  await page.getByRole("button", { name: "Remove Thread 1" }).click();
  await expect(heads(page)).toHaveCount(SMALL.threads - 1);
  await page.keyboard.press("Control+Z");
  await expect(heads(page)).toHaveCount(SMALL.threads);
  await page.getByRole("button", { name: "Remove Thread 2" }).click();
  await page.getByTestId("lanes-threads").click();
  const view = page.getByTestId("view-threads");
  await expect(view.getByTestId("thread-name")).toHaveText(["Thread 0", "Thread 1", "Thread 2"]);
  await expect(view.getByTestId("thread-place")).toHaveText(["–", "main, line 8", "main, line 8"]);
  await expect(view.getByTestId("thread-lane")).toHaveCount(SMALL.threads - 1);
  for (const length of await view.getByTestId("thread-length").all()) expect(await valueOf(length)).toBeGreaterThan(0);
  await view.getByRole("checkbox", { name: "Select Thread 2" }).click();
  await view.getByRole("button", { name: "Show 1 thread in Execution" }).click();
  await expect(page.getByRole("tab", { name: "Execution", exact: true })).toHaveAttribute("aria-selected", "true");
  await expect(heads(page)).toHaveCount(SMALL.threads);
  for (const thread of [0, 1, 2]) await page.getByRole("button", { name: `Remove Thread ${String(thread)}` }).click();
  await page.getByRole("button", { name: "Show threads" }).click();
  await expect(heads(page)).toHaveCount(SMALL.threads);
});

test("threads lead to those that started them, and are sorted", async ({ page }, info) => {
  await open(page, info.outputPath(), "Threads");
  const view = page.getByTestId("view-threads");
  const rows = view.getByRole("row").filter({ has: page.getByTestId("thread-name") });
  await expect(rows.nth(1)).toHaveAttribute("aria-level", "2");
  await view.getByTestId("thread-creator").last().click();
  // The first row has the keyboard, and the call that started the thread the focus of all views.
  await expect(view.getByRole("treegrid")).toHaveAttribute("aria-activedescendant", /-0$/);
  await expect(page.getByTestId("distribution-context")).toHaveText(/main|loop at rounds.c/);
  await view.getByText("List", { exact: true }).click();
  await view.getByRole("columnheader", { name: "Thread" }).getByRole("button").click();
  await expect(view.getByTestId("thread-name")).toHaveText(["Thread 2", "Thread 1", "Thread 0"]);
  await page.keyboard.press("Control+Z");
  await expect(view.getByTestId("thread-name")).toHaveText(["Thread 0", "Thread 1", "Thread 2"]);
});

test("everything by keyboard alone", async ({ page }, info) => {
  await open(page, info.outputPath(), "Execution");
  await lanes(page).focus();
  const says = page.getByTestId("view-lanes").locator("[aria-live=polite]");
  await page.keyboard.press("ArrowDown");
  await expect(says).toContainText(/^main, 75\.00\sµs/u);
  await page.keyboard.press("ArrowDown");
  await expect(says).toContainText(/^descend, .* of the top, Thread 0$/u);
  await page.keyboard.press("PageDown");
  await expect(says).toContainText(/^worker, .*Thread 1$/u);
  await page.keyboard.press("PageUp");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(heads(page).first().getByTestId("lane-zoom")).toHaveText("in descend");
  await page.keyboard.press("Space");
  await expect(page.getByTestId("view-lanes").getByText("marked", { exact: true })).toBeVisible();
  await page.keyboard.press("Backspace");
  await expect(heads(page).first().getByTestId("lane-zoom")).toHaveCount(0);
  // Buttons of heads come after the lanes, and are no keys of theirs.
  await page.keyboard.press("Tab");
  await expect(page.getByRole("button", { name: "Remove Thread 0" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(heads(page)).toHaveCount(SMALL.threads - 1);

  await show(page, "Threads");
  const table = page.getByRole("treegrid", { name: "Threads" });
  await table.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Space");
  await expect(page.getByRole("checkbox", { name: "Select Thread 0" })).toBeChecked();
  await page.keyboard.press("Enter");
  await expect(heads(page)).toHaveCount(SMALL.threads);
});

test("both views are clean in both looks", async ({ page }, info) => {
  await open(page, info.outputPath(), "Execution");
  await page.getByTestId("view-lanes").getByText("Loops", { exact: true }).click();
  await page.getByTestId("lanes-below").fill("20");
  await walk(page, "ArrowDown");
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  await expect(heads(page).first().getByTestId("lane-zoom")).toBeVisible();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await isClean(page, "view-lanes");
  }
  await page.getByTestId("lanes-below").fill("100");
  await show(page, "Threads");
  await page.getByTestId("thread-check").nth(1).click();
  for (const colorScheme of ["dark", "light"] as const) {
    await page.emulateMedia({ colorScheme });
    await isClean(page, "view-threads");
  }
});

test("a hundred thousand calls are drawn without a stall", async ({ page }, info) => {
  const counts = await open(page, info.outputPath(), "Execution", { threads: 1, rounds: 20_000, depth: 5, inner: 1, accesses: 1 });
  await page.getByTestId("lanes-below").fill("0");
  await expect(lanes(page)).toHaveAttribute("data-bars", String(counts.calls), { timeout: 60_000 });
  const box = await lanes(page).boundingBox();
  if (box === null) throw new Error("no lanes");
  const paints: number[] = [];
  for (let at = 1; at < 12; at += 1) {
    await page.mouse.move(box.x + (box.width * at) / 12, box.y + 40 + (at % 3) * 19);
    paints.push(await number(page, "paint-ms"));
  }
  await expect(page.getByRole("tooltip")).toContainText("too short to draw");
  // A busy machine takes longer now and then; half of the pictures must be there within a few frames.
  expect(paints.sort((a, b) => a - b)[5] ?? 1000).toBeLessThan(100);
  // What is too short is reached by a double click: closer, until it is drawn.
  const before = (await number(page, "to")) - (await number(page, "from"));
  await page.mouse.dblclick(box.x + box.width / 2, box.y + 54);
  await expect.poll(async () => (await number(page, "to")) - (await number(page, "from"))).toBeLessThan(before / 4);
});
