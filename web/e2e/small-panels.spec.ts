// What has room in small panels: names that differ, whole numbers, pictures. And words that are true of samples and of calls.
import { writeFileSync } from "node:fs";
import type { Locator, Page, TestInfo } from "@playwright/test";
import { command, drop, showView, treeRow } from "./support/app.ts";
import { isClean } from "./support/axe.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const RANKS = [0, 1, 2, 9, 10, 11, 19, 100];
const THREADS = [0, 1, 2, 10];

/** A trace of ranks with threads and long names, as a job of many nodes has. */
function job(info: TestInfo): string {
  const file = info.outputPath("job.json");
  const events = RANKS.flatMap((rank) => [
    { ph: "M", name: "process_name", pid: rank, args: { name: `worker process of rank ${String(rank)} on node ${String(4000 + rank)}` } },
    ...THREADS.flatMap((tid) => [
      { ph: "M", name: "thread_name", pid: rank, tid, args: { name: `pool thread ${String(tid)} of the solver` } },
      { ph: "X", name: "work", pid: rank, tid, ts: 10 * tid, dur: 100 + rank },
    ]),
  ]);
  writeFileSync(file, JSON.stringify({ traceEvents: events }));
  return file;
}

async function open(page: Page, sample: string): Promise<void> {
  await page.goto(`?sample=${sample}`);
  await expect(page.getByRole("tab").first()).toBeVisible({ timeout: 60_000 });
}

/** Whether the text of each element is seen whole. */
function clipped(of: Locator): Promise<string[]> {
  return of.evaluateAll((all) => all.filter((one) => one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent));
}

test.describe("at 1000 x 700", () => {
  test.use({ viewport: { width: 1000, height: 700 } });

  test("names of many ranks and threads differ and are seen whole", async ({ page }, info) => {
    await page.goto("");
    await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
    await drop(page, job(info));
    const timeline = page.getByTestId("timeline");
    await expect(timeline).toHaveAttribute("data-rows", String(RANKS.length * THREADS.length));
    for (const names of [timeline.getByTestId("track-name"), page.getByTestId("timeline-overview").locator(".labels button")]) {
      await expect.poll(() => names.count()).toBeGreaterThan(3);
      const texts = await names.allInnerTexts();
      expect(new Set(texts).size, texts.join(" | ")).toBe(texts.length);
      expect(texts.every((text) => text.trim() !== "")).toBe(true);
      expect(await clipped(names)).toEqual([]);
    }
    // Nor is a name cut by the edge of the overview.
    const overview = await page.getByTestId("timeline-overview").boundingBox();
    for (const name of await page.getByTestId("timeline-overview").locator(".labels button").all()) {
      const box = await name.boundingBox();
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual((overview?.y ?? 0) + (overview?.height ?? 0));
    }
    // The line below says its numbers whole.
    const footer = page.getByTestId("view-timeline").locator("footer > span:not([title])");
    await expect(footer.filter({ hasText: "tracks" }).first()).toBeVisible();
    expect(await clipped(footer)).toEqual([]);
  });

  test("the map of iterations has rows that are seen", async ({ page }) => {
    await open(page, "reactor-run");
    const iterations = await showView(page, "Iterations", "view-iterations");
    await expect(iterations.locator("[data-cell-height]")).toBeVisible();
    await expect.poll(async () => Number(await iterations.locator("[data-cell-height]").getAttribute("data-cell-height"))).toBeGreaterThan(4);
  });

  test("the plot of locations has most of its panel, and its button stands beside the search", async ({ page }) => {
    await open(page, "reactor-run");
    const locations = await showView(page, "Locations", "view-distribution");
    const plot = locations.locator("canvas");
    await expect(plot).toBeVisible();
    const [panel, picture] = [await locations.boundingBox(), await plot.boundingBox()];
    expect((picture?.height ?? 0) / (panel?.height ?? 1)).toBeGreaterThan(0.4);
    const tools = page.getByTestId("view-tree").locator(".tools");
    expect((await tools.boundingBox())?.height ?? 99).toBeLessThan(40);
  });
});

test.describe("at 1000 x 700", () => {
  test.use({ viewport: { width: 1000, height: 700 } });

  test("short names of functions are read whole", async ({ page }) => {
    await open(page, "gpu-trace");
    const view = await showView(page, "Statistics", "view-statistics");
    const names = view.getByTestId("stat-name");
    await expect(names.nth(4)).toBeVisible();
    const cut = await names.evaluateAll((all) => all.filter((one) => (one.textContent ?? "").length <= 24 && one.scrollWidth > one.clientWidth + 1).map((one) => one.textContent));
    expect(cut).toEqual([]);
  });
});

