// Tasks that people do every day, from the start page, with counted clicks and keys: the table in docs/web.md has the counts.
import type { Locator, Page } from "@playwright/test";
import { expect, test } from "./support/test.ts";

test.use({ viewport: { width: 1440, height: 900 } });
test.describe.configure({ timeout: 180_000 });

/** Counts what a hand does. These four tasks need no key. */
class Hand {
  clicks = 0;
  keys = 0;

  async click(on: Locator): Promise<void> {
    this.clicks += 1;
    await on.click();
  }

  /** Clicks, then keys. */
  get done(): readonly [clicks: number, keys: number] {
    return [this.clicks, this.keys];
  }
}

async function start(page: Page): Promise<Hand> {
  await page.goto("");
  await expect(page.getByRole("heading", { name: "Samples" })).toBeVisible();
  return new Hand();
}

const sample = (page: Page, title: RegExp): Locator => page.getByRole("main").getByRole("button", { name: title });

test("find the slowest rank in a function", async ({ page }) => {
  const hand = await start(page);
  await hand.click(sample(page, /One run of the reactor on 8 ranks/));
  const row = page.getByTestId("view-tree").getByTestId("context-name").getByText("react", { exact: true });
  await hand.click(row.first());
  // Locations are on screen: they follow the focus.
  const locations = page.getByTestId("view-distribution");
  await expect(locations.getByTestId("distribution-context")).toContainText("react");
  await hand.click(locations.getByText("Sorted", { exact: true }));
  await expect(locations.getByTestId("statistic-max")).toHaveAttribute("data-value", /\d/);
  await expect(locations.getByRole("radio", { name: "Sorted" })).toBeChecked();
  expect(hand.done).toEqual([3, 0]);
});

test("compare two runs", async ({ page }) => {
  const hand = await start(page);
  await hand.click(sample(page, /Two versions of the solver/));
  await expect(page.getByTestId("map-card").first()).toBeVisible();
  await hand.click(page.getByRole("tab", { name: "Compare" }));
  await expect(page.getByRole("region", { name: "Comparison" }).getByTestId("map-cell").first()).toBeVisible();
  expect(hand.done).toEqual([2, 0]);
});

test("send a view to a colleague", async ({ page, context, browserName }) => {
  expect(browserName).toBe("chromium");
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const hand = await start(page);
  await hand.click(sample(page, /One run of the reactor on 8 ranks/));
  const row = page.getByTestId("view-tree").getByTestId("context-name").getByText("react", { exact: true });
  await hand.click(row.first());
  await expect(page.getByTestId("distribution-context")).toContainText("react");
  await hand.click(page.getByRole("banner").getByRole("button", { name: "Copy a link to this view" }));
  await expect(page.getByRole("region", { name: "Messages" })).toContainText("Link copied");
  expect(hand.done).toEqual([3, 0]);
  const link = await page.evaluate(() => navigator.clipboard.readText());
  const colleague = await context.newPage();
  await colleague.goto(link);
  await expect(colleague.getByTestId("distribution-context")).toContainText("react");
});

test("find where an ensemble stops scaling", async ({ page }) => {
  const hand = await start(page);
  await hand.click(sample(page, /A reactor on 1 to 8 ranks/));
  await expect(page.getByTestId("verdict-sentences")).toContainText(/Strong scaling ends at \d+ cores?/);
  await expect(page.getByTestId("verdict-loss").first()).toBeVisible();
  expect(hand.done).toEqual([1, 0]);
});
