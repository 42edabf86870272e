// What people do with a timeline every day: order and filter rows, select a time, look at a call, find, take it back, keep a picture.
import { readFileSync, writeFileSync } from "node:fs";
import type { Locator, Page } from "@playwright/test";
import { openPalette, showView, treeRow } from "./support/app.ts";
import { isClean } from "./support/axe.ts";
import { expect, test } from "./support/test.ts";
import { brush, MADE, MANY, openMade, placeOf, solveOf, writeDense, writeMany, writeThreads } from "./support/trace.ts";

const SPAN_NS = MADE.rounds * MADE.roundMicros * 1000;

async function names(timeline: Locator): Promise<readonly string[]> {
  const buttons = timeline.getByTestId("timeline-labels").getByRole("button");
  const found = await buttons.evaluateAll((all) => all.map((one) => ({ top: one.getBoundingClientRect().top, name: one.getAttribute("title") ?? "" })));
  return found.toSorted((a, b) => a.top - b.top).map(({ name }) => /thread (\d+)/.exec(name)?.[1] ?? name);
}

/** Controls that a narrow panel has behind a button. */
async function control(page: Page, label: string): Promise<Locator> {
  const folded = page.getByTestId("timeline-controls");
  if (await folded.count() > 0 && await page.getByRole("dialog", { name: "View" }).count() === 0) await folded.click();
  return page.getByTestId("view-timeline").or(page.getByRole("dialog", { name: "View" })).getByLabel(label).first();
}

test("rows are sorted by location, name, start and busy time, filtered, pinned, and empty ones hidden with a count", async ({ page }, info) => {
  const timeline = await openMade(page, info, writeThreads);
  // Thread 3 runs nothing.
  await expect(timeline).toHaveAttribute("data-rows", "3");
  await expect(page.getByTestId("timeline-empties")).toContainText("1 empty track hidden");
  await expect.poll(() => names(timeline)).toEqual(["1", "2", "10"]);
  await (await control(page, "Order by")).selectOption("start");
  await expect.poll(() => names(timeline)).toEqual(["10", "1", "2"]);
  await (await control(page, "Order by")).selectOption("busy");
  await expect.poll(() => names(timeline)).toEqual(["2", "1", "10"]);
  await (await control(page, "Order by")).selectOption({ index: 4 });
  await expect.poll(() => names(timeline)).toEqual(["2", "1", "10"]);
  await (await control(page, "Order by")).selectOption("name");
  await expect.poll(() => names(timeline)).toEqual(["1", "2", "10"]);
  await page.keyboard.press("Escape");

  await timeline.getByRole("button", { name: "thread 10" }).click({ button: "right" });
  await page.getByRole("menuitem", { name: "Pin to the top" }).click();
  await expect.poll(() => names(timeline)).toEqual(["10", "1", "2"]);

  await page.getByTestId("timeline-empties").getByRole("button", { name: "show" }).click();
  await expect(timeline).toHaveAttribute("data-rows", "4");

  const filter = page.getByTestId("timeline-filter");
  await filter.fill("10 THREAD");
  await expect.poll(() => names(timeline)).toEqual(["10"]);
  await filter.fill("*thread 1*");
  await expect.poll(() => names(timeline)).toEqual(["10", "1"]);
  await expect(page.getByTestId("view-statistics")).toContainText("2 of 4 tracks");
  await filter.fill("*thread 2");
  await expect.poll(() => names(timeline)).toEqual(["2"]);
  await filter.press("Escape");
  await expect(timeline).toHaveAttribute("data-rows", "4");
  await filter.fill("none of them");
  await expect(filter).toHaveAttribute("aria-invalid", "true");
});

test("pinned rows stay in sight when the others are scrolled", async ({ page }, info) => {
  const timeline = await openMade(page, info, (path) => {
    writeFileSync(path, JSON.stringify({ traceEvents: Array.from({ length: 40 }, (_, tid) => ({ ph: "X", name: "work", pid: 1, tid, ts: tid, dur: 500 })) }));
  });
  await (await control(page, "Height")).selectOption("20");
  await page.keyboard.press("Escape");
  await timeline.getByRole("button", { name: "thread 3" }).first().click({ button: "right" });
  await page.getByRole("menuitem", { name: "Pin to the top" }).click();
  await expect.poll(async () => (await names(timeline)).slice(0, 3)).toEqual(["3", "0", "1"]);
  await timeline.evaluate((box) => { box.scrollTop = 200; });
  // Ten rows have gone away below it.
  await expect.poll(async () => (await names(timeline)).slice(0, 3)).toEqual(["3", "11", "12"]);
  const top = (name: string): Promise<number | undefined> => timeline.getByTestId("timeline-labels").getByRole("button", { name, exact: true }).boundingBox().then((box) => box?.y);
  const above = await timeline.getByTestId("timeline-labels").boundingBox();
  expect(await top("process 1, thread 3")).toBeCloseTo(above?.y ?? 0, 0);
  // What is clicked there is the pinned thread's call.
  const at = await timeline.boundingBox();
  await page.mouse.click((at?.x ?? 0) + (at?.width ?? 0) / 2, (at?.y ?? 0) + 10);
  await expect(page.getByTestId("call-details").getByTestId("call-track")).toHaveText("process 1, thread 3");
});

