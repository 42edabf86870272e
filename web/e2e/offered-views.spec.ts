// What a daily user meets in the views: only views with data, palettes, maps that are seen whole, and tips out of the way.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Locator, Page } from "@playwright/test";
import { isClean } from "./support/axe.ts";
import { command, pick, seesMaps, showView, useClassicPicker } from "./support/app.ts";
import { expect, test } from "./support/test.ts";

/** A folder of TAU profiles without call paths: `solve` and `MPI_Send()` ran inside `main`. */
function flatProfiles(below: string, ranks: number): string {
  const folder = join(below, "flat");
  mkdirSync(folder, { recursive: true });
  for (let rank = 0; rank < ranks; rank += 1) {
    writeFileSync(join(folder, `profile.${String(rank)}.0.0`), [
      "3 templated_functions_MULTI_TIME",
      "# Name Calls Subrs Excl Incl ProfileCalls # <metadata></metadata>",
      `"main" 1 2 10000 100000 0 GROUP="TAU_DEFAULT"`,
      `"solve" 1 0 60000 60000 0 GROUP="TAU_USER"`,
      `"MPI_Send()" 5 0 30000 30000 0 GROUP="MPI"`,
      "0 aggregates",
      "",
    ].join("\n"));
  }
  return folder;
}

async function offered(page: Page): Promise<readonly string[]> {
  await page.getByRole("banner").getByRole("button", { name: "Add view" }).click();
  const menu = page.getByRole("menu");
  await expect(menu).toBeVisible();
  const all = await menu.getByRole("menuitem").allInnerTexts();
  await page.keyboard.press("Escape");
  return all.map((text) => text.split("\n")[0] ?? "");
}

async function open(page: Page, sample: string): Promise<void> {
  await page.goto(`?sample=${sample}`);
  await expect(page.getByRole("tab").first()).toBeVisible();
}

test("views of what an experiment lacks are not offered, and those of what it has are", async ({ page }) => {
  await open(page, "reactor-run");
  const profile = await offered(page);
  expect(profile).toEqual(expect.arrayContaining(["Iterations", "Clusters", "Correlations"]));
  for (const absent of ["Counters", "Messages", "GPU idle time", "Racks", "Differences", "Compare runs", "Compare"]) expect(profile).not.toContain(absent);
  // Its trace has samples: what changes over time can be said, what waits for what cannot.
  expect(profile).toContain("Over time");
  for (const absent of ["Waits", "Anomalies"]) expect(profile).not.toContain(absent);
  const overTime = await showView(page, "Over time", "view-over-time");
  await expect(overTime.getByRole("grid", { name: "Time profile" })).toBeVisible();
  expect(await overTime.getByRole("combobox", { name: "Quantity" }).getByRole("option").allInnerTexts()).toEqual(["Time profile", "Imbalance", "Idle time"]);
  await open(page, "halo-trace");
  const halo = await offered(page);
  expect(halo).toEqual(expect.arrayContaining(["Messages", "Waits", "Anomalies", "Over time"]));
  for (const absent of ["Counters", "GPU idle time"]) expect(halo).not.toContain(absent);
  await open(page, "gpu-trace");
  expect(await offered(page)).toContain("GPU idle time");
  await open(page, "reactor-scaling");
  expect(await offered(page)).not.toContain("Compare");
  await open(page, "pascal-compare");
  expect(await offered(page)).toContain("Compare");
});

test("a flame graph of profiles without call paths says so, and shows exclusive time", async ({ page }, info) => {
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, "Open folder", flatProfiles(info.outputPath(), 2));
  const flame = await showView(page, "Flame graph", "view-flame");
  await expect(flame.getByTestId("flame-flat")).toContainText("No call paths were recorded");
  await isClean(page, "view-flame");
});

test("one location is a sentence", async ({ page }, info) => {
  await useClassicPicker(page);
  await page.goto("");
  await pick(page, "Open folder", flatProfiles(info.outputPath(), 1));
  const view = await showView(page, "Locations", "view-distribution");
  await expect(view.getByTestId("distribution-one")).toContainText(/is the only location: \d/);
  expect(await offered(page)).not.toContain("Clusters");
});

test("metrics are searched, and say their totals", async ({ page }) => {
  await open(page, "reactor-tau");
  await page.getByTestId("view-tree").getByTestId("columns").click();
  const dialog = page.getByRole("dialog");
  const offers = dialog.getByTestId("metric-offer");
  await expect(offers.first()).toBeVisible();
  const all = await offers.count();
  await dialog.getByLabel("Find a metric").fill("time");
  await expect.poll(() => offers.count()).toBeLessThan(all);
  await expect(offers.first()).toContainText("TIME");
  await expect(offers.first().locator(".total")).toHaveText(/\d/);
});

