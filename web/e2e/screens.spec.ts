// How it looks. After a wanted change: `npm run e2e -- screens --update-snapshots`, then look at the pictures.
import type { Locator, Page } from "@playwright/test";
import { seesMaps, seesTree } from "./support/app.ts";
import { expect, test } from "./support/test.ts";

/** Waits until nothing is being read or drawn any more. */
async function settles(page: Page): Promise<void> {
  await expect(page.locator(".task")).toHaveCount(0);
  await page.evaluate(() => document.fonts.ready);
  await page.mouse.move(2, 2);
  await page.waitForTimeout(500);
  await expect(page.locator(".task")).toHaveCount(0);
}

/** Differs from run to run, and says nothing about the look. */
function masked(page: Page): { mask: Locator[]; maskColor: string } {
  return { mask: [page.locator(".memory")], maskColor: "gray" };
}

test("the start page", async ({ page }) => {
  await page.goto("");
  await expect(page.getByText("Two versions of the solver")).toBeVisible();
  await expect(page).toHaveScreenshot("start.png");
});

test("an ensemble", async ({ page }) => {
  await page.goto("?sample=reactor-scaling");
  await seesMaps(page);
  await settles(page);
  await expect(page).toHaveScreenshot("ensemble.png", masked(page));
});

test("an experiment", async ({ page }) => {
  await page.goto("?sample=reactor-run");
  await seesTree(page);
  await expect(page.getByTestId("source-code")).toBeVisible();
  await settles(page);
  await expect(page).toHaveScreenshot("experiment.png", masked(page));
});

test.describe("dark", () => {
  test.use({ colorScheme: "dark" });

  test("an ensemble in the dark", async ({ page }) => {
    await page.goto("?sample=pascal-solver");
    await seesMaps(page);
    await settles(page);
    await expect(page).toHaveScreenshot("ensemble-dark.png", masked(page));
  });
});

test.describe("large", () => {
  test.use({ viewport: { width: 2560, height: 1440 } });

  test("an experiment on a large screen", async ({ page }) => {
    await page.goto("?sample=reactor-run");
    await seesTree(page);
    await expect(page.getByTestId("source-code")).toBeVisible();
    await settles(page);
    await expect(page).toHaveScreenshot("experiment-large.png", masked(page));
  });
});