test("samples are called samples, and calls are called calls", async ({ page }) => {
  await open(page, "reactor-run");
  await expect((await showView(page, "Find calls", "view-find")).getByTestId("find-total")).toHaveText(/^[\d\s]+runs of samples/);
  await expect((await showView(page, "Call stack", "view-node-detail")).locator("footer")).toContainText(/[1-9][\d\s]* runs of samples/);
  const information = await showView(page, "Information", "view-information");
  await expect(information.locator("dt").filter({ hasText: /^Samples$/ })).toBeVisible();
  // Samples lie in lines of functions: time profiles are of functions, as statistics are.
  const profile = await showView(page, "Over time", "view-over-time");
  await expect(profile.getByTestId("over-time-name").first()).toBeVisible();
  for (const name of await profile.getByTestId("over-time-name").allInnerTexts()) expect(name).not.toMatch(/\.[cS]:\d+$/);
  await open(page, "measured-image");
  await expect((await showView(page, "Information", "view-information")).locator("dt").filter({ hasText: /^(Calls|Samples)$/ })).toHaveText("Calls");
  await open(page, "halo-trace");
  const calls = await showView(page, "Information", "view-information");
  await expect(calls.locator("dt").filter({ hasText: /^Calls$/ })).toBeVisible();
  await expect(calls.locator("dt").filter({ hasText: /^Samples$/ })).toHaveCount(0);
});

test("parts of profiles have colours that no other part has", async ({ page }) => {
  await open(page, "reactor-run");
  const profiles = await showView(page, "Profiles", "view-stacks");
  const chips = profiles.locator(".chip");
  await expect.poll(() => chips.count()).toBeGreaterThan(6);
  const colours = await chips.evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  expect(new Set(colours.slice(0, 10)).size, colours.join(" ")).toBe(Math.min(10, colours.length));
});

test("numbers of an ensemble name its regions", async ({ page }) => {
  await open(page, "reactor-scaling");
  const view = await showView(page, "Numbers", "scaling-table");
  const regions = view.locator("[data-column=region]");
  await expect(regions.first()).toHaveText("Whole program");
  for (const text of await regions.allInnerTexts()) expect(text).not.toMatch(/^[\d.]+$/);
});

test("a recording of calls is offered no waits, and its report has no notes on them", async ({ page }) => {
  await open(page, "measured-image");
  await page.getByRole("banner").getByRole("button", { name: "Add view" }).click();
  await expect(page.getByRole("menu")).toBeVisible();
  const offered = (await page.getByRole("menuitem").allInnerTexts()).map((text) => text.split("\n")[0]);
  expect(offered).toContain("Execution");
  expect(offered).not.toContain("Waits");
  await page.keyboard.press("Escape");
  const report = await showView(page, "Report", "view-report");
  await expect(report.getByRole("heading", { name: "Top findings" })).toBeVisible();
  await expect(report).not.toContainText("`");
  await expect(report).not.toContainText("No findings about");
});

test("an ensemble has information: parameters, regions and metrics", async ({ page }) => {
  for (const sample of ["reactor-scaling", "pascal-solver"]) {
    await open(page, sample);
    const information = await showView(page, "Information", "view-information");
    await expect(information.locator("dt").filter({ hasText: /^Regions$/ })).toBeVisible();
    await expect(information.getByRole("heading", { name: "Parameters" })).toBeVisible();
    await expect(information).not.toContainText("could not be read");
  }
});

test("locations without a value are said, and count as 0 on request", async ({ page }, info) => {
  const file = info.outputPath("solo.json");
  const work = [1, 2, 3].map((tid) => ({ ph: "X", name: "main", pid: 1, tid, ts: 0, dur: 400 }));
  writeFileSync(file, JSON.stringify({ traceEvents: [...work, { ph: "X", name: "solo", pid: 1, tid: 1, ts: 200, dur: 60 }, { ph: "X", name: "solo", pid: 1, tid: 2, ts: 200, dur: 30 }] }));
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, file);
  await treeRow(page, "solo").click();
  const locations = await showView(page, "Locations", "view-distribution");
  await expect(locations.getByTestId("distribution-context")).toHaveText("solo");
  await expect(locations).toContainText("1 location has no time in it and is not included");
  await expect(locations.getByTestId("statistic-mean")).toHaveAttribute("data-value", /^0\.000045/);
  await locations.getByText("Count locations without a value as 0").click();
  await expect(locations.getByTestId("statistic-mean")).toHaveAttribute("data-value", /^0\.00003/);
  await expect(locations).not.toContainText("not included");
  await isClean(page, "view-distribution");
  await locations.getByText("Count locations without a value as 0").click();
  await expect(locations).toContainText("not included");
});

test("issues are sentences", async ({ page }, info) => {
  const file = info.outputPath("long.json");
  writeFileSync(file, JSON.stringify({ traceEvents: [{ ph: "X", name: "work", pid: 1, tid: 1, ts: 0, dur: 100, args: { note: "x".repeat(1000) } }] }));
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, file);
  await command(page, "Show Issues");
  await expect(page.getByRole("tabpanel", { name: "Issues" })).toContainText(/Arguments of calls are cut: .*\./);
});

test("lines without a baseline say that speedup is unknown", async ({ page }) => {
  await page.goto("");
  await expect(page.getByRole("main").getByRole("button", { name: "Open files" })).toBeVisible();
  await drop(page, `${FIXTURES}/reactor/n256-p2`, `${FIXTURES}/reactor/n256-p4`);
  const lines = await showView(page, "Lines", "scaling-lines");
  await expect(lines).toContainText("Speedup is unknown");
  await lines.getByText("Time", { exact: true }).click();
  await expect(lines).not.toContainText("is unknown");
  await expect(lines.locator("svg path").first()).toBeVisible();
});