test("lists of tracks have the order of the timeline", async ({ page }, info) => {
  await openMade(page, info, writeThreads);
  const tracks = page.getByRole("combobox", { name: "Track" }).getByRole("option");
  await showView(page, "Call stack", "view-node-detail");
  await expect.poll(async () => (await tracks.allInnerTexts()).map((text) => /thread (\d+)/.exec(text)?.[1])).toEqual(["1", "2", "3", "10"]);
});

test("statistics, tree, flame graph and messages follow the selected time; F zooms to it and Escape clears it", async ({ page }, info) => {
  const timeline = await openMade(page, info);
  const statistics = page.getByTestId("view-statistics");
  const calls = async (name: string): Promise<number> => {
    const row = statistics.getByRole("row").filter({ has: page.locator(`[data-name="${name}"]`) });
    return Number(await row.getByTestId("stat-calls").getAttribute("data-value"));
  };
  await expect.poll(() => calls("solve")).toBe(MADE.ranks * MADE.rounds);
  await expect(treeRow(page, "solve")).toBeVisible();
  const whole = Number(await treeRow(page, "solve").locator("[data-value]").first().getAttribute("data-value"));
  // Five of ten rounds.
  await brush(page, 0.5, 1);
  await expect(statistics.getByTestId("trace-window")).toContainText("Selected time");
  await expect.poll(() => calls("solve")).toBe((MADE.ranks * MADE.rounds) / 2);
  expect(await timeline.getAttribute("data-to")).toBe(String(SPAN_NS));
  await expect(page.getByTestId("view-tree").getByText(/Selected time/)).toBeVisible();
  await expect.poll(async () => Number(await treeRow(page, "solve").locator("[data-value]").first().getAttribute("data-value")) / whole).toBeCloseTo(0.5, 2);
  const messages = await showView(page, "Messages", "view-messages");
  await expect(messages.getByTestId("trace-window")).toContainText("Selected time");
  await expect(messages).toContainText(`${String((MADE.ranks * MADE.rounds) / 2)} messages`);
  const flame = await showView(page, "Flame graph", "view-flame");
  await expect(flame.getByText(/Selected time/)).toBeVisible();

  await page.getByRole("tab", { name: "Timeline", exact: true }).click();
  await timeline.focus();
  await timeline.press("f");
  await expect.poll(async () => Number(await timeline.getAttribute("data-from"))).toBeGreaterThan(SPAN_NS * 0.4);
  await timeline.press("Escape");
  await expect(statistics.getByTestId("trace-window")).not.toContainText("Selected time");
  await timeline.press("Home");
  await expect.poll(() => calls("solve")).toBe(MADE.ranks * MADE.rounds);
});

test("a click on a call shows its times, its track, who called it, and its messages, which lead to their other ends", async ({ page }, info) => {
  const timeline = await openMade(page, info);
  const sent = solveOf(3) + (MADE.solveMicros / 2 + MADE.sendMicros / 8) * 1000;
  let at = await placeOf(page, timeline, solveOf(3), 1);
  await page.mouse.click(at.x, at.y);
  const details = page.getByTestId("call-details");
  await expect(details).toContainText("solve");
  await expect(details.getByTestId("call-duration")).toHaveAttribute("data-value", String(MADE.solveMicros * 1000));
  await expect(details.getByTestId("call-exclusive")).toHaveAttribute("data-value", String(MADE.solveMicros * 1000));
  await expect(details.getByTestId("call-track")).toHaveText("rank 1");
  // Its caller has the time that solve and MPI_Send leave.
  await details.getByTestId("call-path").getByRole("button", { name: "main" }).click();
  await expect(details.getByTestId("call-duration")).toHaveAttribute("data-value", String(SPAN_NS));
  await expect(details.getByTestId("call-exclusive")).toHaveAttribute("data-value", String(SPAN_NS - MADE.rounds * (MADE.solveMicros + MADE.sendMicros) * 1000));
  await isClean(page, "view-timeline");

  at = await placeOf(page, timeline, sent, 1);
  await page.mouse.click(at.x, at.y);
  await expect(details).toContainText("MPI_Send");
  const links = details.getByTestId("call-links");
  await expect(links.getByRole("listitem")).toHaveCount(2);
  await links.getByRole("button", { name: /Sent to rank 2/ }).click();
  await expect(details.getByTestId("call-track")).toHaveText("rank 2");
  await expect(details).toContainText("MPI_Send");
  // What was clicked is there after a reload.
  await expect(page.locator("html[data-address-behind]")).toHaveCount(0);
  await page.reload();
  await expect(details.getByTestId("call-track")).toHaveText("rank 2");
});