/** Colours of the names in Statistics, in the order of the table. */
async function chips(view: Locator): Promise<readonly (readonly number[])[]> {
  const colours = await view.locator(".chip").evaluateAll((all) => all.map((one) => getComputedStyle(one).backgroundColor));
  return colours.map((text) => (text.match(/[\d.]+/g) ?? []).map(Number));
}

test("calls of a GPU runtime have colours of their own, and another palette is one click away", async ({ page }) => {
  await open(page, "gpu-trace");
  const view = await showView(page, "Statistics", "view-statistics");
  await expect(view.locator(".chip").nth(4)).toBeVisible();
  const before = await chips(view);
  const near = before.slice(0, 5).flatMap((one, at) => before.slice(at + 1, 5).map((other) => Math.hypot(...one.map((value, band) => value - (other[band] ?? 0)))));
  expect(Math.min(...near)).toBeGreaterThan(60);
  await page.getByRole("banner").getByRole("button", { name: "Theme and colours" }).click();
  await page.getByRole("menu").getByText("By group").click();
  await expect(page.locator("html[data-functions=group]")).toBeAttached();
  await expect(view.locator(".chip").nth(4)).toBeVisible();
  expect(await chips(view)).not.toEqual(before);
  await page.reload();
  await expect(page.locator("html[data-functions=group]")).toBeAttached();
});

for (const theme of ["light", "dark"] as const) {
  test.describe(theme, () => {
    test.use({ viewport: { width: 1440, height: 900 }, colorScheme: theme });

    test(`all four maps of a region are in view, and the tip of keys covers none of its cells (${theme})`, async ({ page }) => {
      await open(page, "reactor-scaling");
      await seesMaps(page);
      const sheet = await page.getByTestId("scaling-maps").locator(".sheet").boundingBox();
      const first = page.getByTestId("map-card").first();
      for (const kind of ["efficiency", "scalability", "strong", "weak"]) {
        const box = await first.getByTestId(`map-${kind}`).boundingBox();
        expect(box === null || sheet === null ? Number.NaN : box.y + box.height, kind).toBeLessThanOrEqual((sheet?.y ?? 0) + (sheet?.height ?? 0));
      }
      const grid = first.getByTestId("map-efficiency").getByRole("grid");
      await page.keyboard.press("Tab");
      await grid.focus();
      await page.keyboard.press("ArrowRight");
      const tip = await page.getByTestId("chart-tip").boundingBox();
      const cells = await first.getByTestId("map-efficiency").locator("svg").boundingBox();
      const overlap = tip === null || cells === null ? Number.NaN : Math.min(tip.x + tip.width, cells.x + cells.width) - Math.max(tip.x, cells.x);
      expect(overlap).toBeLessThanOrEqual(0);
      await isClean(page, "scaling-maps");
    });
  });
}

test("the start page names every format, and has a sample of each kind of data", async ({ page }) => {
  await page.goto("");
  for (const kind of [/^Ensemble/, /^Trace with messages/, /^GPU trace/, /^Profile · TAU/, /^Recording of calls/]) await expect(page.locator(".card .kind").filter({ hasText: kind }).first()).toBeVisible();
  await page.getByText("All formats and their files").click();
  const formats = page.getByTestId("all-formats");
  for (const name of ["OTF2 trace", "Cachegrind", "Kineto JSON", "Extra-P"]) await expect(formats).toContainText(name);
  await isClean(page, "all-formats");
});

test("the number in the bar says that it is memory", async ({ page }) => {
  await open(page, "reactor-tau");
  await expect(page.getByTestId("engine-memory")).toHaveText(/^Memory [\d.]+\s?[kMG]B$/);
});

test("waits begin with the lost time, and count in whole numbers", async ({ page }) => {
  await open(page, "halo-trace");
  await command(page, "Show Waits");
  const view = page.getByTestId("view-waits");
  await expect(view.getByRole("columnheader").first()).toContainText("Wait");
  await expect(view.getByTestId("waits-waits").first()).toHaveAttribute("data-value", "36");
  await expect(view.getByRole("row").nth(1)).toContainText(/\b36\b(?!\.)/);
});

test("messages of a trace that has flows only are these", async ({ page }) => {
  await page.goto("?sample=gpu-trace");
  await expect(page.getByTestId("timeline")).toHaveAttribute("data-calls", /^[1-9]/, { timeout: 120_000 });
  const messages = await showView(page, "Messages", "view-messages");
  await expect(messages.getByRole("checkbox", { name: "Flows" })).toBeChecked();
  await expect(messages).toContainText(/[1-9]\d* flows/);
  await expect(messages.getByRole("combobox", { name: "Colour" })).toHaveValue("messages");
  await expect(messages.getByTestId("matrix")).toBeVisible();
  // Who asks for messages is told that there are none.
  await messages.getByRole("checkbox", { name: "Flows" }).uncheck();
  await expect(messages).toContainText("The trace has no messages");
});
