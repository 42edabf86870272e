// What a daily user of a timeline expects: room for tracks, keys after a brush, a menu on the right button.
import { writeFileSync } from "node:fs";
import type { Locator, Page, TestInfo } from "@playwright/test";
import { drop } from "./support/app.ts";
import { isClean } from "./support/axe.ts";
import { expect, test } from "./support/test.ts";
import { MADE, writeTrace } from "./support/trace.ts";

const SPAN_NS = MADE.rounds * MADE.roundMicros * 1000;

async function open(page: Page, info: TestInfo): Promise<Locator> {
  const file = info.outputPath("made.json");
  writeTrace(file);
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, file);
  const timeline = page.getByTestId("timeline");
  await expect(timeline).toHaveAttribute("data-rows", String(MADE.ranks));
  await expect(timeline).toHaveAttribute("data-calls", String(MADE.ranks * (1 + 2 * MADE.rounds)));
  return timeline;
}

async function length(timeline: Locator): Promise<number> {
  return Number(await timeline.getAttribute("data-to")) - Number(await timeline.getAttribute("data-from"));
}

/** Drags over a quarter of the axis. */
async function brush(page: Page): Promise<void> {
  const axis = await page.getByTestId("timeline-axis").boundingBox();
  if (axis === null) throw new Error("no axis");
  await page.mouse.move(axis.x + axis.width * 0.25, axis.y + 8);
  await page.mouse.down();
  await page.mouse.move(axis.x + axis.width * 0.5, axis.y + 8, { steps: 4 });
  await page.mouse.up();
}

/** The middle of the first call of `solve` on a rank. */
async function solve(page: Page, timeline: Locator, rank: number): Promise<{ x: number; y: number }> {
  const [axis, box] = [await page.getByTestId("timeline-axis").boundingBox(), await timeline.boundingBox()];
  if (axis === null || box === null) throw new Error("no timeline");
  const ns = (50 + MADE.solveMicros / 2) * 1000;
  return { x: axis.x + (ns / SPAN_NS) * axis.width, y: box.y + (rank + 0.5) * Math.min(box.height / MADE.ranks, 120) };
}

test.describe("on a small screen", () => {
  test.use({ viewport: { width: 1000, height: 700 } });

  test("at least half of the panel is tracks, and the controls are behind one button", async ({ page }, info) => {
    const timeline = await open(page, info);
    const [tracks, panel] = [await timeline.boundingBox(), await page.getByTestId("view-timeline").boundingBox()];
    expect((tracks?.height ?? 0) / (panel?.height ?? 1)).toBeGreaterThan(0.5);
    await expect(page.getByLabel("Cells")).toHaveCount(0);
    const button = page.getByTestId("timeline-controls");
    await button.focus();
    await page.keyboard.press("Enter");
    const controls = page.getByRole("dialog", { name: "View" });
    await controls.getByText("Groups").click();
    await expect(controls.getByRole("radio", { name: "Groups" })).toBeChecked();
    await controls.getByLabel("Height").selectOption("40");
    await isClean(page, "view-timeline");
    await page.keyboard.press("Escape");
    await expect(controls).toHaveCount(0);
    await expect(button).toBeFocused();
  });
});

test.describe("on a large screen", () => {
  test.use({ viewport: { width: 1920, height: 1000 } });

  test("the controls stand in the bar", async ({ page }, info) => {
    await open(page, info);
    await expect(page.getByTestId("view-timeline").getByLabel("Cells")).toBeVisible();
    await expect(page.getByTestId("timeline-controls")).toHaveCount(0);
  });
});

test("after a brush on the axis Escape clears it, and F zooms to it", async ({ page }, info) => {
  const timeline = await open(page, info);
  const badge = page.getByTestId("view-timeline").getByText(/^2\.\d+\sms$/);
  await brush(page);
  await expect(badge).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(badge).toHaveCount(0);
  expect(await length(timeline)).toBe(SPAN_NS);
  await brush(page);
  await expect(badge).toBeVisible();
  await page.keyboard.press("f");
  await expect.poll(() => length(timeline)).toBeLessThan(SPAN_NS * 0.3);
});

test("a right click on a track or call opens a menu and changes nothing by itself", async ({ page }, info) => {
  const timeline = await open(page, info);
  const menu = page.getByRole("menu", { name: "Timeline" });
  await timeline.getByRole("button", { name: "rank 2" }).click({ button: "right" });
  await expect(menu).toBeVisible();
  await expect(timeline).toHaveAttribute("data-rows", String(MADE.ranks));
  await menu.getByRole("menuitem", { name: "Hide this track" }).click();
  await expect(timeline).toHaveAttribute("data-rows", String(MADE.ranks - 1));
  await timeline.getByRole("button", { name: "rank 1" }).click({ button: "right" });
  await menu.getByRole("menuitem", { name: "Show all tracks" }).click();
  await expect(timeline).toHaveAttribute("data-rows", String(MADE.ranks));
  await expect(timeline).toHaveAttribute("data-calls", String(MADE.ranks * (1 + 2 * MADE.rounds)));

  const at = await solve(page, timeline, 1);
  await page.mouse.click(at.x, at.y, { button: "right" });
  await expect(menu).toContainText("solve");
  await expect(menu).toContainText("rank 1");
  await menu.getByRole("menuitem", { name: "Zoom to call" }).click();
  await expect.poll(() => length(timeline)).toBeLessThan(MADE.solveMicros * 1000 * 1.5);
  // The menu gives the keyboard back.
  await page.keyboard.press("Home");
  await expect.poll(() => length(timeline)).toBe(SPAN_NS);
  await page.keyboard.press("Shift+F10");
  await expect(menu.getByRole("menuitem", { name: "Show only this track" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(menu).toHaveCount(0);
  await expect(timeline).toBeFocused();
});

test("names of tracks are different and not empty where they are cut", async ({ page }, info) => {
  const file = info.outputPath("names.json");
  const events = ["A", "B", "C", ""].flatMap((pool, tid) => [
    { ph: "M", name: "thread_name", pid: 1, tid, args: { name: pool === "" ? "" : `workers of pool ${pool} for the matrix of the linear solver` } },
    { ph: "X", name: "work", pid: 1, tid, ts: 10 * tid, dur: 100 },
  ]);
  writeFileSync(file, JSON.stringify({ traceEvents: events }));
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, file);
  await expect(page.getByTestId("timeline")).toHaveAttribute("data-rows", "4");
  const names = await page.getByTestId("timeline").getByTestId("track-name").allInnerTexts();
  expect(new Set(names).size, names.join(" | ")).toBe(4);
  expect(names.every((name) => name.trim() !== "")).toBe(true);
});