test("a selected call shows the arguments that the trace recorded with it, and copies them", async ({ page, context }, info) => {
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const timeline = await openMade(page, info, writeThreads);
  // Thread 1 works from 100 to 200 microseconds, in the first row.
  const at = await placeOf(page, timeline, 150_000, 0, 3);
  await page.mouse.click(at.x, at.y);
  const details = page.getByTestId("call-details");
  const list = details.getByTestId("call-arguments");
  await expect(list.locator("dt")).toHaveText(["grid", "note"]);
  await expect(list.locator("dd")).toHaveText(["[1,1,1]", /^of "1"\s+second line$/]);
  await details.getByRole("button", { name: "Copy the arguments" }).click();
  await expect.poll(() => page.evaluate(() => navigator.clipboard.readText())).toBe('grid\t[1,1,1]\nnote\tof "1" second line\n');
  await isClean(page, "view-timeline");
});

test("one click is one step of undo, and the tree is there after each", async ({ page }, info) => {
  const timeline = await openMade(page, info);
  const details = page.getByTestId("call-details");
  const undo = page.getByRole("banner").getByRole("button", { name: /^Undo/ });
  await expect(treeRow(page, "solve")).toBeVisible();
  const starts: number[] = [];
  for (const round of [2, 7]) {
    const at = await placeOf(page, timeline, solveOf(round), 1);
    await page.mouse.click(at.x, at.y);
    starts.push((round * MADE.roundMicros + 50) * 1000);
    await expect(details).toHaveAttribute("data-start", String(starts.at(-1)));
  }
  await expect(treeRow(page, "solve")).toBeVisible();
  await undo.click();
  await expect(details).toHaveAttribute("data-start", String(starts[0]));
  await expect(treeRow(page, "solve")).toBeVisible();
  await undo.click();
  await expect(details).toHaveCount(0);
  await expect(treeRow(page, "solve")).toBeVisible();
  await expect(undo).toBeDisabled();
  await page.keyboard.press("Control+Shift+Z");
  await expect(details).toHaveAttribute("data-start", String(starts[0]));
});

test("a tree that was scrolled to a call still shows its rows after undo", async ({ page }, info) => {
  const timeline = await openMade(page, info, writeMany);
  const tree = page.getByRole("treegrid", { name: "Calling context tree" });
  const shown = async (): Promise<number> => {
    const box = await tree.boundingBox();
    const rows = await tree.getByTestId("context-name").all();
    const tops = await Promise.all(rows.map(async (row) => (await row.boundingBox())?.y ?? -1));
    return tops.filter((top) => box !== null && top > box.y && top < box.y + box.height).length;
  };
  await expect(treeRow(page, "main")).toBeVisible();
  for (const call of [MANY - 3, 40]) {
    const at = await placeOf(page, timeline, call * 1e6 + 400_000, 0, 1);
    await page.mouse.click(at.x, at.y);
    await expect(treeRow(page, `step ${String(call)}`)).toBeInViewport();
  }
  for (let step = 0; step < 2; step += 1) {
    await page.keyboard.press("Control+Z");
    await expect.poll(shown).toBeGreaterThan(3);
  }
});

test("legend and statistics have the same shares and say of what", async ({ page }, info) => {
  await openMade(page, info);
  const legend = page.getByTestId("timeline-legend");
  const shares = async (): Promise<readonly (number | null)[]> => {
    const inLegend = await legend.getByRole("button").filter({ hasText: "solve" }).getAttribute("data-share");
    const row = page.getByTestId("view-statistics").getByRole("row").filter({ has: page.locator('[data-name="solve"]') });
    const inTable = await row.getByTestId("stat-share").getAttribute("data-value");
    return [Number(inLegend), Number(inTable)];
  };
  const share = (MADE.solveMicros / MADE.roundMicros) * 100;
  await expect.poll(async () => (await shares()).map((one) => one?.toFixed(6))).toEqual([share.toFixed(6), share.toFixed(6)]);
  await expect(page.getByTestId("legend-basis")).toHaveText("Exclusive time, % of the active time in the trace");
  // In the second half of the sixth round there is less of it.
  await brush(page, 0.55, 0.58);
  await expect(page.getByTestId("legend-basis")).toContainText("selected");
  await expect.poll(async () => { const [a, b] = await shares(); return a === b && a !== share; }).toBe(true);
});

