// What people do with the maps of an ensemble, and that they come back to it.
import { card, cards, pick, regionCheck, seesMaps, stateInAddress, useClassicPicker, valueOf } from "./support/app.ts";
import { expect, FIXTURES, test } from "./support/test.ts";

const SAMPLE = "?sample=pascal-solver";

test("regions are chosen, put in another order by mouse and keyboard, and taken out", async ({ page }) => {
  await page.goto(SAMPLE);
  await seesMaps(page);
  for (const region of ["1.2.3", "1.2.4", "1.2.6"]) await regionCheck(page, region).click();
  await expect.poll(() => cards(page)).toEqual(["1.2.3", "1.2.4", "1.2.6"]);

  await page.setViewportSize({ width: 1800, height: 1400 });
  await card(page, "1.2.6").getByTestId("card-handle").dragTo(card(page, "1.2.3"), { targetPosition: { x: 20, y: 20 } });
  await expect.poll(() => cards(page)).toEqual(["1.2.6", "1.2.3", "1.2.4"]);

  await card(page, "1.2.6").getByTestId("card-handle").focus();
  await page.keyboard.press("ArrowRight");
  await expect.poll(() => cards(page)).toEqual(["1.2.3", "1.2.6", "1.2.4"]);

  await card(page, "1.2.6").getByTestId("card-mark").click();
  await expect.poll(() => cards(page)).toEqual(["1.2.3", "1.2.4"]);
});

test("undo and redo go through what was done, one step after the other", async ({ page }) => {
  await page.goto(SAMPLE);
  await seesMaps(page);
  await regionCheck(page, "1.2.3").click();
  await regionCheck(page, "1.2.4").click();
  await page.getByRole("radiogroup", { name: "Differences" }).getByText("Relative").click();
  await expect(page.getByRole("radio", { name: "Relative" })).toBeChecked();
  await page.keyboard.press("Control+Z");
  await expect(page.getByRole("radio", { name: "Absolute" })).toBeChecked();
  expect(await cards(page)).toEqual(["1.2.3", "1.2.4"]);
  await page.keyboard.press("Control+Z");
  await expect.poll(() => cards(page)).not.toContain("1.2.4");
  await page.keyboard.press("Control+Shift+Z");
  await page.keyboard.press("Control+Shift+Z");
  await expect(page.getByRole("radio", { name: "Relative" })).toBeChecked();
  expect(await cards(page)).toEqual(["1.2.3", "1.2.4"]);
});

test("maps are smoothed, numbers go, and the tip says the exact value", async ({ page }) => {
  await page.goto(SAMPLE);
  await seesMaps(page);
  const map = card(page, "1.2.5").locator('[data-testid="map-efficiency"]');
  const cell = map.locator('[data-testid="map-cell"][data-row="16"][data-column="i5"]');
  await expect(map.locator("image")).toHaveCount(0);
  await page.getByRole("checkbox", { name: "Interpolate" }).check();
  await expect(map.locator("image")).toHaveCount(1);
  await cell.hover();
  await expect(page.getByTestId("chart-tip")).toContainText("6.25");
  await expect(page.getByTestId("chart-tip")).toContainText("16000");
  expect(await valueOf(cell)).toBeCloseTo(1 / 16, 4);
});

test("a reload comes back to the same view, and a copied link shows it elsewhere", async ({ page, browser, baseURL, complaints }) => {
  await page.goto(SAMPLE);
  await seesMaps(page);
  const before = page.url();
  await regionCheck(page, "1.2.3").click();
  await regionCheck(page, "1.2.5").click();
  await page.getByRole("radiogroup", { name: "Differences" }).getByText("Relative").click();
  await page.getByRole("tab", { name: "Numbers" }).click();
  await stateInAddress(page, before);
  const sees = async (): Promise<unknown> => ({
    cards: await cards(page),
    relative: await page.getByRole("radio", { name: "Relative" }).isChecked(),
    tab: await page.getByRole("tab", { name: "Numbers" }).getAttribute("aria-selected"),
  });
  const left = await sees();
  expect(left).toEqual({ cards: ["1.2.3", "1.2.5"], relative: true, tab: "true" });
  await page.reload();
  await seesMaps(page);
  expect(await sees()).toEqual(left);

  await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
  await page.getByRole("button", { name: "Copy a link to this view" }).click();
  await expect(page.getByText("Link copied")).toBeVisible();
  const link = await page.evaluate(() => navigator.clipboard.readText());
  expect(link.startsWith(baseURL ?? "-")).toBe(true);

  const stranger = await browser.newContext();
  const other = await stranger.newPage();
  complaints.listen(other);
  await other.goto(link);
  await seesMaps(other);
  expect(await cards(other)).toEqual(["1.2.3", "1.2.5"]);
  await expect(other.getByRole("radio", { name: "Relative" })).toBeChecked();
  await stranger.close();
});

test("files of this computer come back after a reload", async ({ page }) => {
  await useClassicPicker(page);
  await page.goto("");
  const before = page.url();
  await pick(page, "Open files", `${FIXTURES}/pascal/solver-v2.json`);
  await seesMaps(page);
  await regionCheck(page, "1.2.5").click();
  await stateInAddress(page, before);
  await page.reload();
  await seesMaps(page);
  expect(await cards(page)).toEqual(["1.2.5"]);
  const cell = card(page, "1.2.5").locator('[data-testid="map-efficiency"] [data-testid="map-cell"][data-row="16"][data-column="i5"]');
  expect(await valueOf(cell)).toBeCloseTo(1, 4);
});

test("a damaged link says so and leaves the start page usable", async ({ page }) => {
  await page.goto("#v1=AAAA");
  await expect(page.getByRole("alert").filter({ hasText: "The view in this link cannot be shown" })).toBeVisible();
  await page.getByRole("button", { name: /A solver on 1 to 16 cores/ }).click();
  await seesMaps(page);
});