test("dense messages are bars of how many there were, and lines again where they can be followed", async ({ page }, info) => {
  const timeline = await openMade(page, info, (path) => { writeDense(path, 5000); });
  const strip = page.getByTestId("timeline-strip");
  await expect(strip).toContainText("Messages");
  await expect(page.getByTestId("timeline-links")).toContainText("as density");
  await page.getByTestId("timeline-window").fill("1ms..1.05ms");
  await page.getByTestId("timeline-window").press("Enter");
  await expect(strip).toHaveCount(0);
  await expect(page.getByTestId("timeline-links")).toHaveText(/^5\d messages$/);
  await timeline.press("Home");
  await expect(strip).toHaveCount(1);
});

test("a counter stands below the rows with ticks that people read, and goes again", async ({ page }, info) => {
  await openMade(page, info, writeThreads);
  const folded = page.getByTestId("timeline-controls");
  if (await folded.count() > 0) await folded.click();
  await page.getByRole("button", { name: "Counters", exact: true }).click();
  await page.getByRole("menuitem", { name: /memory/ }).or(page.getByRole("menuitemcheckbox", { name: /memory/ })).click();
  const strip = page.getByTestId("timeline-strip");
  await expect(strip).toContainText("memory");
  await expect(strip.getByTestId("strip-tick")).toHaveText(["1\u202fG", "0\u202fG"]);
  await page.getByTestId("view-timeline").getByRole("button", { name: /^Remove .*memory/ }).click();
  await expect(strip).toHaveCount(0);
});

test("a saved picture has a title, an axis, names of tracks and a legend", async ({ page }, info) => {
  await openMade(page, info);
  await expect(page.getByTestId("timeline-legend").getByRole("button").filter({ hasText: "solve" })).toHaveAttribute("data-share", /\d/);
  await page.getByTestId("view-timeline").getByRole("button", { name: "Download" }).click();
  const saving = page.waitForEvent("download");
  await page.getByRole("menuitem", { name: /vector/ }).click();
  const svg = readFileSync(await (await saving).path(), "utf8");
  const texts = [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map((match) => match[1] ?? "");
  expect(texts.some((text) => text.startsWith("made"))).toBe(true);
  for (const wanted of ["rank 0", "rank 3", "solve", "60.0\u202f%"]) expect(texts, texts.join(" | ")).toContain(wanted);
  expect(texts.some((text) => /\bms$/.test(text))).toBe(true);
  expect(texts.some((text) => text.includes("of the active time"))).toBe(true);
});

test("Find calls takes words as parts of names, and expressions from those who write them", async ({ page }, info) => {
  await openMade(page, info);
  const find = await showView(page, "Find calls", "view-find");
  const name = find.getByTestId("find-name");
  const total = find.getByTestId("find-total");
  const sends = String(MADE.ranks * MADE.rounds);
  for (const typed of ["send", "mpi SEND", "MPI_*", "/send/i"]) {
    await name.fill(typed);
    await name.press("Enter");
    await expect(total).toHaveAttribute("data-value", sends);
    await name.fill("");
    await name.press("Enter");
    await expect(total).not.toHaveAttribute("data-value", sends);
  }
  await name.fill("nccl");
  await name.press("Enter");
  await expect(find).toContainText("No function has “nccl” in its name.");
  await expect(find).not.toContainText("^");
});

test("Ctrl+F and / go to the search of the active panel", async ({ page }, info) => {
  const timeline = await openMade(page, info);
  await timeline.click({ position: { x: 300, y: 20 } });
  await page.keyboard.press("Control+F");
  await expect(page.getByTestId("timeline-legend").getByRole("searchbox")).toBeFocused();
  const find = await showView(page, "Find calls", "view-find");
  await page.keyboard.press("/");
  await expect(find.getByTestId("find-name")).toBeFocused();
  // In a field it is a sign.
  await page.keyboard.press("/");
  await expect(find.getByTestId("find-name")).toHaveValue("/");
  await page.getByRole("tab", { name: "Statistics", exact: true }).click();
  await page.keyboard.press("/");
  await expect(page.getByTestId("view-statistics").getByTestId("search")).toBeFocused();
});

test("the palette finds views, functions, tracks and files", async ({ page }, info) => {
  await openMade(page, info);
  const options = page.getByRole("listbox", { name: "Commands" }).getByRole("option");
  let field = await openPalette(page);
  await field.fill("waits");
  await expect(options.first()).toContainText("Show Waits");
  await field.fill("reactor");
  await expect(options.filter({ hasText: "example" }).first()).toContainText("Open");
  await field.fill("rank 2");
  await expect(options.first()).toContainText("rank 2");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("timeline-labels").locator(".here")).toHaveText("rank 2");
  field = await openPalette(page);
  await field.fill("solv");
  await expect(options.first()).toContainText("function: its calls");
  await page.keyboard.press("Enter");
  await expect(page.getByTestId("view-find").getByTestId("find-total")).toHaveAttribute("data-value", String(MADE.ranks * MADE.rounds));
});
